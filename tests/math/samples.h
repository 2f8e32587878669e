// What the family tests need of a row, for any row: parameters, draws as environments, values of statistics.
#pragma once
#include <vector>

#include "compiler/math/evaluate.h"
#include "runtime/rng.h"

namespace lehr::math::test {

/// Size of the event axis the tests use for this row: 1 for scalars, 3 for vectors without a matrix,
/// otherwise 2.
std::size_t test_extent(const FamilyRow& row);

/// Canonical density parameters, random within their domain, which the name tells: `mean` is any real, `p` a
/// probability or a simplex, `n` a count, `df` exceeds the extent, everything else is positive. Sets 0 and 1
/// have positive values above and around 1.
inline constexpr int kParameterSets = 2;
Environment sample_parameters(const FamilyRow& row, int set);

/// The numbers of a draw as symbols x and (joint families) x_precision.
std::map<std::string, Quantity> as_value(const FamilyRow& row, std::vector<double> values, std::size_t extent);

/// One draw of the row under `parameters`, likewise.
std::map<std::string, Quantity> draw_value(const FamilyRow& row, const Environment& parameters, Rng& rng);

/// Value of a statistic at x, all event components row-major, one number for rank 0.
std::vector<double> statistic(Stat stat, const std::map<std::string, Quantity>& x, std::size_t extent);

}  // namespace lehr::math::test
