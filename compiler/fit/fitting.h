// A fit, from a model and its data to runs from several starts. The command line and the library both use it.
//
// The order of calls: bind_and_analyse checks and binds the data, Fitting::make compiles, then for each restart
// Fitting::start and Fitting::run. A Fitting is deterministic in (seed, restart), on any number of threads.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/evaluate/ill_scaled_columns.h"
#include "compiler/fit/checks/cancellation.h"
#include "compiler/fit/checks/coupling.h"
#include "compiler/fit/fit_cache.h"
#include "compiler/fit/methods/method.h"
#include "compiler/fit/out_of_core_data.h"
#include "compiler/pipeline.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// A model with its data bound to it and analysed for them. Where data lie far from zero, model and data are those of
/// centred variables: `references` have been subtracted (compiler/evaluate/reference.h).
struct BoundModel {
  Analysed analysed;                // density, conditionals and schedule for these data
  BoundData data;                   // the data, packed and checked; for out-of-core data only what is not on the items
  CentringOffsets references = {};  // offsets that were subtracted from data and variables; empty: none
  model::Model resolved = {};       // the model before the compiler added auxiliary variables
  std::shared_ptr<const OutOfCoreData> streamed = {};  // source of out-of-core items; null: `data` has all items
  /// One checksum for each item's data, by which later predictions recognise it (item_digests); in-memory data only.
  std::vector<double> digests = {};
  /// The key under which a FitCache has the analysis; empty if the data need no analysis of their own.
  AnalysisKey key = {};
  /// Sets of variables, each as names separated by commas, that only a stated `guide joint` makes one factor, because
  /// some of them are variables of items (joinable_across_items); for a note to the user. Empty for out-of-core data,
  /// for a centred model and with a cache.
  std::vector<std::string> joinable = {};
};

/// Binds in-memory data to a model, checks them, and analyses the model for them. `resolved` is the model as read()
/// made it, `complete` its analysis for data without missing values. The analysis is repeated where values are missing,
/// where elements have no data, where concentrations have entries of 0, where far data are centred, or where joint
/// factors are chosen.
///
/// Returns nullopt where the repeated analysis fails; the reason is in `diagnostics`. An Error says what is wrong with
/// the data, or that they do not fit into memory. `cache` has the analyses for earlier data sets of this model, and
/// gets this one; it may be null.
Result<std::optional<BoundModel>> bind_and_analyse(const model::Model& resolved, const Analysed& complete,
                                                   Dataset dataset, const Settings& settings, Diagnostics& diagnostics,
                                                   FitCache* cache = nullptr);

/// The settings of a fit: the method, the starts, and how the work is executed.
struct FitSettings {
  /// The method with its options. With an iteration limit of 0 the ELBO of the start is all that is computed.
  Method method;
  std::uint64_t seed = 1;              // seed of all random numbers, together with the number of the restart
  StartKind start = StartKind::seeds;  // the kind of start: how the factors are initialised
  /// Factors to put in place of those of the start, named as in posterior.npz; empty: none.
  std::vector<NamedArray> init = {};
  std::string init_source = {};  // the file or option that `init` comes from, for messages
  /// A fit whose posterior the chains of a sampler start near, in place of `init`; nothing: no such fit.
  std::optional<SavedFit> after = {};
  bool save_locals = false;  // true: the posterior includes the factors of local variables
  bool single = false;       // true: items are computed in 32 bits (LowerOptions::single)
  bool response = false;     // true: standard deviations by linear response, once a run has converged
  /// True: Fitting::replace() will be called later with other data, so the code must not depend on values of the data.
  bool replaces_data = false;
  /// Without `response`, linear response is computed if it takes little work (cheap_visits). True: the run then
  /// has its standard deviations. False: they only make a warning if factors are too narrow.
  bool response_if_cheap = true;
  /// Of a sampler: the most log likelihoods of observations that a chain stores, and the most numbers of replicated
  /// data; 0: none are stored.
  std::int64_t predictive = 0;
  Backend backend = Backend::native;  // machine code, also with the time of each step, or the interpreter
  loops::PassOptions passes = {};     // the optimisation passes; `on_pass` sees the program of the fit alone
  std::size_t threads = 0;            // worker threads; 0: one for each processor. Results do not depend on it
  /// Number of incremental batches in a sweep: parts of the items after each of which global variables are updated; 0:
  /// chosen automatically.
  std::int64_t parts = 0;
  /// How many out-of-core items are in memory at a time, for methods that visit all items.
  std::int64_t at_a_time = 256;
  /// Directory of the spill file with factors of out-of-core items; empty: no such file.
  std::string spill = {};
  std::vector<Diagnostic> warnings = {};  // about the options; every run begins its warnings with them
  /// What this fit shares with others of this model, method and options, for in-memory data, native code and
  /// `predictive` 0; null: nothing. Not owned.
  FitCache* cache = nullptr;
  Group* group = nullptr;  // the processes that share the items; null: this process alone. Not owned
};

/// Analyses a model for out-of-core data, whose items stay in their files; the data were checked when `streamed` was
/// opened. `resolved` is the model as read() made it, `complete` its analysis for data without missing values. The
/// analysis is repeated where it is for in-memory data, but data are never centred. Returns nullopt where the repeated
/// analysis fails; the reason is in `diagnostics`. It is never an Error.
Result<std::optional<BoundModel>> bind_and_analyse(const model::Model& resolved, const Analysed& complete,
                                                   std::shared_ptr<const OutOfCoreData> streamed,
                                                   Diagnostics& diagnostics);

/// Returns an error if all plates of items are empty and the prior is the model's own: there is then nothing to fit.
/// Returns nullopt if there are items, if the model has no plate of items, or if the posterior of an earlier fit is the
/// prior. The caller adds the location to the error.
std::optional<Error> nothing_to_fit(const BoundModel& bound);

/// Why a run has no standard deviations by linear response.
enum class Uncorrected : std::int64_t {
  no,        // it has them, or none are due (not wanted, nothing to correct, or not the end of a converged ascent)
  costly,    // they would take much work, and the settings do not demand them
  large,     // the global variables have more numbers than kMostNumbers
  undefined  // the equations of linear response have no solution
};

/// One run of a fit, from one start (initial factors) to its end, with all its results.
struct FitRun {
  std::uint64_t restart = 0;  // the number of the start, from 0
  Outcome outcome;            // status, ELBO in nats and number of iterations
  /// The factors, as arrays named `variable.parameter`. Of a sampler it is the last state, until the caller puts the
  /// moments of all draws in its place.
  std::vector<NamedArray> posterior;
  /// Arrays of items.npz, from which later predictions recognise the items (items_to_save).
  std::vector<NamedArray> items;
  std::vector<NamedArray> sds;  // arrays of sds.npz: standard deviations by linear response; empty: none
  Report report;                // what the method reports of the run besides the outcome
  /// Variables whose components are all equal, for a warning about a symmetric solution
  /// (Instance::symmetric_components).
  std::vector<std::string> symmetric;
  /// Strongly correlated means of separate factors. Empty unless the run is a converged ascent on data in memory,
  /// without `sds`.
  std::vector<CorrelatedPair> coupled;
  /// The rounding error of the ELBO from squares of means far from zero; for a warning.
  CancellationError far;
  /// Text of a warning about the standard deviations of the factors, and the means that they hold; empty: none.
  std::string narrow;
  /// Why there are no standard deviations by linear response, only those of the factors.
  Uncorrected uncorrected = Uncorrected::no;
  /// Text of a warning that rounding leaves the results fewer digits; empty: none.
  std::string rounding;
  std::vector<Diagnostic> initial_warnings;  // warnings of the options, of the start and of PreparedRun
  /// Advice for a numerical failure, in place of the general one; empty: the general one.
  std::vector<std::string> cures;
};

/// Returns true if run `a` ranks above run `b`, to choose the best of several restarts: a run without numerical failure
/// beats one with, then the higher ELBO wins. False for equal runs.
bool better(const FitRun& a, const FitRun& b);

/// Updates the local factors to their optimum while the global factors are fixed, as for new items, and returns the
/// ELBO in nats. `scope` selects the blocks: those of item stages (default), or all local ones. Where stages depend on
/// each other, it makes several rounds. Fails with ExitCode::numerical where the code fails or the ELBO is not finite.
Result<double> infer_items(Instance& instance, const SweepOptions& options,
                           machine::SweepScope scope = machine::SweepScope::stages);

/// A model compiled for one method and one data set. It owns the model, the data and the compiled instance. Runs follow
/// each other; each start overwrites the factors.
class Fitting {
 public:
  /// Compiles the model for the method of the settings; no run is made. Fails where the method cannot be used with this
  /// model and these data (a sampler also where data far from zero would spoil its numbers), where linear response is
  /// wanted and impossible, or where memory is too small.
  static Result<std::unique_ptr<Fitting>> make(BoundModel bound, FitSettings settings);

  /// Replaces the data by others of the same sizes and lengths of rows, without compiling again (see
  /// Instance::replace); a calibration fits many simulated data sets so. The next start uses them. It requires
  /// FitSettings::replaces_data. The value is always true.
  Result<bool> replace(BoundData data);

  /// Initialises the factors for a restart, and prepares its run. ExitCode::numerical means that another start may
  /// succeed.
  Result<FitRun> start(std::uint64_t restart);
  /// Executes the run that the last start() prepared, and fills in `run` with its results. `on_sweep` is called after
  /// every sweep; it returns false to stop. `journal` records the run, or replays a recorded one.
  ///
  /// If the journal is still replaying afterwards, it is of a run that was finished. The caller then restores draws,
  /// posterior and all that follows from them.
  void run(FitRun& run, const OnSweep& on_sweep, Journal* journal = nullptr);

  /// Returns the maximum number of sweeps or steps of a run; 0: only the ELBO of the start is computed.
  std::int64_t iteration_limit() const;

  /// Infers the local factors of new items, in place of run(), with the global factors of the last start fixed, and
  /// fills in the outcome and the factors of `run`. The value is always true. Fails with ExitCode::numerical.
  Result<bool> run_items(FitRun& run, const SweepOptions& options);
  /// Returns the warnings about a finished run, without its `initial_warnings`: coupled variables, narrow factors, a
  /// falling ELBO, lost digits, points at 0, symmetric solutions, and those of its report. Of a numerical failure there
  /// are only some of them.
  std::vector<Diagnostic> warnings(const FitRun& run) const;

  /// Returns an error saying why several processes cannot share the items of this model; nullopt if they can.
  std::optional<Error> cannot_distribute() const;

  /// Returns the model with its density, conditionals and schedule, as they were analysed for this method.
  const Analysed& analysed() const { return bound_.analysed; }
  /// Returns the model, including auxiliary variables.
  const model::Model& model() const { return analysed().model; }
  /// Returns the schedule: the order of updates.
  const schedule::Schedule& schedule() const { return analysed().schedule; }
  /// Returns the data that are fitted: packed, and centred if references() are not empty.
  const BoundData& data() const { return bound_.data; }
  /// Returns the offsets that were subtracted from ill-scaled data and from variables; empty if none were. Results for
  /// users have them added back.
  const CentringOffsets& references() const { return bound_.references; }
  /// Returns sets of variables, each as names separated by commas, that share no factor because some are variables of
  /// items, but would with a stated `guide joint` (joinable_across_items); for a note to the user.
  const std::vector<std::string>& joinable() const { return bound_.joinable; }
  /// Returns the compiled instance with the current factors.
  const Instance& instance() const { return *instance_; }
  /// Returns the plan of which draws of a sampler get log likelihoods and replicated data.
  const PredictivePlan& predictive() const { return predictive_; }
  /// Returns true if a converged run may have standard deviations by linear response, so that messages may propose it.
  bool may_respond() const {
    return ready_.fixed_point && !settings_.group && !settings_.single && !bound_.streamed && !no_response();
  }

 private:
  /// Stores its arguments; make() does the work.
  Fitting(BoundModel bound, FitSettings settings);
  /// Returns an error if the method cannot be used with this model or with out-of-core items, before the analysis for
  /// it.
  std::optional<Error> cannot_use(const Requirements& requirements) const;
  /// Replaces the analysis by the one that the method and the sizes of the data need: with a temperature for each item,
  /// of a sampler, or with tables of the data. Called once, by make().
  std::optional<Error> analyse_for_method(const Requirements& requirements);
  /// Returns the analysis as the method needs it: with a temperature for each item, or with sample factors for a
  /// sampler. For other methods it is only scheduled again, where the sizes of the data or invariances require it
  /// (with_options). `options` are those of the schedule.
  Result<Analysed> analysed_for(const Requirements& requirements, const schedule::PlanOptions& options) const;
  /// Lowers and compiles the model, and starts the workers. It runs no inference. Called once, by make().
  std::optional<Error> compile(const Requirements& requirements);
  /// Makes the instance: of the cached program for such data if the settings have a cache, otherwise with newly
  /// compiled code.
  Result<std::unique_ptr<Instance>> make_instance(const Requirements& requirements) const;
  /// Provides a spill file for the factors of out-of-core items that persist between sweeps. Returns an error where the
  /// model or the settings do not allow one.
  std::optional<Error> add_spill_file();
  /// Returns an error if the method, the start, linear response (--sds) or saved local factors (--save-locals) need all
  /// items in memory, so that items cannot stay in their files.
  std::optional<Error> not_streamed(const Requirements& requirements) const;
  /// Returns the functions by which the engine reads out-of-core items; an empty source for in-memory data.
  ItemSource item_source(const Requirements& requirements) const;
  /// Copies the results of a run that has ended into `run`: the factors, what later predictions need of the items, and
  /// the rounding error from means far from zero. Numbers that are not finite, or an ELBO lost in rounding, make it a
  /// numerical failure.
  void store_posterior(FitRun& run);
  /// Computes standard deviations by linear response at the end of a converged ascent, if FitSettings::response asks
  /// for them or if they take little work, and stores them in the run; otherwise the run gets the reason why there are
  /// none. With neither `response` nor `response_if_cheap` they are not stored, and only make a warning if factors are
  /// too narrow. Does nothing for out-of-core data, several processes and items computed in 32 bits.
  void check_sds(FitRun& run);
  /// Returns an error if linear response is impossible: no global variable can have a standard deviation by it, or
  /// those that can, without the chains, consist of more than kMostNumbers numbers in all, which would take too long.
  std::optional<Error> no_response() const;
  /// Tests whether a variable with an improper prior has an improper posterior: the ELBO does not fall where the
  /// variable is a million times larger or smaller (run_away.h). The run then becomes a numerical failure with its
  /// name. Does nothing unless the data are in memory, the method has a fixed point, and the run has converged or has
  /// reached the iteration limit.
  void check_run_away(FitRun& run);
  /// Tests whether the solution depends on the rounding of the data (rounding.h), for fits by ascent to real data in
  /// memory. If it is lost, the run becomes a numerical failure; if digits are lost, the run gets a warning. To the
  /// message of a run that has failed already, it adds the likely cause: a column far from zero, or an outlier.
  void check_rounding(FitRun& run);
  /// If data are far from zero, runs 50 sweeps of coordinate ascent, and returns an error if rounding spoils them. A
  /// sampler would be spoiled too, but its draws do not show it. Called before the analysis for the method.
  std::optional<Error> sampling_too_imprecise() const;
  /// Returns an error if a drawn variable lies on a plate with fractional weights: a sampler needs whole numbers of
  /// copies.
  std::optional<Error> has_fractional_weights() const;
  /// Infers the items from the start and computes the ELBO, without any update of global factors. `on_sweep` gets it as
  /// iteration 0.
  Outcome evaluate_start(const OnSweep& on_sweep);

  /// The model with its data and its analysis for the method.
  BoundModel bound_;
  /// The settings of the fit.
  FitSettings settings_;
  /// The key under which the cache of the settings has the program; none without a cache.
  std::optional<ProgramKey> key_;
  /// Which draws of a sampler get log likelihoods and replicated data.
  PredictivePlan predictive_;
  /// The compiled model with its factors.
  std::unique_ptr<Instance> instance_;
  std::vector<IllScaledColumn> far_;  // ill-scaled columns of the data that were not centred
  PreparedRun ready_;                 // the run that the last start() prepared
};

}  // namespace lehr
