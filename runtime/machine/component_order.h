// Says whether the components of a mixture or chain may be permuted. The compiler stores the answer in the model's
// tables (ComponentsRow::ordered), and moves of components (runtime/search/moves.cpp) obey it.
#pragma once
#include <cstdint>

namespace lehr::machine {

/// Whether the components of one plate have an order, and so which permutations of them are allowed.
enum class ComponentOrder : std::int64_t {
  none,          // no order: components are exchangeable, and every permutation leaves the ELBO as it is
  by_size,       // stick-breaking weights: every permutation is allowed but changes the ELBO; falling size is preferred
  distinguished  // no permutation is allowed: the data name components, or a chain's transitions distinguish neighbours
};

}  // namespace lehr::machine
