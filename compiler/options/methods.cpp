// The table of inference methods, and for each the choice of its variant by the options: a search, tempering,
// annealing, or none of these.
#include "compiler/options/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/options/anneal_spec.h"

namespace lehr {
namespace {

/// Returns the options of coordinate ascent.
CaviOptions ascent_of(const FitOptions& o) {
  CaviOptions out;
  out.local_iterations = o.local_iterations;
  out.local_tolerance = o.local_tolerance;
  out.max_iterations = o.max_iterations;
  out.tolerance = o.tolerance;
  if (o.precision == "float") out.slack = kSingleSlack;
  out.elbo_every = std::max<std::int64_t>(1, o.elbo_every);
  out.leap_after = o.leap_after;
  out.invariances = !o.no_invariances;
  out.test_end = !o.no_saddle_test;
  return out;
}

/// Returns the options of stochastic inference.
SviOptions steps_of(const FitOptions& o) {
  SviOptions out;
  static_cast<CaviOptions&>(out) = ascent_of(o);
  out.fresh = true;
  out.batch = o.batch_size;
  out.epochs = o.epochs;
  out.tau0 = o.tau0;
  out.kappa = o.kappa;
  out.rho = o.rho;
  out.adaptive = o.adaptive;
  out.replacement = o.replacement;
  out.exact_every = o.elbo_every;
  return out;
}

/// Returns true if an option concerns a single run, so that no search is made unless asked for.
bool has_one_start(const FitOptions& o) {
  const FitOptions usual;
  return !o.anneal.empty() || !o.temper.empty() || !o.init.empty() || o.start != usual.start ||
         o.restarts != usual.restarts || o.max_iterations != usual.max_iterations || o.tolerance != usual.tolerance;
}

/// Returns the search over starts.
Result<Method> searched(const FitOptions& o) {
  if (!o.anneal.empty() || !o.temper.empty())
    return usage_error(option("search"), fmt::format("a search anneals by itself: leave out {} and {}",
                                                     option("anneal"), option("temper")));
  SearchOptions out = search_options(o.search == "full");
  static_cast<CaviOptions&>(out) = ascent_of(o);
  return Method(SearchedAscent{out});
}

/// Returns the settings of variational tempering, which excludes annealing.
Result<TemperSettings> tempering_of(const FitOptions& o) {
  Result<TemperSettings> temper = parse_temper(o.temper);
  if (temper && !o.anneal.empty())
    return usage_error(option("temper"),
                       fmt::format("the temperature is either latent or annealed: leave out {}", option("anneal")));
  return temper;
}

/// Returns the schedule of temperatures; none without `anneal`.
Result<AnnealSpec> schedule_of(const FitOptions& o) {
  if (o.anneal.empty()) return AnnealSpec(Annealing());
  return parse_anneal(o.anneal);
}

/// Returns coordinate ascent: with a search, with a latent temperature, with a schedule, or plain.
Result<Method> coordinate_ascent(const FitOptions& o) {
  if (o.search.empty() ? !has_one_start(o) : o.search != "none") return searched(o);
  if (!o.temper.empty()) {
    const Result<TemperSettings> temper = tempering_of(o);
    if (!temper) return temper.error();
    return Method(TemperedAscent{ascent_of(o), *temper});
  }
  const Result<AnnealSpec> spec = schedule_of(o);
  if (!spec) return spec.error();
  if (const auto* a = std::get_if<AutoAnneal>(&*spec))
    return Method(AutomaticAscent{{ascent_of(o), a->sweeps, a->cycles}});
  Ascent out{ascent_of(o)};
  out.options.annealing = std::get<Annealing>(*spec);
  return Method(out);
}

/// Returns stochastic inference: with a latent temperature, with a schedule, or plain.
Result<Method> stochastic(const FitOptions& o) {
  if (!o.temper.empty()) {
    const Result<TemperSettings> temper = tempering_of(o);
    if (!temper) return temper.error();
    return Method(TemperedStochastic{steps_of(o), *temper});
  }
  const Result<AnnealSpec> spec = schedule_of(o);
  if (!spec) return spec.error();
  if (const auto* a = std::get_if<AutoAnneal>(&*spec)) {
    if (!a->cycles) return Method(AutomaticStochastic{{steps_of(o)}});
    return usage_error(
        option("anneal"), "with method svi there is one automatic schedule: auto",
        {option("epochs") + " says how many steps it has, those that look for the temperature included"});
  }
  Stochastic out{steps_of(o)};
  out.options.annealing = std::get<Annealing>(*spec);
  if (out.options.annealing.kind == Annealing::Kind::stochastic)
    return usage_error(option("anneal"),
                       "stochastic annealing goes with method cavi: steps of svi are noisy by themselves");
  return Method(out);
}

/// Returns Gibbs sampling, with temperatures or a schedule if asked for.
Result<Method> sampled(const FitOptions& o) {
  GibbsOptions out;
  out.warmup = o.warmup;
  out.draws = o.draws;
  out.thin = o.thin;
  if (!o.temper.empty()) {
    const Result<std::int64_t> levels = parse_gibbs_temperatures(o.temper);
    if (!levels) return levels.error();
    if (!o.anneal.empty())
      return usage_error(option("temper"),
                         fmt::format("a ladder of temperatures is not annealed: leave out {}", option("anneal")));
    ParallelTemperingOptions ladder{out};
    ladder.levels = *levels;
    return Method(ParallelTempering{ladder});
  }
  if (o.anneal.empty()) return Method(Gibbs{out});
  const Result<AnnealSpec> spec = parse_anneal(o.anneal);
  if (!spec) return spec.error();
  const auto* annealing = std::get_if<Annealing>(&*spec);
  if (!annealing || annealing->kind == Annealing::Kind::stochastic)
    return usage_error(option("anneal"), "method gibbs takes schedules of a temperature: linear, exp, entropy, file");
  out.annealing = *annealing;
  return Method(Gibbs{out});
}

/// Returns exact sampling.
Result<Method> exact(const FitOptions& o) {
  ExactOptions out;
  out.draws = o.draws;
  return Method(Exact{out});
}

/// All methods.
constexpr MethodTraits kMethods[] = {
    {.name = "cavi",
     .description = "coordinate ascent",
     .converges = true,
     .searches = true,
     .divides = true,
     .starts = true,
     .tempers = true,
     .distributes = true,
     .embeds = true,
     .calibrates = true,
     .make = coordinate_ascent},
    {.name = "svi",
     .description = "stochastic variational inference, from minibatches",
     .minibatches = true,
     .starts = true,
     .tempers = true,
     .make = stochastic},
    {.name = "gibbs",
     .description = "Gibbs sampling",
     .draws = true,
     .warms_up = true,
     .starts = true,
     .tempers = true,
     .embeds = true,
     .calibrates = true,
     .make = sampled},
    {.name = "exact", .description = "exact draws, all latents 0/1 or -1/+1", .draws = true, .make = exact}};

}  // namespace

std::span<const MethodTraits> methods() { return kMethods; }

const MethodTraits* find_method(std::string_view name) {
  const auto* const row = std::ranges::find(kMethods, name, &MethodTraits::name);
  return row == std::end(kMethods) ? nullptr : row;
}

bool has_draws(std::string_view name) {
  const MethodTraits* const method = find_method(name);
  return method && method->draws;
}

Error unknown_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodTraits& m : kMethods)
    names.push_back(m.name);
  return usage_error("method", fmt::format("'{}' is none of {}", name, fmt::join(names, ", ")));
}

std::vector<std::string> methods_with(bool MethodTraits::*trait) {
  std::vector<std::string> out;
  for (const MethodTraits& m : kMethods)
    if (m.*trait) out.emplace_back(m.name);
  return out;
}

std::vector<std::string> methods_using(UsedBy used_by, const FitOptions& options) {
  std::vector<std::string> out;
  for (const MethodTraits& m : kMethods)
    if (!used_by || used_by(m, options)) out.emplace_back(m.name);
  return out;
}

std::string enumerate(const std::vector<std::string>& words, std::string_view last) {
  if (words.size() < 2) return words.empty() ? "" : words[0];
  return fmt::format("{} {} {}", fmt::join(words.begin(), words.end() - 1, ", "), last, words.back());
}

std::string describe_methods(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names)
    out.push_back(fmt::format("{} ({})", name, find_method(name)->description));
  return enumerate(out, "or");
}

std::string option_help(std::string_view help, UsedBy used_by, const FitOptions& options) {
  constexpr std::string_view kOnly = "{only}";
  std::string out(help);
  if (const std::size_t at = out.find(kOnly); at != out.npos)
    out.replace(at, kOnly.size(), enumerate(methods_using(used_by, options), "and") + " only");
  return out;
}

bool has_effect(UsedBy used_by, const FitOptions& options) {
  const MethodTraits* const method = find_method(options.method);
  return !method || !used_by || used_by(*method, options);
}

std::optional<Error> without_effect(std::string where, UsedBy used_by, const FitOptions& options) {
  if (has_effect(used_by, options)) return std::nullopt;
  return usage_error(std::move(where),
                     fmt::format("it has no effect with {0} {1}: leave it out, or take {0} {2}", option("method"),
                                 options.method, enumerate(methods_using(used_by, options), "or")));
}

}  // namespace lehr
