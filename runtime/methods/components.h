// Components: the values of a latent category that could change places, or of a chain of them, and where in the memory
// of an engine each of them is.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/methods/engine.h"

namespace lehr {

/// One row an element, standardised; no columns: nothing was observed of them.
struct Features {
  std::size_t columns = 0;
  std::vector<double> values;
};

/// A buffer with axes over the components.
struct ComponentArray {
  using Kind = machine::ComponentKind;
  Kind kind;
  std::int64_t buffer;
  std::vector<std::size_t> axes;  // positions
};

/// A category whose values are components.
struct Allocation {
  std::int64_t step = -1;    // turn of the sweep: its items are what a split divides; -1: the elements of `buffer`
  std::int64_t buffer = -1;  // its probabilities
  std::int64_t sums = -1;    // turn that adds up statistics of these; -1: none does
  bool chain = false;        // elements follow each other
  std::function<Features()> features;
};

struct Components {
  std::string name;  // of the plate
  std::size_t count = 0;
  bool ordered = false;     // stick-breaking weights: their order is part of the bound
  bool told_apart = false;  // by data: they do not change places, and only neighbours merge
  std::vector<ComponentArray> arrays;
  std::vector<ComponentArray> counts;                        // statistics that count elements, or responsibilities
  std::vector<std::pair<std::int64_t, std::int64_t>> heads;  // sums over all components but the last; over all
  std::vector<Allocation> allocations;
};

/// Those of the engine's model that have two values at least. They refer to the engine.
std::vector<Components> components_of(const Engine& engine);

}  // namespace lehr
