// Checks that a fit belongs to a program's model, by the variables that its summary lists.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/library/impl.h"

namespace lehr {
namespace {

using model::PlateId;

/// Returns the names of plates as JSON.
nlohmann::json names(const model::Model& m, const std::vector<PlateId>& plates) {
  nlohmann::json out = nlohmann::json::array();
  for (const PlateId p : plates)
    out.push_back(m[m[p].set].name);
  return out;
}

/// Returns true for the name of an auxiliary variable, which contains characters that the language does not allow.
bool is_auxiliary(const std::string& name) { return name.find_first_of(".(") != std::string::npos; }

/// Returns the first variable that only one of the two has, or that is on other plates; empty if there is none.
std::string difference(const model::Model& m, const nlohmann::json& fitted) {
  for (const model::Variable& v : m.variables) {
    if (v.observed || v.auxiliary) continue;
    std::vector<PlateId> event = v.event;
    if (v.value_plate) event.push_back(*v.value_plate);
    const auto found = fitted.find(v.name);
    const auto has = [&](const char* key, const std::vector<std::string>& wanted) {
      return found->is_object() && found->value(key, nlohmann::json()) == nlohmann::json(wanted);
    };
    if (found == fitted.end() || !has("axes", names(m, v.axes)) || !has("event", names(m, event))) return v.name;
  }
  for (const auto& [name, unused] : fitted.items())
    if (!is_auxiliary(name) && std::ranges::find(m.variables, name, &model::Variable::name) == m.variables.end())
      return name;
  return "";
}

}  // namespace

std::optional<Error> model_mismatch(const Program::Impl& program, const Fit::Impl& fit) {
  if (fit.summary.is_null()) return std::nullopt;  // the state of a built object, which is checked elsewhere
  const nlohmann::json& summary = fit.summary;
  const std::string of = summary.value("model", std::string());
  const std::string variable = difference(program.resolved, summary.value("variables", nlohmann::json::object()));
  if (variable.empty()) return std::nullopt;
  return Error{ExitCode::data,
               "",
               fmt::format("the fit is one of another model, '{}': the two differ in '{}'", of, variable),
               {"give a fit of this model"}};
}

}  // namespace lehr
