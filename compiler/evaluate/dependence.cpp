// Reachability in the graph of a model, by depth-first search from a statement to the variables that it names.
#include "compiler/evaluate/dependence.h"

#include <algorithm>

#include "compiler/model/walk.h"

namespace lehr {

using namespace model;

std::vector<bool> ancestors(const Model& m, const Statement& s) {
  std::vector<bool> out(m.variables.size(), false);
  std::vector<const Statement*> todo{&s};
  while (!todo.empty()) {
    const Statement& at = *todo.back();
    todo.pop_back();
    for (const VariableRef* ref : references_under(m, roots_of(at))) {
      if (out[ref->variable.index()]) continue;
      out[ref->variable.index()] = true;
      // An observed variable separates the statement from what lies behind it.
      if (!m[ref->variable].observed) todo.push_back(&m[m[ref->variable].statement]);
    }
  }
  return out;
}

std::vector<bool> single_observation_variables(const Model& m) {
  std::vector<std::size_t> users(m.variables.size()), covered(m.variables.size());
  for (const Statement& s : m.statements) {
    if (!m[s.variable].observed) continue;
    // `users` counts the observed statements that depend on a variable, `covered` those whose axes are among its axes.
    const std::vector<bool> above = ancestors(m, s);
    for (std::size_t k = 0; k < above.size(); ++k) {
      const std::vector<PlateId>& axes = m.variables[k].axes;
      const auto has = [&](PlateId p) { return std::ranges::find(axes, p) != axes.end(); };
      users[k] += above[k];
      covered[k] += above[k] && std::ranges::all_of(m[s.variable].axes, has);
    }
  }
  std::vector<bool> out;
  for (std::size_t k = 0; k < users.size(); ++k)
    out.push_back(is_latent(m.variables[k]) && users[k] == 1 && covered[k] == 1);
  return out;
}

}  // namespace lehr
