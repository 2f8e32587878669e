// Evaluates formulas of numbers at many values of their symbols together, column by column.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/math/family.h"

namespace lehr::math {

/// The values of the symbols of a formula for many rows of a table, by name: one number that holds for all rows, or one
/// for each row. log_densities() evaluates a density at all rows at once.
using Columns = std::map<std::string, std::vector<double>>;

/// Returns log p(x | parameters) of one x for each of `rows` sets of parameters, as log_density() does for one set.
/// `spelled` has the parameters by the names that the user typed; one that is missing is NaN. Returns nothing if a
/// parameter is a vector or matrix, or if the log density has indices, sums over the event axis, or its size.
std::optional<std::vector<double>> log_densities(const FamilyRow& row, const Columns& spelled, double x,
                                                 std::size_t rows);

}  // namespace lehr::math
