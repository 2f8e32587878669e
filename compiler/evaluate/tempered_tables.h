// Factors of a tempered density over discrete elements, tabulated at several temperatures together, and sums over such
// elements.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "compiler/evaluate/forward.h"

namespace lehr {

/// The logarithm of one quantity, such as a factor of a density or a normaliser, at each of several temperatures, in
/// the order of the temperatures.
using Logs = std::vector<double>;

/// The limit of sums in the tempered normaliser: no table over the joint values of discrete elements may have more
/// entries. A model that needs a larger table is refused.
constexpr double kMostStates = 1 << 20;

/// A factor of a tempered density, as a table over the discrete elements that it depends on, at several temperatures.
/// The tempered normaliser is a sum over the product of such tables.
struct TemperedTable {
  std::vector<Element> dims;        // the elements that the factor depends on
  std::vector<std::size_t> states;  // how many values each of them has
  std::vector<Logs> logs;  // the logarithm for every assignment of values (the last element fastest), by temperature

  /// Returns the number of assignments of values to `dims`: the product of `states`, which may be huge.
  double assignments() const;
  /// Returns true if both have the same elements in the same order, and the same numbers.
  bool operator==(const TemperedTable&) const = default;
};

/// Calls `visit` for every assignment of values to the dimensions of the table, in the order of TemperedTable::logs:
/// the last dimension fastest. Its argument is the number of each dimension's value, from 0. A table without dimensions
/// has one assignment, which is empty.
void each_assignment(const TemperedTable& table, const std::function<void(const std::vector<std::size_t>&)>& visit);

/// Sums the elements for which `wanted` holds out of the product of `tables`, at every temperature, by variable
/// elimination. What is left replaces the tables: tables over the other elements, and as the last a table without any.
/// `temperatures` is the number of temperatures in each table. Returns the element at which a table would have more
/// than kMostStates entries, and then leaves the tables as they are; nothing otherwise.
std::optional<Element> sum_out(std::vector<TemperedTable>& tables, const std::function<bool(Element)>& wanted,
                               std::size_t temperatures);

}  // namespace lehr
