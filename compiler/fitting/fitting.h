// A fit, from a model and its data to runs from several starts. The command line and the library are both users of
// this.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/evaluate/far_columns.h"
#include "compiler/fitting/coupling.h"
#include "compiler/fitting/lost_digits.h"
#include "compiler/fitting/method.h"
#include "compiler/fitting/streamed_data.h"
#include "compiler/pipeline.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

/// A model and its data, told from references where those of the user are far from zero.
struct BoundModel {
  Analysed analysed;
  BoundData data;
  References references = {};
  model::Model resolved = {};                         // what was analysed, without auxiliary variables
  std::shared_ptr<const StreamedData> streamed = {};  // the data of items are there; null: they are in `data`
  std::vector<double> digests = {};                   // item_digests of data in memory
};

/// A model of which nothing is missing, and data. Whether observations are missing decides about the density: where
/// some are, `resolved` (as read() made it) is analysed anew, and so it is about references. Nothing: the diagnostics
/// say why.
Result<std::optional<BoundModel>> bind_and_analyse(const model::Model& resolved, const Analysed& complete,
                                                   Dataset dataset, const Settings& settings, Diagnostics& diagnostics);

struct FitSettings {
  Method method;  // no sweep: the ELBO of the start
  std::uint64_t seed = 1;
  StartKind start = StartKind::seeds;
  std::vector<NamedArray> init = {};   // put in place after the start
  std::string init_source = {};        // for messages
  std::optional<SavedFit> after = {};  // a fit that chains begin near, in place of `init`
  bool save_locals = false;
  bool single = false;          // LowerOptions::single
  std::int64_t predictive = 0;  // numbers of each kind in PredictiveDraws of a chain; 0: none are wanted
  Backend backend = Backend::native;
  std::size_t threads = 0;       // 0: one a processor
  std::int64_t parts = 0;        // of the items in a sweep; 0: as many as pay
  std::int64_t at_a_time = 256;  // items that are read in pieces
  std::string spill = {};        // directory for factors of such items; empty: none is named
  Group* group = nullptr;        // that shares out the items, each with these settings
};

/// The same of data whose items stay in their files.
Result<std::optional<BoundModel>> bind_and_analyse(const model::Model& resolved, const Analysed& complete,
                                                   std::shared_ptr<const StreamedData> streamed,
                                                   Diagnostics& diagnostics);

/// Where no plate of items has an element, and no posterior goes on as the prior, which stays as it is without data.
/// The place is left to the caller.
std::optional<Error> nothing_to_fit(const BoundModel& bound);

/// One run from one start.
struct FitRun {
  std::uint64_t restart = 0;
  Outcome outcome;
  std::vector<NamedArray> posterior;
  std::vector<NamedArray> items;  // items_to_save, of factors that are not in `posterior` themselves
  Report report;
  std::vector<std::string> symmetric;  // Instance::equal_components
  std::vector<Coupled> coupled;        // of coordinate ascent that converged
  LostDigits far;                      // by factors far from zero
  std::string rounding;                // a Doubt of which not all is lost
  std::vector<Caution> at_start;       // what there is to know before the run
};

/// A run that failed loses to one that did not; otherwise the higher ELBO wins.
bool better(const FitRun& a, const FitRun& b);

/// Brings the factors of the items, or all local ones, to their optimum with the global ones as they are: several
/// rounds where items have stages that depend on each other. The ELBO.
Result<double> infer_items(Instance& instance, const SweepOptions& options,
                           machine::Which which = machine::Which::stages);

/// A model compiled for one way of fitting it to one data set.
class Fitting {
 public:
  static Result<std::unique_ptr<Fitting>> make(BoundModel bound, FitSettings settings);

  /// Other data, see Instance::replace. The next start is theirs.
  Result<bool> replace(BoundData data);

  /// A start in place, and what its run needs. ExitCode::numerical: another start may do.
  Result<FitRun> start(std::uint64_t restart);
  /// The run of that start. With a journal that is on the way back afterwards, the run is one that was finished: its
  /// draws, its posterior and what follows from it are the caller's to put back.
  void run(FitRun& run, const OnSweep& on_sweep, Journal* journal = nullptr);

  /// Sweeps or steps that a run takes at most.
  std::int64_t most_iterations() const;

  /// Only the factors of the items, from that start.
  Result<bool> run_items(FitRun& run, const SweepOptions& options);
  std::vector<Caution> cautions(const FitRun& run) const;

  /// Why the items of this model cannot be worked on elsewhere; nothing where they can.
  std::optional<Error> cannot_share_out() const;

  const Analysed& analysed() const { return bound_.analysed; }
  const model::Model& model() const { return analysed().model; }
  const schedule::Schedule& schedule() const { return analysed().schedule; }
  const BoundData& data() const { return bound_.data; }
  const References& references() const { return bound_.references; }
  const Instance& instance() const { return *instance_; }
  const PredictivePlan& predictive() const { return predictive_; }

 private:
  Fitting(BoundModel bound, FitSettings settings);
  std::optional<Error> compile();
  /// Of data that stay as they are, tables by what they name: see `plan`. Not where a step goes over items, which
  /// processes may share out: each would come to a decision of its own.
  void sum_by_names(const Needs& needs);
  std::optional<Error> place_items();
  /// Why items are not read in pieces as things were asked for.
  std::optional<Error> not_streamed(const Needs& needs) const;
  ItemSource item_source(const Needs& needs) const;
  /// The arrays; what is not finite is a numerical failure, whatever ended the run.
  void take_posterior(FitRun& run);
  /// Numbers that are not those of the data are a numerical failure.
  void distrust_rounding(FitRun& run);
  /// Why this model must not be sampled with these data: what a sampler draws says nothing of what was lost.
  std::optional<Error> draws_would_be_lost() const;
  /// Draws of an element that stands for several are of whole copies.
  std::optional<Error> has_fractions() const;
  Outcome evaluate_start(const OnSweep& on_sweep);

  BoundModel bound_;
  FitSettings settings_;
  PredictivePlan predictive_;
  std::unique_ptr<Instance> instance_;
  std::vector<FarColumn> far_;  // columns of the data that no reference has brought near
  Ready ready_;                 // the run of the last start
};

}  // namespace lehr
