// The contents of fit.json: what was fitted, how, and with what result. docs/output.md describes the entries for users.
#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/conditionals/conditionals.h"
#include "compiler/fit/checks/left_to_gain.h"
#include "compiler/fit/fitting.h"
#include "runtime/array.h"

namespace lehr {

/// What the user asked for, as fit.json repeats it: model, options and data, none of which the fit itself reads from
/// here.
struct FitRequest {
  /// Path and text of the model file, and the command line. A fit by the library has CompileOptions::name in place of
  /// the path, the text that was compiled, and an empty command line.
  std::string model_file, model_text, command;
  /// The options --method, --anneal and --temper as they were typed or, in the library, as FitOptions has them.
  std::string method, anneal, temper;
  std::uint64_t seed = 1;              // seed of all random numbers
  std::vector<std::string> test = {};  // bindings of held-out data (--test), as typed; empty in the library
  std::vector<std::string> data = {};  // bindings of data to files, as typed; empty in the library
  bool drop_missing = false;           // true if items with missing values were left out
  /// Directory of the fit whose posterior is the prior. Empty if the prior is the model's own, and in the library,
  /// where the fit is in memory.
  std::string prior = {};
  double prior_power = 1;            // the power to which the posterior of the fit in `prior` was raised
  std::string precision = "double";  // precision of the items' computation: "double" or "float"
  bool locals = false;               // true if the factors of local variables are written
};

/// A row of trace.csv: the state of a run after one iteration. Iteration 0 is the start.
struct TraceRow {
  std::int64_t iteration = 0;  // number of the sweep or step; 0: the start
  /// Seconds since the fit began, ELBO in nats, temperature (1: none), and the objective that the method maximises.
  double seconds = 0, elbo = 0, temperature = 1, objective = 0;
  /// Log density of held-out data, in nats per observation; NaN: not measured in this iteration.
  double held_out = std::numeric_limits<double>::quiet_NaN();
};

/// A run with what fit.json and trace.csv contain of it besides its results: the trace, the held-out score, and what it
/// would still gain.
struct TracedRun : FitRun {
  std::deque<TraceRow> trace;  // the rows of trace.csv for this run
  /// Nats per observation of the held-out data (--test) at the end; nothing without such data.
  std::optional<double> held_out;
  std::optional<RemainingGain> left;  // if the iteration limit stopped an ascent: what it would still gain
  bool started = true;                // false: Fitting::start() failed numerically, so there was no sweep
};

/// How long a fit took, for fit.json.
struct FitTimes {
  /// Seconds until the model was compiled for the data (binding and analysis included), and of the whole fit.
  double compile = 0, total = 0;
};

/// Converts warnings to a JSON list of objects with "text" and "notes", as fit.json has it. Options in the texts are
/// named without dashes, as "save-locals"; the markers before them (option()) are removed.
nlohmann::json to_json(const std::vector<Diagnostic>& warnings);

/// Makes the contents of fit.json, but for warnings and checksums of files. `best` is one of `runs`; of the other runs
/// only the outcomes are listed. `interrupted`: the user ended the fit early.
nlohmann::json fit_summary(const FitRequest& request, const model::Model& m, const conditionals::Conditionals& c,
                           const BoundData& data, const TracedRun& best, const std::vector<TracedRun>& runs,
                           bool interrupted, FitTimes times);

/// Returns true if a fit with these contents of fit.json took expectations of links in place of bounds (--links
/// gaussian).
bool has_gaussian_links(const nlohmann::json& summary);
/// Returns the names of the joint factors of a fit with this fit.json, such as "joint(a, b)": variables that the
/// compiler added, each for several variables of the model that share one factor.
std::vector<std::string> joint_names(const nlohmann::json& summary);
/// Returns the model with the guide of a saved fit, so that it has the same factors: the joint factors that `posterior`
/// or the summary has (with_joint_factors_of), and expectations of links if the fit or the model takes them.
model::Model with_guide_of(const model::Model& m, const std::vector<NamedArray>& posterior,
                           const nlohmann::json& summary);

}  // namespace lehr
