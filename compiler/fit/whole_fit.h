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
  const Source& source;       // name and text of the model, for messages
  model::Model resolved;      // the model as read() made it, with the guide that is asked for
  const Analysed& complete;   // its analysis for data without missing values
  const Settings& settings;   // constants, sizes and labels with which data are bound
  FitSettings how;            // method, start and execution
  FitRequest request;         // the user's options as fit.json repeats them
  std::int64_t restarts = 1;  // number of runs from different starts; the best is the result
};

/// A function that is called after every sweep of a restart; may be empty. It returns false to cancel the fit, which
/// then returns the best run so far.
using OnRestartSweep = std::function<bool(std::uint64_t restart, const SweepReport& sweep)>;

/// A function that receives the model with its bound data before it is compiled, for callers that need labels and sizes
/// after the data are dropped.
using OnBound = std::function<void(const BoundModel& bound)>;

/// A finished fit: the best run of all restarts, and what is reported of it to the user.
struct WholeFit {
  TracedRun run;  // the best run; of a sampler, its posterior has the moments of all chains
  /// Parameters of the factors of global variables; of a sampler, the moments of all draws.
  std::vector<NamedArray> global = {};
  /// Notes on how the ELBO differs from the exact one: local bounds (logistic links, softmax, absolute values), and the
  /// constant that improper priors lack.
  std::vector<std::string> elbo_notes = {};
  std::vector<Diagnostic> warnings = {};  // about the data, the best run, and restarts that failed
  /// Log evidence and its standard error, of parallel tempering only.
  std::optional<std::pair<double, double>> log_evidence = {};
  nlohmann::json summary = {};  // contents of fit.json, without warnings and checksums of files
  LabelledArrays draws = {};    // draws of a sampler; no groups for other methods
};

/// Binds data to a model and analyses the model for them (bind_and_analyse), with all failures as an Error: data for
/// which the model cannot be analysed are one of ExitCode::model with the rendered diagnostics.
Result<BoundModel> bind_for_fit(const Source& source, const model::Model& resolved, const Analysed& complete,
                                const Settings& settings, Dataset dataset, FitCache* cache = nullptr);

/// Fits a model to data from several starts and returns the best run with its summary. `cache` has what fits of the
/// same task share; null: nothing. `threads` are those of this fit, 0 for one a processor; they replace
/// `task.how.threads`. Errors name options as the command line does ("save-locals"), behind markers (option()). A
/// restart that fails numerically is a warning, and an error only if no restart starts.
Result<WholeFit> fit_whole(const FitTask& task, Dataset dataset, std::size_t threads, FitCache* cache,
                           const OnRestartSweep& on_sweep, const OnBound& on_bound = {});

}  // namespace lehr
