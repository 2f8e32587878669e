// Multiplicities of elements.
#include "compiler/evaluate/observation.h"

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

}  // namespace lehr
