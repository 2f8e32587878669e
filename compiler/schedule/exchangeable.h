// Plates of components (clusters, topics, states) whose elements could change places without changing the model.
//
// The search merges, splits and removes such components. Two components are exchangeable if no term of the log joint
// distinguishes them. Components with stick-breaking weights are accepted too, although these weights depend on the
// order of the components. States of a chain that data distinguish, for example by concentrations for each pair of
// states, cannot change places, but neighbours can be merged.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// A plate of mixture components (clusters, topics, states) that the search over solutions may merge, split and remove.
/// Any permutation of its elements leaves the log joint unchanged, unless `ordered` or `distinguished` is true.
struct Exchangeable {
  /// The plate whose elements are the components (clusters, topics, states).
  model::PlateId plate;
  /// The local blocks (Schedule::local) that are latent categories with elements of the plate as their values.
  std::vector<BlockId> categories;
  /// True if stick-breaking weights give the components an order.
  bool ordered = false;
  /// True if data that are indexed by the plate distinguish the components.
  bool distinguished = false;
};

/// Finds the plates of mixture components (clusters, topics, states) that the search over solutions may merge, split
/// and remove, from the terms of the log joint. A plate of components is not nested, some local category chooses its
/// elements, and some global block has an axis over it. It is left out if a term names one of its elements (by a
/// constant, by data or as a neighbour). A plate that data distinguish is left out unless all its categories are chains
/// and it has no stick-breaking weights.
std::vector<Exchangeable> exchangeable_plates(const model::Model& m, const Schedule& s);

}  // namespace lehr::schedule
