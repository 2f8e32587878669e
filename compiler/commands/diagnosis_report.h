// What `lehr diagnose` found, as text and as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compiler/fitting/importance.h"
#include "compiler/fitting/item_solution.h"
#include "compiler/fitting/linear_response.h"
#include "compiler/fitting/pareto.h"
#include "compiler/fitting/predictive_checks.h"

namespace lehr::commands {

struct Diagnosed {
  std::string model;
  std::int64_t draws = 0;
  ItemSolution items;
  ParetoDiagnosis pareto;
  ImportanceRatios ratios;  // which variables
  std::string no_ratios;    // why there are none
  LinearResponse response;
  std::string no_response;
  PredictiveChecks predictive;
};

std::string to_text(const Diagnosed& d);
/// Numbers that are not finite become null.
nlohmann::json to_json(const Diagnosed& d);

}  // namespace lehr::commands
