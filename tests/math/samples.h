// Parameters, draws and statistics for tests that loop over all rows of the family table.
#pragma once
#include <vector>

#include "compiler/math/evaluate.h"
#include "runtime/rng.h"

namespace lehr::math::test {

/// Returns the size of the event axis in tests of this row: 1 for scalars, 3 for vectors, 2 if a matrix is involved.
std::size_t test_extent(const FamilyRow& row);

/// Number of parameter sets that sample_parameters has for each family.
inline constexpr int kParameterSets = 2;
/// Returns random parameters of the density within their domain, which follows from their name. `mean` is any real, `p`
/// a probability or a simplex, `n` a count, `df` exceeds the extent, all others are positive. Set 0 has positive values
/// above 1, set 1 around 1.
Environment sample_parameters(const FamilyRow& row, int set);

/// Returns the numbers of a draw as the symbol x, and for joint families also x_precision.
std::map<std::string, Quantity> as_value(const FamilyRow& row, std::vector<double> values, std::size_t extent);

/// Returns one draw from the family with these parameters, as the symbols of as_value.
std::map<std::string, Quantity> draw_value(const FamilyRow& row, const Environment& parameters, Rng& rng);

/// Returns the value of a sufficient statistic at x: all its elements row-major, one number if it is a scalar.
std::vector<double> statistic(Stat stat, const std::map<std::string, Quantity>& x, std::size_t extent);

}  // namespace lehr::math::test
