// Says whether the components of a mixture or chain may be permuted. The compiler stores the answer in the model's
// tables (ComponentsRow::ordered), and moves of components (runtime/search/moves.cpp) obey it.
#pragma once
#include <cstdint>

namespace lehr::machine {

/// The permutations of the components of one plate that leave the model as it is.
enum class ComponentOrder : std::int64_t {
  none,          // all permutations: components are exchangeable
  by_size,       // stick-breaking weights: a permutation changes the ELBO, and the order by falling size is preferred
  distinguished  // no permutation: the data name components, or a chain's transitions distinguish neighbours
};

}  // namespace lehr::machine
