// Columns of numbers that tell elements apart, from what was observed of them.
#pragma once
#include <Eigen/Dense>

#include "runtime/methods/engine.h"

namespace lehr {

using Columns = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// One row an element of the subject, columns standardised, hashed to at most 256 of one source; with `covariates`,
/// what was given beside them too. No columns where nothing was observed.
Columns columns_of(const Engine& engine, std::int64_t subject, bool covariates);

/// Clusters 0 .. k - 1 of the elements by these columns: Lloyd's algorithm from k-means++ seeds (Arthur &
/// Vassilvitskii 2007). Empty where there are none.
std::vector<std::int64_t> cluster(const Columns& x, std::int64_t k, Rng& rng);

}  // namespace lehr
