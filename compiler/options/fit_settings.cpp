#include "compiler/options/fit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/options/anneal_spec.h"
#include "compiler/support/overloaded.h"
#include "runtime/methods/random_start.h"

namespace lehr {
namespace {

constexpr FitNumber kNumbers[] = {
    {"max-iter", "max_iterations", &FitOptions::max_iterations, kIterationsRange,
     "largest number of sweeps; 0: the ELBO of the start"},
    {"tol", "tolerance", &FitOptions::tolerance, kToleranceRange,
     "converged when the ELBO moves by less than this, relatively, and the parameters by its root"},
    {"leap-after", "leap_after", &FitOptions::leap_after, kIterationsRange,
     "sweeps before a run that creeps is moved ahead; 0: never"},
    {"local-iters", "local_iterations", &FitOptions::local_iterations, kLocalIterationsRange,
     "largest number of passes over the local variables of an item"},
    {"local-tol", "local_tolerance", &FitOptions::local_tolerance, kToleranceRange,
     "an item is done when its parameters move by less than this, relatively"},
    {"batch-size", "batch_size", &FitOptions::batch_size, kBatchRange,
     "svi: items of a step; read in pieces, items at a time"},
    {"epochs", "epochs", &FitOptions::epochs, kEpochsRange, "svi: passes over the items"},
    {"tau0", "tau0", &FitOptions::tau0, kDelayRange, "svi: steps are (tau0 + t)^-kappa"},
    {"kappa", "kappa", &FitOptions::kappa, kForgettingRange, "svi: forgetting rate, in (0.5, 1] for convergence"},
    {"rho", "rho", &FitOptions::rho, kStepRange, "svi: steps of this size instead"},
    {"elbo-every", "elbo_every", &FitOptions::elbo_every, kIterationsRange,
     "cavi: sweeps from one ELBO to the next; svi: steps between exact ones, the others are noisy estimates"},
    {"warmup", "warmup", &FitOptions::warmup, kIterationsRange, "gibbs: sweeps before the draws that are kept"},
    {"draws", "draws", &FitOptions::draws, kScheduleRange, "gibbs: draws of each chain that are kept"},
    {"thin", "thin", &FitOptions::thin, kScheduleRange, "gibbs: sweeps for each of them"},
    {"restarts,chains", "restarts", &FitOptions::restarts, kRestartsRange,
     "runs from different starts; the best ELBO is kept"},
    {"threads", "threads", &FitOptions::threads, kThreadsRange,
     "that share out the items, 0: one a processor; the result does not depend on it"},
    {"parts", "parts", &FitOptions::parts, kThreadsRange,
     "of the items in a sweep, after each of which the other variables are updated; 0: as many as pay, 1: one"},
    {"seed", "seed", &FitOptions::seed, kSeedRange, "seed of the start values"},
};

constexpr MethodName kMethods[] = {{"cavi", FitOptions::Method::cavi},
                                   {"svi", FitOptions::Method::svi},
                                   {"gibbs", FitOptions::Method::gibbs},
                                   {"exact", FitOptions::Method::exact}};

constexpr std::string_view kPrecisions[] = {"double", "float"};

Error wrong(std::string where, std::string text, std::vector<std::string> notes = {}) {
  return {ExitCode::usage, std::move(where), std::move(text), std::move(notes)};
}

std::optional<Error> out_of_range(const FitOptions& o) {
  for (const FitNumber& n : kNumbers) {
    const double x = std::visit([&](auto member) { return static_cast<double>(o.*member); }, n.to);
    if (!contains(n.range, x)) return wrong(std::string(n.field), fmt::format("{} is not {}", x, describe(n.range)));
  }
  if (o.adaptive && o.rho > 0) return wrong("rho", "steps are either constant or adaptive");
  return std::nullopt;
}

CaviOptions ascent_of(const FitOptions& o) {
  CaviOptions out;
  out.local_iterations = o.local_iterations;
  out.local_tolerance = o.local_tolerance;
  out.max_iterations = o.max_iterations;
  out.tolerance = o.tolerance;
  if (o.precision == "float") out.slack = kSingleSlack;
  out.elbo_every = std::max<std::int64_t>(1, o.elbo_every);
  out.leap_after = o.leap_after;
  return out;
}

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

Result<Method> sampled(const FitOptions& o) {
  GibbsOptions out;
  out.warmup = o.warmup;
  out.draws = o.draws;
  out.thin = o.thin;
  if (!o.temper.empty()) {
    const Result<std::int64_t> levels = parse_ladder(o.temper);
    if (!levels) return levels.error();
    if (!o.anneal.empty())
      return wrong(option("temper"),
                   fmt::format("a ladder of temperatures is not annealed: leave out {}", option("anneal")));
    LadderOptions ladder{out};
    ladder.levels = *levels;
    return Method(TemperedGibbs{ladder});
  }
  if (o.anneal.empty()) return Method(Gibbs{out});
  const Result<AnnealSpec> spec = parse_anneal(o.anneal);
  if (!spec) return spec.error();
  const auto* annealing = std::get_if<Annealing>(&*spec);
  if (!annealing || annealing->kind == Annealing::Kind::stochastic)
    return wrong(option("anneal"), "method gibbs takes schedules of a temperature: linear, exp, entropy, file");
  out.annealing = *annealing;
  return Method(Gibbs{out});
}

Result<Method> exact(const FitOptions& o) {
  if (!o.temper.empty() || !o.anneal.empty())
    return wrong(option("method"), "exact samples have no temperature: it stands in the potentials of the model");
  ExactOptions out;
  out.draws = o.draws;
  return Method(Exact{out});
}

Result<Method> annealed(const FitOptions& o, const Annealing& annealing) {
  if (o.method == FitOptions::Method::cavi) {
    Ascent out{ascent_of(o)};
    out.options.annealing = annealing;
    return Method(out);
  }
  if (annealing.kind == Annealing::Kind::stochastic)
    return wrong(option("anneal"), "stochastic annealing goes with method cavi: steps of svi are noisy by themselves");
  Stochastic out{steps_of(o)};
  out.options.annealing = annealing;
  return Method(out);
}

Result<Method> automatic(const FitOptions& o, const AutoAnneal& a) {
  if (o.method == FitOptions::Method::cavi) return Method(AutomaticAscent{{ascent_of(o), a.sweeps, a.cycles}});
  if (a.cycles)
    return wrong(option("anneal"), "with method svi there is one automatic schedule: auto",
                 {option("epochs") + " says how many steps it has, those that look for the temperature included"});
  return Method(AutomaticStochastic{{steps_of(o)}});
}

bool has_one_start(const FitOptions& o) {
  const FitOptions usual;
  return o.method != usual.method || !o.anneal.empty() || !o.temper.empty() || !o.init.empty() ||
         o.start != usual.start || o.restarts != usual.restarts || o.max_iterations != usual.max_iterations ||
         o.tolerance != usual.tolerance;
}

Result<Method> searched(const FitOptions& o) {
  if (!o.search.empty() && o.search != "quick" && o.search != "full")
    return wrong(option("search"), fmt::format("'{}' is none of none, quick, full", o.search));
  if (o.method != FitOptions::Method::cavi) return wrong(option("search"), "a search goes with method cavi");
  if (!o.anneal.empty() || !o.temper.empty())
    return wrong(option("search"),
                 fmt::format("a search anneals by itself: leave out {} and {}", option("anneal"), option("temper")));
  SearchOptions out = search_options(o.search == "full");
  static_cast<CaviOptions&>(out) = ascent_of(o);
  return Method(SearchedAscent{out});
}

Result<Method> tempered(const FitOptions& o) {
  const Result<TemperSettings> temper = parse_temper(o.temper);
  if (!temper) return temper.error();
  if (!o.anneal.empty())
    return wrong(option("temper"),
                 fmt::format("the temperature is either latent or annealed: leave out {}", option("anneal")));
  if (o.method == FitOptions::Method::cavi) return Method(TemperedAscent{ascent_of(o), *temper});
  return Method(TemperedStochastic{steps_of(o), *temper});
}

Result<Method> method_of(const FitOptions& o) {
  if (o.search.empty() ? !has_one_start(o) : o.search != "none") return searched(o);
  if (o.method == FitOptions::Method::gibbs) return sampled(o);
  if (o.method == FitOptions::Method::exact) return exact(o);
  if (!o.temper.empty()) return tempered(o);
  if (o.anneal.empty()) return annealed(o, {});
  const Result<AnnealSpec> spec = parse_anneal(o.anneal);
  if (!spec) return spec.error();
  return std::visit(Overloaded{[&](const Annealing& a) { return annealed(o, a); },
                               [&](const AutoAnneal& a) { return automatic(o, a); }},
                    *spec);
}

}  // namespace

std::span<const MethodName> method_names() { return kMethods; }

std::span<const std::string_view> precision_names() { return kPrecisions; }

std::span<const FitNumber> fit_numbers() { return kNumbers; }

void count_what_is_said(FitOptions& o, const std::function<bool(std::string_view)>& said) {
  const bool one_start = said("max-iter") || said("tol") || said("restarts") || said("init");
  if (one_start && !said("search")) o.search = "none";
}

Result<FitSettings> settings_of(const FitOptions& o) {
  if (std::optional<Error> e = out_of_range(o)) return *e;
  Result<Method> method = method_of(o);
  if (!method) return method.error();
  const std::optional<StartKind> start = start_kind(o.start);
  if (std::ranges::find(kPrecisions, o.precision) == std::end(kPrecisions))
    return wrong("precision", fmt::format("'{}' is none of {}", o.precision, fmt::join(kPrecisions, ", ")));
  const bool samples = o.method == FitOptions::Method::gibbs || o.method == FitOptions::Method::exact;
  if (samples && o.precision == "float")
    return wrong(option("precision"), "draws are made in double: leave it out, or take method cavi or svi");
  if (!start) return wrong("start", fmt::format("'{}' is none of seeds, points, allocations, means, flat", o.start));
  return FitSettings{.method = std::move(*method),
                     .seed = o.seed,
                     .start = *start,
                     .save_locals = o.save_locals,
                     .single = o.precision == "float",
                     .threads = static_cast<std::size_t>(o.threads),
                     .parts = o.parts};
}

}  // namespace lehr
