// Plates whose elements a latent category chooses among and that could change places: no term of the log joint tells
// them apart, but for stick-breaking weights, which know their order.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

struct Exchangeable {
  model::PlateId plate;
  std::vector<BlockId> categories;  // of the items: their values are its elements
  bool ordered = false;             // by stick-breaking
};

/// Read from the terms. A plate is left out where a term has data that are indexed by it, names one of its elements or
/// one that data name, its neighbours or its number, and where nothing global belongs to its elements.
std::vector<Exchangeable> exchangeable_plates(const model::Model& m, const Schedule& s);

}  // namespace lehr::schedule
