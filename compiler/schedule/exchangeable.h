// Plates of components (clusters, topics, states) whose elements could change places without changing the model.
//
// The search merges, splits and removes such components. Two components are exchangeable if no term of the log joint
// distinguishes them; stick-breaking weights may, since they only know an order. States of a chain that data
// distinguish, for example by concentrations for each pair of states, cannot change places, but neighbours can be
// merged.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// A plate of components (clusters, topics, states) that the search may merge, split and remove. Any permutation of its
/// elements leaves the log joint unchanged, unless `ordered` or `distinguished` is true.
struct Exchangeable {
  /// The plate whose elements are the components (clusters, topics, states).
  model::PlateId plate;
  /// The latent categories of the items whose values are elements of the plate.
  std::vector<BlockId> categories;
  /// True if stick-breaking weights give the components an order.
  bool ordered = false;
  /// True if data that are indexed by the plate distinguish the components.
  bool distinguished = false;
};

/// Finds the plates of components, from the terms of the log joint. A plate is left out if a term names one of its
/// elements (by a constant, by data or as a neighbour). So is one for whose elements no global block has elements. A
/// plate that data distinguish is left out unless all its categories are chains and it has no stick-breaking weights.
std::vector<Exchangeable> exchangeable_plates(const model::Model& m, const Schedule& s);

}  // namespace lehr::schedule
