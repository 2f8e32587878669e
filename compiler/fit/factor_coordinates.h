// Coordinates in which the factors of different families look alike: near its present parameters, a factor is a point u
// of R^n, and the expectations of its sufficient statistics move by one standard deviation of theirs for each unit of
// u. Linear response works in them (linear_response.h).
#pragma once
#include <Eigen/Dense>
#include <optional>

#include "compiler/math/evaluate.h"

namespace lehr {

/// The coordinates of a Normal factor, of a number or a vector of D numbers. With P = R R' its precision and
/// z = R' (x - mean), the statistics z_i, z_i z_j and z_i^2 / sqrt 2 have the covariance I. The coordinates are their
/// natural parameters: D of z, then those of the products, row by row from the diagonal.
class NormalCoordinates {
 public:
  /// Makes the coordinates around the factor with this mean and precision, which gets the coordinates 0. Returns
  /// nullopt unless the precision is positive definite.
  static std::optional<NormalCoordinates> make(const Eigen::VectorXd& mean, const Eigen::MatrixXd& precision);

  /// Returns how many coordinates there are.
  Eigen::Index size() const { return mean_.size() + mean_.size() * (mean_.size() + 1) / 2; }
  /// Returns the coordinates of the factor with this mean and precision.
  Eigen::VectorXd coordinates(const Eigen::VectorXd& mean, const Eigen::MatrixXd& precision) const;
  /// Writes mean and precision of the factor that has these coordinates. The precision need not be positive definite.
  void at(const Eigen::VectorXd& coordinates, Eigen::VectorXd& mean, Eigen::MatrixXd& precision) const;
  /// Returns the derivatives of the mean of the k-th number of the value with respect to the coordinates, at the
  /// present parameters.
  Eigen::VectorXd slope(Eigen::Index k) const;

 private:
  Eigen::VectorXd mean_;  // mean of the present factor
  Eigen::MatrixXd root_;  // R, the Cholesky root of the present precision
};

/// The coordinates u in which linear response moves one element's factor; u = 0 at its present natural parameters
/// eta_0. With V = L L' the covariance of the sufficient statistics under the factor, u = L' (eta - eta_0) for natural
/// parameters eta. L is the Cholesky root; for a Normal factor it is the root of NormalCoordinates, which has a closed
/// form.
class FactorCoordinates {
 public:
  /// Makes the coordinates of a factor at these exported parameters. Returns nullopt if they are not finite, if V is
  /// not positive definite, or if the family has no standard deviations or has a softmax. `factor` must outlive the
  /// result.
  static std::optional<FactorCoordinates> make(const math::Factor& factor, const math::Environment& parameters);

  /// Returns how many coordinates the factor has.
  Eigen::Index size() const { return normal_ ? normal_->size() : root_.rows(); }
  /// Returns the coordinates of the factor with these exported parameters; they are 0 at the parameters that make()
  /// got. Some entries are NaN or infinite if the parameters have no finite natural parameters.
  Eigen::VectorXd coordinates(const math::Environment& parameters) const;
  /// Returns the exported parameters of the factor with these coordinates.
  math::Environment at(const Eigen::VectorXd& coordinates) const;

  /// Returns the mean and standard deviation of every number of the value (math::MeanAndSd).
  const math::MeanAndSd& moments() const { return moments_; }
  /// Returns the derivatives of the mean of a number of the value with respect to the coordinates, at the present
  /// parameters. Their squared norm is the part of the number's variance that the statistics explain, all of it if the
  /// number is a statistic itself. `number` is the index in moments().
  Eigen::VectorXd slope(Eigen::Index number) const;

 private:
  /// Stores the factor with its moments and natural parameters; make() checks that it has coordinates.
  FactorCoordinates(const math::Factor& factor, const math::Environment& parameters);
  /// Makes coordinates that have no closed form, by differences; false if some are not finite.
  bool make_by_differences();
  /// Returns the natural parameters that belong to exported parameters (those that fit files have), each entry of a
  /// symmetric matrix once. Locations are measured from the present one.
  Eigen::VectorXd independent(const math::Environment& parameters) const;
  /// Returns the exported parameters (those that fit files have) of these natural parameters, which are as
  /// independent() returns them. With `centred`, locations stay measured from the present one; otherwise it is added to
  /// them.
  math::Environment from_independent(const Eigen::VectorXd& independent, bool centred) const;
  /// Returns the expectations of the statistics that belong to the natural parameters, then the means of all numbers;
  /// nullopt if the parameters are not proper.
  std::optional<Eigen::VectorXd> expected(const Eigen::VectorXd& independent) const;
  /// Computes V and the derivatives of the means by differences. Returns false if some are not finite.
  bool differentiate(Eigen::MatrixXd& covariance, Eigen::MatrixXd& gradients) const;

  const math::Factor* factor_;               // the row of the factor in its family
  std::size_t extent_;                       // size of the event axis
  std::optional<NormalCoordinates> normal_;  // of a Normal factor, for which the members below are empty
  /// The present locations, by parameter; empty for families without one.
  std::map<std::string, math::Quantity> location_;
  /// All natural parameters at the present ones; entries that are no coordinates stay as here.
  std::map<std::string, math::Quantity> natural_;
  /// The independent natural parameters at the present parameters, as independent() returns them.
  Eigen::VectorXd present_;
  Eigen::MatrixXd root_;     // L, the Cholesky root of the covariance V of the statistics
  math::MeanAndSd moments_;  // mean and standard deviation of every number of the value
  Eigen::MatrixXd slopes_;   // a row for each number of the value: the derivatives of its mean in the coordinates
};

}  // namespace lehr
