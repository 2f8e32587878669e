// A fit, from a model and its data to runs from several starts. The command line and the library are both users of this.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "compiler/program/anneal_spec.h"
#include "compiler/program/instance.h"
#include "compiler/program/tempering.h"
#include "runtime/engine/auto_anneal.h"
#include "runtime/engine/auto_svi.h"
#include "runtime/engine/reach.h"
#include "runtime/engine/svi.h"

namespace lehr {

/// A model and its data. Whether observations are missing decides about the density: the model is analysed anew.
struct Bound {
  FrontEnd front;
  BoundData data;
};

/// `model` is that of `source` without data. Nothing: the diagnostics say why.
Result<std::optional<Bound>> bind_and_analyse(const Source& source, const model::Model& model, Dataset dataset,
                                              const Settings& settings, Diagnostics& diagnostics);

/// The algorithm: at most one of `anneal` and `temper`.
struct Method {
  bool svi = false;  // otherwise coordinate ascent
  std::optional<AnnealSpec> anneal;
  std::optional<TemperSettings> temper;
};

/// `anneal` and `temper` as for --anneal and --temper, empty for none. An Error says what is malformed, or does not go
/// together.
Result<Method> read_method(bool svi, const std::string& anneal, const std::string& temper);

struct FitSettings {
  Method method;
  SviOptions inference;            // coordinate ascent reads what it has of them; no sweep: the ELBO of the start
  std::uint64_t seed = 1;
  StartKind start = StartKind::seeds;
  std::vector<NpyArray> init;      // put in place after the start
  std::string init_source;         // for messages
  bool save_locals = false;
  Backend backend = Backend::native;
};

/// What a user should know of a run that looks well.
struct Caution {
  std::string text;
  std::vector<std::string> notes;
};

/// One run from one start.
struct FitRun {
  std::uint64_t restart = 0;
  Outcome outcome;
  std::vector<NpyArray> posterior;
  std::optional<AutoReport> automatic;  // of automatic annealing
  std::optional<ProbeReport> probe;     // of the same from minibatches
  std::optional<Tempering> tempering;
  TemperReport temper_report;
  std::vector<std::string> symmetric;   // Instance::equal_components
  std::vector<Caution> at_start;        // what there is to know before the run
};

/// A run that failed loses to one that did not; otherwise the higher ELBO wins.
bool better(const FitRun& a, const FitRun& b);

/// Brings the factors of the items to their optimum with the global ones as they are: several rounds where items have
/// stages that depend on each other. The ELBO.
Result<double> infer_items(Instance& instance, const SweepOptions& options);

/// A model compiled for one way of fitting it to one data set.
class Fitting {
 public:
  static Result<std::unique_ptr<Fitting>> make(Bound bound, FitSettings settings);

  /// A start in place, and what its run needs. ExitCode::numerical: another start may do.
  Result<FitRun> start(std::uint64_t restart);
  /// The run of that start.
  void run(FitRun& run, const OnSweep& on_sweep);

  /// Sweeps or steps that a run takes at most.
  std::int64_t most_iterations() const;

  /// Only the factors of the items, from that start.
  Result<bool> run_items(FitRun& run);
  std::vector<Caution> cautions(const FitRun& run) const;

  const model::Model& model() const { return bound_.front.model; }
  const schedule::Schedule& schedule() const { return schedule_; }
  const BoundData& data() const { return bound_.data; }
  const Instance& instance() const { return *instance_; }

 private:
  Fitting(Bound bound, FitSettings settings);
  std::optional<Error> compile();
  /// Whether a normaliser that averages over the prior lets the temperature come down to 1.
  Result<std::vector<Caution>> foresee(const Tempering& tempering);
  Outcome infer(FitRun& run, const OnSweep& on_sweep);
  Outcome evaluate_start(const OnSweep& on_sweep);

  Bound bound_;                    // its conditionals are those of the schedule
  FitSettings settings_;
  schedule::Schedule schedule_;
  std::unique_ptr<Instance> instance_;
};

}  // namespace lehr
