// The results of `lehr diagnose` as text for the terminal and as JSON (diagnosis.json).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compiler/diagnose/importance.h"
#include "compiler/diagnose/pareto.h"
#include "compiler/diagnose/predictive_checks.h"
#include "compiler/fit/item_solution.h"
#include "compiler/fit/linear_response.h"

namespace lehr::commands {

/// All results of `lehr diagnose` for one variational fit: how far its posterior q is from the true one.
struct Diagnosed {
  std::string model;                    // name of the model
  std::int64_t draws = 0;               // number of draws from q for the importance ratios
  ItemSolution items;                   // how local variables were inferred again for the diagnosis
  ParetoDiagnosis pareto;               // Pareto k-hat of the importance ratios of draws from q
  ParetoDiagnosis widened;              // k-hat of draws from q with the wider standard deviations by linear response
  bool has_widened = false;             // true if `widened` has been computed; else it means nothing
  ImportanceRatios ratios;              // the log ratios, and which variables were drawn or summed out
  std::string ratios_missing_reason;    // reason why there are no importance ratios; empty if there are
  LinearResponse response;              // standard deviations by linear response, to compare with those of q
  std::string response_missing_reason;  // reason why there are no results by linear response; empty if there are
  PredictiveChecks predictive;          // posterior predictive checks: the data against data that the fit generates
};

/// Returns the diagnosis as the text that `lehr diagnose` prints: k-hat with a verdict, a table of standard deviations
/// by linear response, and a table of posterior predictive checks. Suspicious values are marked with a star.
std::string to_text(const Diagnosed& d);
/// Returns all numbers of the diagnosis as a JSON object, the content of diagnosis.json. Numbers that are not finite
/// become null.
nlohmann::json to_json(const Diagnosed& d);

}  // namespace lehr::commands
