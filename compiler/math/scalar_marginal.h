// Marginal distributions and second moments of the values of a factor: what the family rows give beside mean and sd.
// Credible intervals and predictive distributions are computed from them.
#pragma once
#include <vector>

namespace lehr::math {

/// The distribution of one number, as a family and up to three parameters, from which quantiles and probabilities are
/// computed.
struct ScalarMarginal {
  /// The families that a ScalarMarginal can have: a constant, Normal, Student's t, Gamma, InverseGamma, Beta or
  /// geometric; `none` if there is no closed form.
  enum class Kind {
    none,                                   // no closed form here; quantiles are NaN
    value,                                  // all mass at (value)
    normal,                                 // Normal (mean, sd)
    student,                                // Student's t (degrees of freedom, location, scale)
    gamma,                                  // Gamma (shape, rate)
    inverse_gamma,                          // InverseGamma (shape, scale)
    beta,                                   // Beta (a, b)
    geometric                               // failures before the first success (probability of success)
  } kind = Kind::none;                      // which family it is
  double first = 0, second = 0, third = 0;  // parameters, as listed at the kind
};

/// Returns the number x with P(X <= x) = `probability`, which must be in (0, 1); for counts, the least x with P(X <= x)
/// at least that. NaN if the kind is `none`, or if a parameter of a Gamma, InverseGamma or Beta or the degrees of
/// freedom are not positive and finite.
double quantile(const ScalarMarginal& margin, double probability);

/// Returns P(X <= x) of a marginal distribution. NaN if the kind is `none`, or if a parameter of a Gamma, InverseGamma
/// or Beta or the degrees of freedom are not positive and finite.
double cumulative(const ScalarMarginal& margin, double x);

/// Second moments of the value of a factor, and moments of its inverse (of a matrix, the matrix inverse), row-major.
/// NormalGamma and NormalWishart have the covariance of the mean and the inverse of the precision; ScaledNormal has the
/// covariance of the vector with its precision behind it. A vector is empty if the row does not give it, and infinite
/// where a moment does not exist.
struct Spread {
  std::vector<double> covariance = {};  // covariance matrix of the components of the value
  /// R with R' R the covariance. The variance of w'x is |R w|^2, which does not suffer from cancellation.
  std::vector<double> root = {};
  std::vector<double> inverse = {};         // E[1/x] or E[X^-1]
  std::vector<double> inverse_square = {};  // E[1/x^2] of numbers
  /// In NormalGamma and NormalWishart: given the precision, the covariance of the mean is this number times the inverse
  /// of the precision. 0 in other families.
  double inverse_precision_factor = 0;
  /// For a vector with a number tau that scales its precision: given tau, the covariance of the vector is this matrix
  /// divided by tau.
  std::vector<double> scaled_covariance = {};
  /// The distribution of an inverse: 1/x is InverseGamma(inverse_shape, inverse_scale[0]). For a matrix, the j-th
  /// number on the diagonal of X^-1 is InverseGamma(inverse_shape, inverse_scale[j]). 0 if it is not given.
  double inverse_shape = 0;
  std::vector<double> inverse_scale = {};  // scales, by component; see inverse_shape
};

}  // namespace lehr::math
