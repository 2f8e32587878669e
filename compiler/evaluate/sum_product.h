// Sums over several discrete variables of a product of factors that depend on few of them each: variable elimination
// (Zhang & Poole 1994), in a greedy order that keeps the tables small. Here the variables are called elements.
#pragma once
#include <cstddef>
#include <vector>

namespace lehr {

/// The logarithm of a factor at all joint values of the discrete elements in its scope. Several products, for example
/// one for each temperature, can be summed side by side: the table then has the factor of each of them.
struct LogTable {
  std::vector<std::size_t> scope;  // numbers of the elements, ascending
  /// [joint value, product]: row-major over the scope, its last element fastest. Each joint value has one logarithm for
  /// each product, so there is one if there is a single product.
  std::vector<double> values;
};

/// An order in which variable elimination sums discrete elements out, and the total size of the tables that it forms.
/// If one table exceeds the limit, `elements` ends with the element that would form it, and `entries` is infinite.
struct EliminationOrder {
  std::vector<std::size_t> elements;  // numbers of the elements, in the order of elimination
  double entries = 0;  // total entries of all tables that this forms; infinite if one table exceeds the limit
};

/// Chooses an elimination order: the element whose elimination forms the smallest table comes next; if a table is then
/// too large, the order of the elements' numbers is tried. `scopes` are those of the factors, `states` the number of
/// values of each element, `most` the largest number of entries of a table. Elements marked in `retained` are not
/// eliminated; if it is empty, all are.
EliminationOrder elimination_order(const std::vector<std::vector<std::size_t>>& scopes,
                                   const std::vector<std::size_t>& states, double most,
                                   const std::vector<bool>& retained = {});

/// Sums all elements in `order` out of the product of `tables`, by variable elimination. Returns tables over the other
/// elements, whose product is the sum; the last one has the part that depends on no element. All tables have logarithms
/// of as many `products`.
///
/// Tables are multiplied as numbers, scaled by their largest, where no product of entries can be too small for a
/// number; otherwise as logarithms.
std::vector<LogTable> eliminate(std::vector<LogTable> tables, const std::vector<std::size_t>& states,
                                const EliminationOrder& order, std::size_t products = 1);

/// Returns the log of the sum, over all values of all elements, of the product of the tables. `order` contains every
/// element.
double log_sum_product(std::vector<LogTable> tables, const std::vector<std::size_t>& states,
                       const EliminationOrder& order);

}  // namespace lehr
