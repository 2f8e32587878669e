// Coordinates in which the factors of different families look alike: near its present parameters, a factor is a point u
// of R^n, and the expectations of its sufficient statistics move by one standard deviation of theirs for each unit of
// u. Linear response works in them (linear_response.h).
#pragma once
#include <Eigen/Dense>
#include <optional>

#include "compiler/math/evaluate.h"

namespace lehr {

/// The coordinates of one element's factor about its present parameters. With V the covariance of the sufficient
/// statistics under the factor and L its Cholesky root, u = L' (eta - eta_0) for natural parameters eta.
class FactorCoordinates {
 public:
  /// Makes the coordinates of a factor at these exported parameters. Returns nullopt if they are not finite, or if V is
  /// not positive definite.
  static std::optional<FactorCoordinates> make(const math::Factor& factor, const math::Environment& parameters);

  /// Returns how many coordinates a factor has whose event axis has `extent` elements.
  static std::size_t count(const math::Factor& factor, std::size_t extent);

  /// Returns how many coordinates the factor has.
  Eigen::Index size() const { return root_.rows(); }
  /// Returns the coordinates of exported parameters; NaN if these have no finite natural parameters.
  Eigen::VectorXd coordinates(const math::Environment& parameters) const;
  /// Returns the exported parameters at `step` along coordinate i.
  math::Environment along(Eigen::Index i, double step) const;

  /// Returns the mean and standard deviation of every number of the value (math::MeanAndSd).
  const math::MeanAndSd& moments() const { return moments_; }
  /// Returns the derivatives of these means in the coordinates: a row for each number. Its squared norm is the part of
  /// the number's variance that the statistics explain, all of it if the number is a statistic itself.
  const Eigen::MatrixXd& slopes() const { return slopes_; }

 private:
  FactorCoordinates(const math::Factor& factor, const math::Environment& parameters);
  /// Returns the independent natural parameters of exported ones, locations measured from the present one.
  Eigen::VectorXd independent(const math::Environment& parameters) const;
  /// Returns the exported parameters at natural parameters, which are independent() ones. With `centred`, locations are
  /// measured from the present one.
  math::Environment at(const Eigen::VectorXd& independent, bool centred) const;
  /// Returns the expectations of the statistics that belong to the natural parameters, then the means of all numbers.
  std::optional<Eigen::VectorXd> expected(const Eigen::VectorXd& independent) const;
  /// Computes V and the derivatives of the means by differences. Returns false if some are not finite.
  bool differentiate(Eigen::MatrixXd& covariance, Eigen::MatrixXd& gradients) const;

  const math::Factor* factor_;
  std::size_t extent_;
  std::map<std::string, math::Quantity> location_;  // the present locations, by parameter
  std::map<std::string, math::Quantity> natural_;   // the natural parameters, for those that are no coordinates
  Eigen::VectorXd present_;                         // independent() at the present parameters
  Eigen::MatrixXd root_;                            // L
  math::MeanAndSd moments_;
  Eigen::MatrixXd slopes_;
};

}  // namespace lehr
