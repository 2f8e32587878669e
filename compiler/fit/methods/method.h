// The methods that fit a model: coordinate ascent (CAVI), stochastic variational inference (SVI), variational
// tempering, Gibbs sampling and exact sampling. Each method is one alternative of the variant `Method`, a struct with
// its own options. Each has the same three functions: `requirements` says what analysis, code and memory it requires,
// `iteration_limit` bounds the length of a run, `prepare` makes the run. The table of methods as users know them, with
// their traits, is compiler/options/methods.h. docs/extending.md says how to add a method.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/instance/instance.h"
#include "compiler/posterior/gibbs_report.h"
#include "compiler/posterior/predictive.h"
#include "runtime/inference/auto_svi.h"
#include "runtime/inference/samplers/exact.h"
#include "runtime/inference/samplers/gibbs.h"
#include "runtime/inference/samplers/parallel_tempering.h"
#include "runtime/search/search.h"

namespace lehr {

/// What a run of variational tempering reports: the grid of temperatures, its normaliser and the final temperature
/// (Mandt, McInerney, Abrol, Ranganath & Blei 2016).
struct TemperingReport : TemperReport {
  /// The grid of temperatures T on which the final temperature has a distribution: from 1 to the hottest, ascending.
  std::vector<double> temperatures;
  /// How log C(T) was computed: "exact", "prior" or "posterior"; see NormaliserKind.
  std::string normaliser;
  /// At each temperature of the grid, log C(T) at the start of the run, and its standard error: that of draws from the
  /// prior ("prior"), or that of a sample of the items. `error` is empty where log C(T) is computed from all items
  /// without random draws.
  std::vector<double> log_c, error;
  /// True if every item has a temperature of its own; false: one for all items.
  bool local = false;
  /// True if coordinate ascent at temperature 1 follows the tempered phase, so that the result is the posterior of the
  /// model itself.
  bool finished = false;
};

/// What a run reports besides its outcome, for fit.json and the terminal, by kind of method; std::monostate for methods
/// with nothing to report.
using Report = std::variant<std::monostate, SearchReport, AutoReport, ProbeReport, TemperingReport, GibbsReport>;

/// Converts a report to the entries that it adds to fit.json: "annealing", "search" and "one_optimum", "tempering" or
/// "sampling"; an empty object for std::monostate.
nlohmann::json to_json(const Report& report);
/// Describes a report in lines of text for the terminal, each ending in a newline. Returns an empty string where there
/// is nothing to say.
std::string describe(const Report& report, const Outcome& outcome);
/// Returns the warnings that follow from the report and the outcome alone: saddle points, and, of a fit with one
/// temperature for all items, an uncertain temperature or data that speak against 1.
std::vector<Diagnostic> warnings(const Report& report, const Outcome& outcome);

/// What a method requires of the analysis, of the generated code and of memory. Fitting analyses and compiles the model
/// accordingly. `streams` is no requirement: it says that the method can do without all items in memory.
struct Requirements {
  bool batches = false;            // sums over a minibatch of items can be scaled up to all items (SVI)
  bool gradients = false;          // natural gradients of global blocks are computed, for adaptive step sizes
  bool item_temperatures = false;  // every item has its own inverse temperature, which weights its log density
  bool draws = false;              // sample factors in place of variational ones: a sweep draws values (Gibbs sampling)
  /// Code for intervals that contain all runs of a sampler of spins and bits (exact sampling).
  bool envelope = false;
  /// A temperature divides the log likelihood only, and not the log prior (parallel tempering).
  bool likelihood = false;
  bool invariances = false;  // tables for changes of basis between sweeps (schedule::Invariance)
  bool streams = false;      // the method accepts out-of-core items, read a few at a time
  std::int64_t window = 0;   // how many items' factors are in memory at a time; 0: those of all items
};

/// What prepare() of a method gets: the analysed model, its data, and the compiled instance, whose factors are at a
/// start. The referenced objects must outlive the run.
struct RunContext {
  /// The model with its density, conditionals and schedule.
  const Analysed& analysed;
  /// The data, in distances from `references` where these are set.
  const BoundData& data;
  /// The compiled model with data and factors in memory.
  Instance& instance;
  /// The seed of the fit, and the number of this start, from 0.
  std::uint64_t seed, restart;
  bool save_locals = false;        // true if draws of local variables are recorded (sampling methods only)
  PredictivePlan predictive = {};  // which draws get log likelihoods and replicated data (sampling methods only)
  /// The kind of start that initialised the factors, before given ones replaced them.
  StartKind start = StartKind::seeds;
  /// True: factors given by the caller (an option, or another fit) replaced those of the start.
  bool given = false;
  CentringOffsets references = {};  // offsets that were subtracted from far data; added back to what a run returns

  /// Returns the engine: the compiled model as the methods of runtime/inference see it.
  const Engine& engine() const { return instance.engine(); }
  /// Returns the seed of the random numbers of this run. Each restart has a different one.
  std::uint64_t run_seed() const { return seed + 1000003 * restart; }
};

/// A run of a method on a compiled model that is ready to be executed. The method's prepare() makes it, and
/// Fitting::run() executes it.
struct PreparedRun {
  /// Executes the run. Calls its first argument after every sweep, and fills in its second one, which has the
  /// alternative of `report`.
  std::function<Outcome(const OnSweep&, Report&)> run;
  /// The report as far as prepare() can fill it in.
  Report report = {};
  std::vector<Diagnostic> warnings = {};  // warnings that prepare() found
  /// True: a converged run is at a fixed point of plain sweeps. Fitting then looks for correlated means of separate
  /// factors and for improper posteriors, and computes standard deviations by linear response.
  bool fixed_point = false;
  bool many_starts = false;  // true: the run tries starts of several kinds, so one that failed needs no warning
};

/// Returns true if the end of a run of coordinate ascent is to be tested for a saddle point
/// (runtime/inference/saddle.h): the options ask for it, items are computed in 64 bits, and the model allows the test.
bool tests_end(const CaviOptions& options, const RunContext& context);

/// Coordinate ascent (CAVI): sweeps that update every factor to its optimum, until the ELBO converges. The first sweeps
/// are annealed where `options.annealing` says so.
struct Ascent {
  /// Tolerance, iteration limit, annealing and extrapolation of the ascent.
  CaviOptions options;
  /// Returns the requirements: changes of basis between sweeps, if the options use them. Out-of-core items are allowed
  /// unless annealing is stochastic: the random starts that it mixes in need all items in memory.
  Requirements requirements() const;
  /// Returns the maximum number of sweeps.
  std::int64_t iteration_limit(const Engine&) const { return options.max_iterations; }
  /// Prepares a run of coordinate ascent (run_cavi) from the factors in the instance. Its end is tested for a saddle
  /// point where annealing, given factors or a flat start may lead to one. Does not fail.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Coordinate ascent with automatic annealing: the method measures at which temperature the entropy of the discrete
/// local variables rises, and anneals from there.
struct AutomaticAscent {
  /// The options of the ascent and of the choice of temperatures.
  AutoOptions options;
  /// Returns the empty set of requirements; all items must be in memory.
  Requirements requirements() const { return {}; }
  /// Returns the maximum number of sweeps.
  std::int64_t iteration_limit(const Engine&) const { return options.max_iterations; }
  /// Prepares a run of run_auto, which fills in an AutoReport. Does not fail.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Coordinate ascent with a search over many starts, moves of components and automatic annealing. The candidate with
/// the highest ELBO wins.
struct SearchedAscent {
  /// The options of the ascent and of the search.
  SearchOptions options;
  /// Returns the requirements: changes of basis between sweeps, if the options use them.
  Requirements requirements() const { return {.invariances = options.uses_invariances()}; }
  /// Returns the maximum number of sweeps.
  std::int64_t iteration_limit(const Engine&) const { return options.max_iterations; }
  /// Prepares a run of run_search, which fills in a SearchReport. A model that is proved to have one optimum gets plain
  /// coordinate ascent, and a search only if that does not converge. Does not fail.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Stochastic variational inference (Hoffman, Blei, Wang & Paisley 2013): natural-gradient steps on minibatches of
/// items, annealed as `options.annealing` says.
struct Stochastic {
  /// Batch size, step sizes, iteration limit and annealing.
  SviOptions options;
  /// Returns the requirements: minibatch statistics, out-of-core items, a window of one batch, gradients for adaptive
  /// steps.
  Requirements requirements() const;
  /// Returns the maximum number of steps; 0 where `options.max_iterations` is 0.
  std::int64_t iteration_limit(const Engine& engine) const;
  /// Prepares a run of run_svi. Does not fail.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Stochastic variational inference with automatic annealing, from a temperature that a probe finds (auto_svi.h).
struct AutomaticStochastic : Stochastic {
  /// Prepares a run of run_auto_svi, which fills in a ProbeReport. Does not fail.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// How variational tempering computes log C(T), the log normaliser of the joint density at temperature T.
enum class NormaliserKind {
  /// Where C(T) does not depend on latent variables, its value at the start serves the whole run, and is reported as
  /// "exact"; otherwise as `posterior`.
  automatic,
  /// Monte Carlo over the prior of the global variables, as published by Mandt et al. (2016).
  prior,
  /// At the current variational factors, recomputed at every update of the temperature.
  posterior
};

/// The options of variational tempering. The defaults are those of one temperature for all items.
struct TemperSettings {
  bool local = false;           // true: every item has its own temperature
  double max_temperature = 10;  // the largest temperature of the grid, above 1; the command line sets 1.5 where `local`
  bool even_inverse = false;    // true: 1/T is evenly spaced; false: T is geometric
  std::int64_t levels = 100;    // how many temperatures the grid has; the command line sets 25 where `local`
  std::int64_t draws = 100;     // Monte Carlo draws of NormaliserKind::prior
  /// The number of sweeps or steps between updates of the temperature. Default: 10 with the posterior normaliser, else
  /// 1.
  std::optional<std::int64_t> every;
  NormaliserKind normaliser = NormaliserKind::automatic;  // from which variables' values log C(T) is computed
};

/// Coordinate ascent with variational tempering: the temperature is a latent variable with a factor of its own.
struct TemperedAscent {
  /// The options of the ascent.
  CaviOptions options;
  /// The grid of temperatures and its normaliser.
  TemperSettings temper;
  /// Returns the requirements: an inverse temperature for each item where `temper.local`.
  Requirements requirements() const { return {.item_temperatures = temper.local}; }
  /// Returns the maximum number of sweeps.
  std::int64_t iteration_limit(const Engine&) const { return options.max_iterations; }
  /// Prepares a tempered run followed by ascent at temperature 1. Fails where the model cannot be tempered.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Stochastic variational inference with variational tempering. The normaliser reads the factors of all items, so these
/// all stay in memory (no window).
struct TemperedStochastic {
  /// The options of the stochastic steps.
  SviOptions options;
  /// The grid of temperatures and its normaliser.
  TemperSettings temper;
  /// Returns the requirements: minibatch statistics, gradients for adaptive steps, item temperatures where
  /// `temper.local`.
  Requirements requirements() const;
  /// Returns the maximum number of steps.
  std::int64_t iteration_limit(const Engine& engine) const { return Stochastic{options}.iteration_limit(engine); }
  /// Prepares a tempered run of run_svi. Fails where the model cannot be tempered.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Gibbs sampling: every sweep draws each block of latent variables from its complete conditional. Each restart is one
/// chain.
struct Gibbs {
  /// The numbers of warm-up sweeps and draws, and the thinning.
  GibbsOptions options;
  /// Returns the requirements: sample factors.
  Requirements requirements() const { return {.draws = true}; }
  /// Returns the number of sweeps: warm-up, plus `thin` for each draw.
  std::int64_t iteration_limit(const Engine&) const { return options.warmup + options.draws * options.thin; }
  /// Prepares a run that records its draws in a GibbsReport. Does not fail.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Parallel tempering: Gibbs sampling with replicas at powers of the likelihood from 0 (the prior) to 1 (the
/// posterior), which exchange states. It also estimates the log evidence, unless some values of latent variables are
/// observed.
struct ParallelTempering {
  /// The options of the sampling, and the powers of the likelihood.
  ParallelTemperingOptions options;
  /// Returns the requirements: sample factors, and a temperature on the likelihood.
  Requirements requirements() const { return {.draws = true, .likelihood = true}; }
  /// Returns the number of sweeps of one replica.
  std::int64_t iteration_limit(const Engine& e) const { return Gibbs{options}.iteration_limit(e); }
  /// Prepares a run that records its draws in a GibbsReport. Fails for improper priors, and for observations that only
  /// say in which interval an auxiliary number lies: probit links, censored values and intervals.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Exact sampling of models with spins and bits only, by coupling from the past (Propp & Wilson 1996).
struct Exact {
  /// The number of samples and the limits of the coupling.
  ExactOptions options;
  /// Returns the requirements: sample factors, and the envelope of all runs.
  Requirements requirements() const { return {.draws = true, .envelope = true}; }
  /// Returns the number of samples.
  std::int64_t iteration_limit(const Engine&) const { return options.draws; }
  /// Prepares a run that records its samples in a GibbsReport. Fails where the couplings cannot be evaluated.
  Result<PreparedRun> prepare(const RunContext& context) const;
};

/// Returns the error that stochastic inference cannot fit the model, if it takes the expectation of a link or of
/// exp(...) under Normal factors (model::has_expectation): the tangent points of that expectation are updated from all
/// items, which a step on a minibatch does not do. Returns nullopt if it takes none.
std::optional<Error> not_by_minibatches(const model::Model& model);

/// Returns an error naming the first latent variable that is neither a spin nor a bit, which exact sampling excludes.
/// Returns nullopt if all are.
std::optional<Error> not_binary(const model::Model& model, const conditionals::Conditionals& conditionals);

/// The method of a fit with its options: each alternative is one method.
using Method = std::variant<Ascent, SearchedAscent, AutomaticAscent, Stochastic, AutomaticStochastic, TemperedAscent,
                            TemperedStochastic, Gibbs, ParallelTempering, Exact>;

}  // namespace lehr
