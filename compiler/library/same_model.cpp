// Whether a fit is one of this program's model.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/library/impl.h"

namespace lehr {
namespace {

using model::PlateId;

nlohmann::json names(const model::Model& m, const std::vector<PlateId>& plates) {
  nlohmann::json out = nlohmann::json::array();
  for (const PlateId p : plates)
    out.push_back(m[m[p].set].name);
  return out;
}

/// Auxiliary variables have names that the language has not.
bool is_auxiliary(const std::string& name) { return name.find_first_of(".(") != std::string::npos; }

/// The first variable that only one of them has, or that does not lie on the same plates in both; empty: there is none.
std::string difference(const model::Model& m, const nlohmann::json& fitted) {
  for (const model::Variable& v : m.variables) {
    if (v.observed || v.auxiliary) continue;
    std::vector<PlateId> event = v.event;
    if (v.value_plate) event.push_back(*v.value_plate);
    const auto found = fitted.find(v.name);
    if (found == fitted.end() || found->at("axes") != names(m, v.axes) || found->at("event") != names(m, event))
      return v.name;
  }
  for (const auto& [name, unused] : fitted.items())
    if (!is_auxiliary(name) && std::ranges::find(m.variables, name, &model::Variable::name) == m.variables.end())
      return name;
  return "";
}

}  // namespace

std::optional<Error> other_model(const Program::Impl& program, const Fit::Impl& fit) {
  if (fit.summary.empty()) return std::nullopt;  // of a built object, which says itself what it is of
  const nlohmann::json summary = nlohmann::json::parse(fit.summary);
  const std::string of = summary.value("model", std::string());
  const std::string variable = difference(program.resolved, summary.value("variables", nlohmann::json::object()));
  if (variable.empty()) return std::nullopt;
  return Error{ExitCode::data,
               "",
               fmt::format("the fit is one of another model, '{}': the two differ in '{}'", of, variable),
               {"give a fit of this model"}};
}

}  // namespace lehr
