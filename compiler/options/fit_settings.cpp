// The table of options, and the choice of a method from the options: a search, a sampler, tempering, annealing,
// or plain inference.
#include "compiler/options/fit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/options/anneal_spec.h"
#include "compiler/options/help_texts.h"
#include "compiler/support/overloaded.h"
#include "runtime/search/random_start.h"

namespace lehr {

namespace {

/// The texts that two options accept.
constexpr std::string_view kSearches[] = {"none", "quick", "full"};
constexpr std::string_view kPrecisions[] = {"double", "float"};

/// The range of an option that is no number, and the values of a text that may be any.
constexpr OptionRange kNoRange{0, 0};
constexpr std::span<const std::string_view> kAnyText = {};

/// All options but the method, in the order of help.
constexpr FitOption kOptions[] = {
    {"max-iter", "max_iterations", &FitOptions::max_iterations, kIterationsRange,
     "Sweeps at most (cavi only); 0: evaluate the start values"},
    {"tol", "tolerance", &FitOptions::tolerance, kToleranceRange,
     "Stop when a sweep changes the ELBO by at most this fraction of its size, and the parameters that all items "
     "share by at most the square root of this fraction of theirs (cavi only)"},
    {"leap-after", "leap_after", &FitOptions::leap_after, kIterationsRange,
     "Sweeps after which a slowly converging run may extrapolate its parameters, to save sweeps (cavi only); 0: never"},
    {"local-iters", "local_iterations", &FitOptions::local_iterations, kLocalIterationsRange, kLocalIterationsHelp},
    {"local-tol", "local_tolerance", &FitOptions::local_tolerance, kToleranceRange, kLocalToleranceHelp},
    {"batch-size", "batch_size", &FitOptions::batch_size, kBatchRange,
     "Items per step of svi, and items read at a time from streamed files"},
    {"epochs", "epochs", &FitOptions::epochs, kEpochsRange, "Passes over the data (svi only)"},
    {"tau0", "tau0", &FitOptions::tau0, kTau0Range, "Delay of the step sizes (tau0 + t)^-kappa (svi only)"},
    {"kappa", "kappa", &FitOptions::kappa, kKappaRange,
     "Decay of the step sizes (tau0 + t)^-kappa (svi only); runs converge for more than 0.5 and at most 1"},
    {"rho", "rho", &FitOptions::rho, kStepRange,
     "Constant step size in place of (tau0 + t)^-kappa (svi only); 0: not used"},
    {"elbo-every", "elbo_every", &FitOptions::elbo_every, kIterationsRange,
     "Sweeps from one computation of the ELBO to the next (cavi; 0 is the same as 1), or steps from one exact ELBO, "
     "of all data, to the next (svi; 0: only at the end)"},
    {"warmup", "warmup", &FitOptions::warmup, kIterationsRange,
     "Sweeps before the first draw that is kept (gibbs only)"},
    {"draws", "draws", &FitOptions::draws, kScheduleRange, "Draws kept per chain (gibbs and exact only)"},
    {"thin", "thin", &FitOptions::thin, kScheduleRange, "Sweeps per draw that is kept (gibbs only)"},
    {"restarts,chains", "restarts", &FitOptions::restarts, kRestartsRange,
     "Number of runs from different starts, of which the best ELBO is kept; gibbs, exact: number of chains"},
    {"threads", "threads", &FitOptions::threads, kThreadsRange, kThreadsHelp},
    {"parts", "parts", &FitOptions::parts, kThreadsRange,
     "Parts into which an annealed sweep divides the items; what all items share is updated after each "
     "part (cavi only). 1: one part; 0: chosen automatically"},
    {"seed", "seed", &FitOptions::seed, kSeedRange, kSeedHelp},
    {"search", "search", &FitOptions::search, kNoRange,
     "Search many starts, some of them annealed, and keep the best ELBO (cavi only): quick, full (more starts, "
     "longer) or none (one start). Default: quick, but none with another --method, --anneal, --temper, --max-iter, "
     "--tol, --restarts, --init or --stream",
     kSearches},
    {"anneal", "anneal", &FitOptions::anneal, kNoRange,
     "Temperature T that divides the log likelihood in the first sweeps and falls to 1, which helps to "
     "leave poor optima. linear:from=10,over=100: from 10 to 1 in 100 sweeps; exp: the same, geometrically; "
     "file:NAME: T of each sweep from a text file; entropy: as linear, but priors are divided too; "
     "stochastic:rho=0.25,over=50: T is 1, and each sweep mixes the parameters with random ones, with a weight "
     "that falls from 0.25 to 0; auto: the first T is chosen by trial sweeps. Default: T is 1. docs/annealing.md has "
     "all forms",
     kAnyText, "SCHEDULE"},
    {"temper", "temper", &FitOptions::temper, kNoRange,
     "Infer the temperature T that divides the log likelihood, as one more unknown: global:max=10,levels=100 has "
     "one T for all data, on a grid of 100 values from 1 to 10; local:max=1.5,levels=25 one for each item, so that "
     "outliers weigh less. With gibbs, global:levels=24 is parallel tempering: chains at 24 temperatures exchange "
     "states, and the log evidence is estimated. Default: T is 1. See docs/annealing.md",
     kAnyText, "KIND"},
    {"init", "start", &FitOptions::start, kNoRange,
     "Start values: the directory of a fit, an .npz file of factors (docs/output.md), or a rule. "
     "seeds (default): each category starts from three random items; points: from clusters by k-means; "
     "allocations: from random categories of items; means: parameters that all items share are moved from "
     "their prior at random; flat: they are hardly moved. A category is a latent cluster, state or topic; in a model "
     "without any, seeds, points and allocations do what means does",
     kAnyText, "START"},
    {"precision", "precision", &FitOptions::precision, kNoRange,
     "Numbers in the work on each item: double (64 bits) or float (32 bits: faster, less exact; cavi and "
     "svi only). "
     "Sums over items and the ELBO are always double",
     kPrecisions},
    {"adaptive", "adaptive", &FitOptions::adaptive, kNoRange,
     "Step sizes that adapt to the noise of the gradients (svi only)"},
    {"replacement", "replacement", &FitOptions::replacement, kNoRange,
     "Draw the items of minibatches with replacement; otherwise each pass has every item once (svi only)"},
    {"save-locals", "save_locals", &FitOptions::save_locals, kNoRange,
     "Also write the posteriors of local variables (latent variables of single items, such as the component of a "
     "point)"},
};

/// All methods.
constexpr MethodName kMethods[] = {{"cavi", FitOptions::Method::cavi},
                                   {"svi", FitOptions::Method::svi},
                                   {"gibbs", FitOptions::Method::gibbs},
                                   {"exact", FitOptions::Method::exact}};

/// Returns an error if a value is outside the range of its number, or none of the values of its text.
std::optional<Error> invalid_value(const FitOptions& o) {
  const FitOptions usual;
  const auto why_invalid = [&](const FitOption& row) {
    return std::visit(
        Overloaded{[](bool FitOptions::*) { return std::string(); },
                   [&](std::string FitOptions::*text) {
                     const bool valid = row.values.empty() || o.*text == usual.*text ||
                                        std::ranges::find(row.values, o.*text) != row.values.end();
                     return valid ? "" : fmt::format("'{}' is none of {}", o.*text, fmt::join(row.values, ", "));
                   },
                   [&](auto number) {
                     const auto x = static_cast<double>(o.*number);
                     return contains(row.range, x) ? "" : fmt::format("{} is not {}", x, describe(row.range));
                   }},
        row.to);
  };
  for (const FitOption& row : kOptions)
    if (const std::string why = why_invalid(row); !why.empty()) return usage_error(std::string(row.field), why);
  if (o.adaptive && o.rho > 0) return usage_error("rho", "steps are either constant or adaptive");
  return std::nullopt;
}

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
  if (!o.temper.empty() || !o.anneal.empty())
    return usage_error(option("method"), "exact samples have no temperature: it stands in the potentials of the model");
  ExactOptions out;
  out.draws = o.draws;
  return Method(Exact{out});
}

/// Returns inference with a given schedule, which may be empty.
Result<Method> annealed(const FitOptions& o, const Annealing& annealing) {
  if (o.method == FitOptions::Method::cavi) {
    Ascent out{ascent_of(o)};
    out.options.annealing = annealing;
    return Method(out);
  }
  if (annealing.kind == Annealing::Kind::stochastic)
    return usage_error(option("anneal"),
                       "stochastic annealing goes with method cavi: steps of svi are noisy by themselves");
  Stochastic out{steps_of(o)};
  out.options.annealing = annealing;
  return Method(out);
}

/// Returns inference with an automatic schedule.
Result<Method> automatic(const FitOptions& o, const AutoAnneal& a) {
  if (o.method == FitOptions::Method::cavi) return Method(AutomaticAscent{{ascent_of(o), a.sweeps, a.cycles}});
  if (a.cycles)
    return usage_error(
        option("anneal"), "with method svi there is one automatic schedule: auto",
        {option("epochs") + " says how many steps it has, those that look for the temperature included"});
  return Method(AutomaticStochastic{{steps_of(o)}});
}

/// Returns true if an option concerns a single run, so that no search is made unless asked for.
bool has_one_start(const FitOptions& o) {
  const FitOptions usual;
  return o.method != usual.method || !o.anneal.empty() || !o.temper.empty() || !o.init.empty() ||
         o.start != usual.start || o.restarts != usual.restarts || o.max_iterations != usual.max_iterations ||
         o.tolerance != usual.tolerance;
}

/// Returns the search over starts.
Result<Method> searched(const FitOptions& o) {
  if (o.method != FitOptions::Method::cavi) return usage_error(option("search"), "a search goes with method cavi");
  if (!o.anneal.empty() || !o.temper.empty())
    return usage_error(option("search"), fmt::format("a search anneals by itself: leave out {} and {}",
                                                     option("anneal"), option("temper")));
  SearchOptions out = search_options(o.search == "full");
  static_cast<CaviOptions&>(out) = ascent_of(o);
  return Method(SearchedAscent{out});
}

/// Returns variational tempering.
Result<Method> tempered(const FitOptions& o) {
  const Result<TemperSettings> temper = parse_temper(o.temper);
  if (!temper) return temper.error();
  if (!o.anneal.empty())
    return usage_error(option("temper"),
                       fmt::format("the temperature is either latent or annealed: leave out {}", option("anneal")));
  if (o.method == FitOptions::Method::cavi) return Method(TemperedAscent{ascent_of(o), *temper});
  return Method(TemperedStochastic{steps_of(o), *temper});
}

/// Chooses the method.
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

std::span<const FitOption> fit_option_table() { return kOptions; }

void apply_explicit_options(FitOptions& o, const std::function<bool(std::string_view)>& explicitly_set) {
  const bool one_start =
      explicitly_set("max-iter") || explicitly_set("tol") || explicitly_set("restarts") || explicitly_set("init");
  if (one_start && !explicitly_set("search")) o.search = "none";
}

Result<FitSettings> to_fit_settings(const FitOptions& o) {
  if (std::optional<Error> e = invalid_value(o)) return *e;
  Result<Method> method = method_of(o);
  if (!method) return method.error();
  const std::optional<StartKind> start = start_kind(o.start);
  const bool samples = o.method == FitOptions::Method::gibbs || o.method == FitOptions::Method::exact;
  if (samples && o.precision == "float")
    return usage_error(option("precision"), "draws are made in double: leave it out, or take method cavi or svi");
  if (!start)
    return usage_error("start", fmt::format("'{}' is none of seeds, points, allocations, means, flat", o.start));
  return FitSettings{.method = std::move(*method),
                     .seed = o.seed,
                     .start = *start,
                     .save_locals = o.save_locals,
                     .single = o.precision == "float",
                     .threads = static_cast<std::size_t>(o.threads),
                     .parts = o.parts};
}

}  // namespace lehr
