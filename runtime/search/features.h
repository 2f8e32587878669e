// Computes feature columns of elements from the data that describe them, and clusters elements by these columns. Starts
// use the clusters, and moves of components use the features.
#pragma once
#include <Eigen/Dense>

#include "runtime/inference/engine.h"

namespace lehr {

/// A matrix of features in row-major order: one row an element, one column a feature.
using Columns = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns the features of the elements of a subject (an index of Model::subjects), each column standardised to mean 0
/// and variance 1; constant columns are 0. Categories, and more than 256 numbers of each element in one array, are
/// hashed to 256 columns (Weinberger et al. 2009). Nodes of a network have places by their ties (ties.h). With
/// `covariates`, givens of the elements are included. The result has neither rows nor columns if nothing was observed.
Columns features_of(const Engine& engine, std::int64_t subject, bool covariates);

/// Clusters elements by their features for a random start: returns a number 0 .. k - 1 for each row of `x`, by Lloyd's
/// k-means algorithm from k-means++ seeds (Arthur & Vassilvitskii 2007). The result is empty if there are no rows or
/// columns.
std::vector<std::int64_t> cluster(const Columns& x, std::int64_t k, Rng& rng);

}  // namespace lehr
