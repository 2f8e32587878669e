// Sums over several discrete elements of a product of functions of few of them: elements are summed out one after
// another (Zhang & Poole 1994), in an order that keeps the tables small.
#pragma once
#include <cstddef>
#include <vector>

namespace lehr {

/// A function of discrete elements, by their numbers in ascending order; the last one's values are fastest.
struct LogTable {
  std::vector<std::size_t> scope;
  std::vector<double> values;
};

struct EliminationOrder {
  std::vector<std::size_t> elements;
  double entries = 0;  // of all tables that are formed on the way; infinity: one of them has more than `most`
};

/// `scopes`: of the functions; `states`: how many values each element has. The element whose sum needs the smallest
/// table comes first.
EliminationOrder elimination_order(const std::vector<std::vector<std::size_t>>& scopes,
                                   const std::vector<std::size_t>& states, double most);

/// log of the sum over all elements of the product.
double log_sum_product(std::vector<LogTable> tables, const std::vector<std::size_t>& states,
                       const EliminationOrder& order);

}  // namespace lehr
