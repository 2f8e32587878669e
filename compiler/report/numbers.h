// The posterior of a variable as the pictures of a report read it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/math/family.h"
#include "runtime/files/saved_fit.h"

namespace lehr::report {

/// Row-major over `shape`; of a category the probabilities of its values, whose axis is the last.
struct Numbers {
  const SavedVariable* variable = nullptr;
  std::vector<std::string> axes;    // plates, one an extent; those of the event last
  std::vector<std::int64_t> shape;  // a nested plate and its parent are one
  std::size_t event = 0;            // how many of the axes are the event's
  std::vector<double> mean;
  std::vector<double> sd, low, high;  // of 5 and 95 %; empty where there are none, NaN where a number has none
  math::Support support = math::Support::real;
  std::vector<double> total;  // of simplexes with pseudo-counts: their sums

  std::size_t size() const { return mean.size(); }
  bool is_simplex() const { return support == math::Support::simplex || support == math::Support::category; }
  /// Extent of the last axis; 1 of a number.
  std::size_t last() const { return shape.empty() ? 1 : static_cast<std::size_t>(shape.back()); }
};

/// Those of every variable that has numbers, in the order of the fit, and the names of those whose factors were not
/// written.
std::pair<std::vector<Numbers>, std::vector<std::string>> posterior_numbers(const SavedFit& fit);

/// Components with less are their priors again, and are left out of most pictures.
inline constexpr double kLeastWeight = 0.005;

/// The elements along the axes but the last `inner` ones: their names, and the order in which they are shown. Where
/// that is one axis whose elements have weights, the heaviest come first and their weights stand in the names.
struct Rows {
  std::vector<std::size_t> order;
  std::vector<std::string> names;  // by position
  std::size_t light = 0;           // elements that are not in `order`

  /// A sentence about those, or nothing.
  std::string without() const;
};
Rows rows_of(const SavedFit& fit, const Numbers& n, std::size_t inner);

}  // namespace lehr::report
