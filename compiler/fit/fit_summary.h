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

/// What the user asked for, as fit.json repeats it.
struct FitRequest {
  /// Path and text of the model, and the command line.
  std::string model_file, model_text, command;
  /// The options --method, --anneal and --temper as they were typed.
  std::string method, anneal, temper;
  std::uint64_t seed = 1;              // seed of all random numbers
  std::vector<std::string> test = {};  // bindings of held-out data (--test)
  std::vector<std::string> data = {};  // bindings of the data that are files
  bool drop_missing = false;           // true if items with missing values were left out
  std::string prior = {};            // directory of the fit whose posterior is the prior; empty: the model's own prior
  double prior_power = 1;            // the power to which that posterior was raised
  std::string precision = "double";  // precision of the items' computation: "double" or "float"
  bool locals = false;               // true if the factors of local variables are written
};

/// A row of trace.csv: the state after one iteration. Iteration 0 is the start.
struct TraceRow {
  std::int64_t iteration = 0;  // number of the sweep or step; 0: the start
  /// Seconds since the fit began, ELBO in nats, temperature, and the objective that the method maximises.
  double seconds = 0, elbo = 0, temperature = 1, objective = 0;
  double held_out =
      std::numeric_limits<double>::quiet_NaN();  // nats per held-out observation; NaN: not measured in this iteration
};

/// A run with what fit.json and trace.csv contain of it.
struct TracedRun : FitRun {
  std::deque<TraceRow> trace;         // the rows of trace.csv for this run
  std::optional<double> held_out;     // nats per observation of --test at the end
  std::optional<RemainingGain> left;  // if the iteration limit stopped an ascent: what it would still gain
  bool started = true;                // false: Fitting::start() failed numerically, so there was no sweep
};

/// How long a fit took.
struct FitTimes {
  /// Seconds until the model was compiled for the data (binding and analysis included), and of the whole fit.
  double compile = 0, total = 0;
};

/// Converts warnings to a JSON list of objects with "text" and "notes".
nlohmann::json to_json(const std::vector<Diagnostic>& warnings);

/// Makes the contents of fit.json. `best` is one of `runs`; of the other runs only the outcomes are listed.
/// `interrupted`: the user ended the fit early.
nlohmann::json fit_summary(const FitRequest& request, const model::Model& m, const conditionals::Conditionals& c,
                           const BoundData& data, const TracedRun& best, const std::vector<TracedRun>& runs,
                           bool interrupted, FitTimes times);

/// Returns true if a fit with this fit.json took expectations of links (--links gaussian).
bool has_gaussian_links(const nlohmann::json& summary);
/// Returns the names of the joint variables of a fit with this fit.json.
std::vector<std::string> joint_names(const nlohmann::json& summary);
/// Returns the model with the guide of a saved fit: the joint factors that `posterior` or the summary has
/// (with_joint_factors_of), and expectations of links if the fit or the model takes them.
model::Model with_guide_of(const model::Model& m, const std::vector<NamedArray>& posterior,
                           const nlohmann::json& summary);

}  // namespace lehr
