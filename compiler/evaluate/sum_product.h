// Sums over several discrete variables of a product of factors that depend on few of them each: variable elimination
// (Zhang & Poole 1994), in a greedy order that keeps the tables small. Here the variables are called elements.
#pragma once
#include <cstddef>
#include <vector>

namespace lehr {

/// A factor of the product: its logarithm, tabulated over the elements in its scope.
struct LogTable {
  std::vector<std::size_t> scope;  // numbers of the elements, ascending
  std::vector<double> values;      // row-major, the last element of the scope fastest
};

/// An order in which variable elimination sums discrete elements out, and the total size of the tables that it forms.
struct EliminationOrder {
  std::vector<std::size_t> elements;  // in the order of elimination
  double entries = 0;  // total entries of all tables that this forms; infinite if one table exceeds the limit
};

/// Chooses an elimination order: the element whose elimination forms the smallest table comes next. `scopes` are those
/// of the factors, `states` the number of values of each element, `most` the largest table allowed.
EliminationOrder elimination_order(const std::vector<std::vector<std::size_t>>& scopes,
                                   const std::vector<std::size_t>& states, double most);

/// Returns the log of the sum, over all values of all elements, of the product of the tables. `order` contains every
/// element.
double log_sum_product(std::vector<LogTable> tables, const std::vector<std::size_t>& states,
                       const EliminationOrder& order);

}  // namespace lehr
