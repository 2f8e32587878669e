// A fit as a whole, from data to a finished posterior: binds, compiles, runs every start, keeps the best run, and
// summarises it. The library and fits of many data sets use it; `lehr fit` of one has files and checkpoints on the way.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/fit/fit_cache.h"
#include "compiler/fit/fit_summary.h"
#include "compiler/fit/fitting.h"
#include "runtime/files/labelled.h"

namespace lehr {

/// What is fitted and how: all but the data. The referenced objects must outlive the calls that take it.
struct FitTask {
  const Source& source;       // text of the model
  model::Model resolved;      // the model as read() made it, with the guide that is asked for
  const Analysed& complete;   // its analysis for data without missing values
  const Settings& settings;   // constants, sizes and labels
  FitSettings how;            // method, start and execution
  FitRequest request;         // what fit.json repeats
  std::int64_t restarts = 1;  // number of runs
};

/// A function that is called after every sweep of a restart; may be empty. It returns false to cancel the fit, which
/// then returns the best run so far.
using OnRestartSweep = std::function<bool(std::uint64_t restart, const SweepReport& sweep)>;

/// A function that receives the model with its data before it is compiled.
using OnBound = std::function<void(const BoundModel& bound)>;

/// A finished fit.
struct WholeFit {
  TracedRun run;                             // the best run; of a sampler, its posterior has the moments of all chains
  std::vector<NamedArray> global = {};       // parameters of all factors but those of items; of a sampler, the moments
  std::vector<std::string> elbo_notes = {};  // what the ELBO leaves out or bounds
  std::vector<Diagnostic> warnings = {};     // about data, the best run, and restarts that failed
  std::optional<std::pair<double, double>> log_evidence = {};  // estimate and standard error, of parallel tempering
  nlohmann::json summary = {};                                 // contents of fit.json without warnings
  LabelledArrays draws = {};                                   // of a sampler; no groups for other methods
};

/// Binds data to a model for a fit (bind_and_analyse). Data for which the model cannot be analysed are an error of
/// ExitCode::model with the rendered diagnostics.
Result<BoundModel> bind_for_fit(const Source& source, const model::Model& resolved, const Analysed& complete,
                                const Settings& settings, Dataset dataset, FitCache* cache = nullptr);

/// Fits data. `cache` has what fits of the same task share; null: nothing. `threads` are those of this fit, 0 for one a
/// processor; they replace `task.how.threads`. Errors name options as the command line does ("save-locals"), behind
/// markers (option()). A restart that fails numerically is a warning, and an error only if no restart starts.
Result<WholeFit> fit_whole(const FitTask& task, Dataset dataset, std::size_t threads, FitCache* cache,
                           const OnRestartSweep& on_sweep, const OnBound& on_bound = {});

}  // namespace lehr
