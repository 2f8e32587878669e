// Multiplicities of elements, and what the compiler has added to observations.
#include "compiler/evaluate/observation.h"

#include "compiler/evaluate/limits.h"

namespace lehr {

using namespace model;

double multiplicity_of(const Model& m, const BoundData& data, const Statement& s, const IndexValues& at) {
  double out = 1;
  for (const IndexVarId b : s.index_vars) {
    const Plate& plate = m[m[b].plate];
    if (plate.times) out *= data.givens[plate.times->index()].values[static_cast<std::size_t>(at[b.index()])];
  }
  return out;
}

Model with_whole_compounds(Model m) {
  for (Statement& s : m.statements) {
    if (m[s.variable].observed) s.main = Distribution(as_written(s.main));
  }
  return m;
}

std::vector<bool> added_to_observations(const Model& m) {
  std::vector<bool> out(m.variables.size());
  for (const Statement& s : m.statements) {
    const std::optional<VariableId> added = m[s.variable].observed ? added_variable(m, s) : std::nullopt;
    if (added) out[added->index()] = true;
  }
  return out;
}

}  // namespace lehr
