// The table of options, and the settings of a fit made of them.
#include "compiler/options/fit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/options/help_texts.h"
#include "compiler/support/overloaded.h"
#include "runtime/search/random_start.h"

namespace lehr {

namespace {

/// The texts that options accept. The last one of some has an effect for some methods only.
constexpr std::string_view kSearches[] = {"none", "quick", "full"};
constexpr std::string_view kPrecisions[] = {"double", "float"};
constexpr std::string_view kGuides[] = {"joint", "factorised"};
constexpr std::string_view kLinks[] = {"bound", "gaussian"};
constexpr std::string_view kSds[] = {"auto", "factors", "linear-response"};

/// The range of an option that is no number, and the values of a text that may be any.
constexpr OptionRange kNoRange{0, 0};
constexpr std::span<const std::string_view> kAnyText = {};

// For which methods an option has an effect.
constexpr UsedBy kForAll = nullptr;
constexpr UsedBy kForMinibatches = [](const MethodTraits& m, const FitOptions&) { return m.minibatches; };
constexpr UsedBy kForChains = [](const MethodTraits& m, const FitOptions&) { return m.warms_up; };
constexpr UsedBy kForParts = [](const MethodTraits& m, const FitOptions&) { return m.divides; };
constexpr UsedBy kForStarts = [](const MethodTraits& m, const FitOptions&) { return m.starts; };
constexpr UsedBy kForTempering = [](const MethodTraits& m, const FitOptions&) { return m.tempers; };
// Without any sweep, methods from minibatches evaluate the start values too.
constexpr UsedBy kForSweepLimit = [](const MethodTraits& m, const FitOptions& o) {
  return m.converges || (m.minibatches && o.max_iterations == 0);
};
// Methods without a search accept `none`, and methods that draw accept `double`: that is what they do.
constexpr UsedBy kForSearch = [](const MethodTraits& m, const FitOptions& o) {
  return m.searches || o.search.empty() || o.search == "none";
};
constexpr UsedBy kForSds = [](const MethodTraits& m, const FitOptions& o) {
  return m.converges || o.sds != "linear-response";
};
constexpr UsedBy kForPrecision = [](const MethodTraits& m, const FitOptions& o) {
  return !m.draws || o.precision != "float";
};

/// The help of --guide, and of --links.
constexpr std::string_view kGuideHelp =
    "Factors of Normal variables: joint (one for those that terms of the model couple, where that is cheap) or "
    "factorised (only those that the model's guide joins)";
constexpr std::string_view kLinksHelp =
    "Logistic and probit links of Normal predictors ({only}): gaussian (their expectations: standard deviations of "
    "effects with few observations are right) or bound (faster)";

/// All options but the method, in the order of help.
constexpr FitOption kOptions[] = {
    {"max-iter", "max_iterations", &FitOptions::max_iterations, kIterationsRange, kForSweepLimit,
     "Sweeps at most ({only}); 0: evaluate the start values"},
    {"tol", "tolerance", &FitOptions::tolerance, kToleranceRange, kForConverging,
     "Stop when a sweep changes the ELBO by this fraction, and shared parameters by its square root, at most ({only})"},
    {"leap-after", "leap_after", &FitOptions::leap_after, kIterationsRange, kForConverging,
     "Sweeps after which a slowly converging run may extrapolate from the last ones ({only}); 0: plain sweeps alone, "
     "and factors are not rotated either"},
    {"no-invariances", "no_invariances", &FitOptions::no_invariances, kNoRange, kForConverging,
     "Take no steps in directions that change no data, such as a shift from an intercept to its effects ({only}). "
     "`lehr derive` lists them as invariances"},
    {"no-saddle-test", "no_saddle_test", &FitOptions::no_saddle_test, kNoRange, kForConverging,
     "Do not test for a saddle point at the end of runs with heat, given or flat starts, or means at 0 ({only})"},
    {"local-iters", "local_iterations", &FitOptions::local_iterations, kLocalIterationsRange, kForFactors,
     kLocalIterationsHelp},
    {"local-tol", "local_tolerance", &FitOptions::local_tolerance, kToleranceRange, kForFactors, kLocalToleranceHelp},
    {"batch-size", "batch_size", &FitOptions::batch_size, kBatchRange, kForMinibatches,
     "Items per step of svi, and items read at a time from streamed files"},
    {"epochs", "epochs", &FitOptions::epochs, kEpochsRange, kForMinibatches, "Passes over the data ({only})"},
    {"tau0", "tau0", &FitOptions::tau0, kTau0Range, kForMinibatches,
     "Delay of the step sizes (tau0 + t)^-kappa of steps t ({only})"},
    {"kappa", "kappa", &FitOptions::kappa, kKappaRange, kForMinibatches,
     "Decay of the step sizes (tau0 + t)^-kappa ({only}); runs converge for more than 0.5 and at most 1"},
    {"rho", "rho", &FitOptions::rho, kStepRange, kForMinibatches,
     "Constant step size in place of (tau0 + t)^-kappa ({only}); 0: not used"},
    {"elbo-every", "elbo_every", &FitOptions::elbo_every, kIterationsRange, kForFactors,
     "Sweeps from one ELBO to the next (cavi; 0: 1), or steps from one exact ELBO to the next (svi; 0: at the end)"},
    {"warmup", "warmup", &FitOptions::warmup, kIterationsRange, kForChains,
     "Sweeps before the first draw that is kept ({only})"},
    {"draws", "draws", &FitOptions::draws, kScheduleRange, kForDraws, "Draws kept per chain ({only})"},
    {"thin", "thin", &FitOptions::thin, kScheduleRange, kForChains, "Sweeps per draw that is kept ({only})"},
    {"restarts,chains", "restarts", &FitOptions::restarts, kRestartsRange, kForAll,
     "Number of runs from different starts, of which the best ELBO is kept; gibbs, exact: number of chains"},
    {"threads", "threads", &FitOptions::threads, kThreadsRange, kForAll, kThreadsHelp},
    {"parts", "parts", &FitOptions::parts, kThreadsRange, kForParts,
     "Parts of an annealed sweep; what all items share is updated after each ({only}); 0: chosen automatically"},
    {"seed", "seed", &FitOptions::seed, kSeedRange, kForAll, kSeedHelp},
    {"search", "search", &FitOptions::search, kNoRange, kForSearch,
     "Search many starts, some of them annealed, and keep the best ELBO ({only}): quick, full (more starts, "
     "longer) or none (one start). Default: quick, but none with another --method, --anneal, --temper, --max-iter, "
     "--tol, --restarts, --init or --stream",
     kSearches},
    {"anneal", "anneal", &FitOptions::anneal, kNoRange, kForTempering,
     "Temperature T that divides the log likelihood in the first sweeps and falls to 1, which helps to "
     "leave poor optima. linear:from=10,over=100: from 10 to 1 in 100 sweeps; exp: the same, geometrically; "
     "file:NAME: T of each sweep from a text file; entropy: as linear, but priors are divided too; "
     "stochastic:rho=0.25,over=50: T is 1, and each sweep mixes the parameters with random ones, with a weight "
     "that falls from 0.25 to 0; auto: the first T is chosen by trial sweeps. Default: T is 1. See docs/annealing.md",
     kAnyText, "SCHEDULE"},
    {"temper", "temper", &FitOptions::temper, kNoRange, kForTempering,
     "Infer the temperature T that divides the log likelihood, as one more unknown: global:max=10,levels=100 has "
     "one T for all data, on a grid of 100 values from 1 to 10; local:max=1.5,levels=25 one for each item, so that "
     "outliers weigh less. With gibbs, global:levels=24 is parallel tempering: chains at 24 temperatures exchange "
     "states, and the log evidence is estimated. Default: T is 1. See docs/annealing.md",
     kAnyText, "KIND"},
    {"init", "start", &FitOptions::start, kNoRange, kForStarts,
     "Start values: the directory of a fit, an .npz file of factors (docs/output.md), or a rule. seeds (default): "
     "each category (latent cluster, state or topic) starts from three random items; points: from clusters by "
     "k-means; allocations: from random categories of items; means: parameters that all items share are moved from "
     "their prior at random; flat: hardly moved. Without categories, seeds, points and allocations do what means "
     "does",
     kAnyText, "START"},
    {"precision", "precision", &FitOptions::precision, kNoRange, kForPrecision,
     "Numbers in the work on each item: double (64 bits) or float (32 bits: faster, less exact; {only}). "
     "Sums over items and the ELBO are always double",
     kPrecisions},
    {"guide", "guide", &FitOptions::guide, kNoRange, kForAll, kGuideHelp, kGuides},
    {"links", "links", &FitOptions::links, kNoRange, kForFactors, kLinksHelp, kLinks},
    {"sds", "sds", &FitOptions::sds, kNoRange, kForSds,
     "Standard deviations of what all items share: corrected ones (linear-response: some six sweeps more for each of "
     "these numbers; {only}), those of the fitted factors, which may be too small (factors), or corrected where that "
     "is cheap (auto); see docs/checking.md",
     kSds},
    {"adaptive", "adaptive", &FitOptions::adaptive, kNoRange, kForMinibatches,
     "Step sizes that adapt to the noise of the gradients ({only})"},
    {"replacement", "replacement", &FitOptions::replacement, kNoRange, kForMinibatches,
     "Draw the items of minibatches with replacement; otherwise each pass has every item once ({only})"},
    {"save-locals", "save_locals", &FitOptions::save_locals, kNoRange, kForAll,
     "Also write the posteriors of local variables (of single items, such as the component of a point)"},
};

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
  if (o.sds == "linear-response" && !o.temper.empty())
    return usage_error(
        "sds", fmt::format("a fit with a latent temperature has no linear response: leave out {}", option("temper")));
  if (o.sds == "linear-response" && o.precision == "float")
    return usage_error(option("sds"),
                       fmt::format("differences of sweeps need 64 bits: leave out {}", option("precision")));
  return std::nullopt;
}

}  // namespace

std::span<const FitOption> fit_option_table() { return kOptions; }

std::string help_of(const FitOption& row) {
  FitOptions o;
  const auto* const text = std::get_if<std::string FitOptions::*>(&row.to);
  if (text && !row.values.empty()) o.** text = row.values.back();
  return option_help(row.help, row.used_by, o);
}

std::optional<Error> unused_option(const FitOptions& o, const std::function<bool(std::string_view)>& explicitly_set) {
  for (const FitOption& row : kOptions) {
    if (!row.is_text() || !explicitly_set(row.name())) continue;
    if (std::optional<Error> e = without_effect(option(row.name()), row.used_by, o)) return e;
  }
  return std::nullopt;
}

namespace {

/// Returns true if the field of the option has the same value in both.
bool is_usual(const FitOption& row, const FitOptions& o, const FitOptions& usual = {}) {
  return std::visit([&](auto field) { return o.*field == usual.*field; }, row.to);
}

}  // namespace

std::optional<Error> unused_value(const FitOptions& o) {
  for (const FitOption& row : kOptions) {
    if (!row.is_text() || is_usual(row, o)) continue;
    if (std::optional<Error> e = without_effect(std::string(row.field), row.used_by, o)) return e;
  }
  return std::nullopt;
}

Diagnostic unused_warning(std::string_view name, UsedBy used_by, const FitOptions& o) {
  const std::vector<std::string> users = methods_using(used_by, o);
  return make_warning(fmt::format("{} has no effect with {} {}; {} {} it", option(name), option("method"), o.method,
                                  enumerate(users, "and"), users.size() == 1 ? "uses" : "use"));
}

std::vector<Diagnostic> unused_number_warnings(const FitOptions& o, const FitOptions& usual) {
  std::vector<Diagnostic> out;
  for (const FitOption& row : kOptions)
    if (!row.is_text() && !is_usual(row, o, usual) && !has_effect(row.used_by, o))
      out.push_back(unused_warning(row.name(), row.used_by, o));
  return out;
}

void apply_explicit_options(FitOptions& o, const std::function<bool(std::string_view)>& explicitly_set) {
  const bool one_start =
      explicitly_set("max-iter") || explicitly_set("tol") || explicitly_set("restarts") || explicitly_set("init");
  if (one_start && !explicitly_set("search")) o.search = "none";
}

Result<FitSettings> to_fit_settings(const FitOptions& o) {
  if (std::optional<Error> e = invalid_value(o)) return *e;
  const MethodTraits* const traits = find_method(o.method);
  if (!traits) return unknown_method(o.method);
  Result<Method> method = traits->make(o);
  if (!method) return method.error();
  const std::optional<StartKind> start = start_kind(o.start);
  if (!start)
    return usage_error("start", fmt::format("'{}' is none of seeds, points, allocations, means, flat", o.start));
  return FitSettings{.method = std::move(*method),
                     .seed = o.seed,
                     .start = *start,
                     .save_locals = o.save_locals,
                     .single = o.precision == "float",
                     .response = o.sds == "linear-response",
                     .response_if_cheap = o.sds == "auto",
                     .threads = static_cast<std::size_t>(o.threads),
                     .parts = o.parts};
}

}  // namespace lehr
