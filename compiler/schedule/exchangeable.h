// Plates whose elements a latent category chooses among and that could change places: no term of the log joint tells
// them apart, but for stick-breaking weights, which know their order. Beside them those of chains that data tell apart,
// such as states that follow each other by their concentrations: they cannot change places, but neighbours can merge.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

struct Exchangeable {
  model::PlateId plate;
  std::vector<BlockId> categories;  // of the items: their values are its elements
  bool ordered = false;             // by stick-breaking
  bool told_apart = false;          // by data that are indexed by it
};

/// Read from the terms. A plate is left out where a term names one of its elements, one that data name, or its
/// neighbours, and where nothing global belongs to its elements. Where a term has data that are indexed by
/// it, it is told apart, and left out unless a chain of categories without sticks has its elements as values.
std::vector<Exchangeable> exchangeable_plates(const model::Model& m, const Schedule& s);

}  // namespace lehr::schedule
