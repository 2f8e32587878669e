// What a run tells of itself besides its posterior: an alternative for every method that has something to tell.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "runtime/methods/auto_svi.h"

namespace lehr {

/// What a user should know of a run that looks well.
struct Caution {
  std::string text;
  std::vector<std::string> notes;
};

struct TemperingReport : TemperReport {
  std::vector<double> temperatures;  // geometric from 1 to the hottest
  std::string normaliser;            // "exact", "prior" or "posterior"
  std::vector<double> log_c, error;  // at the start; error: Monte Carlo standard errors, empty otherwise
  bool local = false;                // a temperature for each item
  bool finished = false;             // a phase at temperature 1 follows
};

using Report = std::variant<std::monostate, AutoReport, ProbeReport, TemperingReport>;

/// The entries of fit.json: "annealing" or "tempering".
nlohmann::json to_json(const Report& report);
/// Lines for the terminal; may be empty.
std::string describe(const Report& report, const Outcome& outcome);
std::vector<Caution> cautions(const Report& report);

}  // namespace lehr
