// fit.json: what was fitted, how, and what came of it.
#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "compiler/fitting/fitting.h"
#include "compiler/fitting/left_to_gain.h"
#include "compiler/model/bind.h"
#include "runtime/array.h"

namespace lehr {

/// What was asked for, as fit.json repeats it.
struct FitRequest {
  std::string model_file, model_text, command;
  std::string method, anneal, temper;  // as they are typed
  std::uint64_t seed = 1;
  std::vector<std::string> test = {};  // bindings of held-out data
  std::vector<std::string> data = {};  // those of the data, where they are files
  bool drop_missing = false;           // of which items with missing values were left out
  std::string prior = {};              // directory of the fit whose posterior is the prior,
  double keep = 1;                     // to this power
  std::string precision = "double";    // or float
  bool locals = false;                 // factors of single items are written, too
};

/// A row of trace.csv; iteration 0 is the start.
struct TraceRow {
  std::int64_t iteration = 0;
  double seconds = 0, elbo = 0, temperature = 1, objective = 0;
  double held_out = std::numeric_limits<double>::quiet_NaN();  // nats an observation, where it was measured
};

/// One run and what is written of it besides its posterior.
struct TracedRun : FitRun {
  std::deque<TraceRow> trace;
  std::optional<double> held_out;  // of --test: nats an observation at the end
  std::optional<LeftToGain> left;  // of coordinate ascent that --max-iter stopped
  bool started = true;             // false: a numerical failure before the first sweep, and nothing to write
};

struct FitTimes {
  double compile = 0, total = 0;  // seconds
};

/// Cautions as fit.json has them: what each says, and its notes.
nlohmann::json to_json(const std::vector<Caution>& cautions);

/// `best` is one of `runs`, whose posteriors are not looked at; `interrupted`: the user ended the fit early.
nlohmann::json fit_summary(const FitRequest& request, const model::Model& m, const conditionals::Conditionals& c,
                           const BoundData& data, const TracedRun& best, const std::vector<TracedRun>& runs,
                           bool interrupted, FitTimes times);

}  // namespace lehr
