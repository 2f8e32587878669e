// The posterior of each variable as flat arrays of means, standard deviations and intervals: the input of all plots of
// a report.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/math/family.h"
#include "runtime/output/saved_fit.h"

namespace lehr::report {

/// Posterior means, standard deviations and intervals of one variable, from which its plots are made; row-major over
/// `shape`. Of a category these are the probabilities of its values, which lie along the last axis.
struct PosteriorSummary {
  const SavedVariable* variable = nullptr;  // the variable in the saved fit
  std::vector<std::string> axes;            // plate of each axis; event axes (of vectors, matrices) come last
  std::vector<std::int64_t> shape;          // extent of each axis; a nested plate and its parent share one
  std::size_t event = 0;                    // how many of `axes` are event axes: 1 for vectors, 2 for matrices
  std::vector<double> mean;                 // posterior mean of each scalar
  /// Standard deviations, 5 % and 95 % quantiles. A vector is empty if no scalar has such a value; an element is NaN if
  /// this scalar has none. Variables with more than 5,000 scalars have no quantiles, unless the fit has stored draws.
  std::vector<double> sd, low, high;
  math::Support support = math::Support::real;  // the set of values that the variable can have
  std::vector<double> total;                    // sum of the pseudo-counts of each Dirichlet; empty for other families

  /// Returns the number of scalars.
  std::size_t size() const { return mean.size(); }
  /// Returns true if the numbers are probabilities that sum to 1 along the last axis.
  bool is_simplex() const { return support == math::Support::simplex || support == math::Support::category; }
  /// Returns the extent of the last axis; 1 for a single number without axes.
  std::size_t last_extent() const { return shape.empty() ? 1 : static_cast<std::size_t>(shape.back()); }
};

/// Returns the posterior summaries of all variables of a fit, in its order, and the names of the variables that have
/// none because their factors were not saved. Joint variables are left out, because their members are included; so are
/// variables without elements.
std::pair<std::vector<PosteriorSummary>, std::vector<std::string>> posterior_summaries(const SavedFit& fit);

/// The weight below which mixture components are left out of most plots, since they are close to their priors.
inline constexpr double kMinShownWeight = 0.005;

/// The order and the names in which a plot shows the elements of a variable. If the elements lie along one axis and
/// have weights, the heaviest come first and the names include the weights.
struct ShownElements {
  std::vector<std::size_t> order;  // positions of the elements, in the order to show them
  std::vector<std::string> names;  // name of each element, by position
  std::size_t omitted = 0;         // number of components left out, with weights below kMinShownWeight

  /// Returns a sentence for the caption about the components that are left out; empty if there are none.
  std::string omission_note() const;
};
/// Orders and names the elements of `n` for a plot. They lie along all axes but the last `inner` ones: inner = 1 gives
/// one element for each vector, 0 one for each scalar. If the elements are components, their weights are those of the
/// mixture. Otherwise, for inner = 1 and a variable with Dirichlet factors, they are the total concentrations of the
/// factors, divided by their sum. Elements of a simplex with inner = 0 are weights themselves and are only ordered.
ShownElements shown_elements(const SavedFit& fit, const PosteriorSummary& n, std::size_t inner);

}  // namespace lehr::report
