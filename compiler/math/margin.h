// What the rows say of the values of a factor beside mean and sd: the distribution of each number by itself, and second
// moments.
#pragma once
#include <vector>

namespace lehr::math {

/// The distribution of one number.
struct Margin {
  enum class Kind {
    none,           // no closed form
    value,          // (value)
    normal,         // (mean, sd)
    student,        // Student's t: (freedom, location, scale)
    gamma,          // (shape, rate)
    inverse_gamma,  // (shape, scale)
    beta,           // (a, b)
    geometric       // (p): failures before the first success
  } kind = Kind::none;
  double first = 0, second = 0, third = 0;
};

/// The `probability`-quantile (in (0, 1)), by Boost.Math. NaN: there is none here, or a parameter is out of its domain.
double quantile(const Margin& margin, double probability);

/// P(X <= x); NaN as for quantiles.
double cumulative(const Margin& margin, double x);

/// Second moments of a value and its inverse (of a matrix, the matrix inverse), row-major. Joint families: of the mean
/// and of the inverse of the precision. Empty where the row has none, infinite where one does not exist.
struct Spread {
  std::vector<double> covariance = {};  // between the components of the value
  std::vector<double> root = {};     // R with R' R the covariance: w'x has the variance |R w|^2, without cancellation
  std::vector<double> inverse = {};  // E[1/x], E[X^-1]
  std::vector<double> inverse_square = {};  // E[1/x^2] of numbers
  double tie = 0;  // joint families: given the precision, the covariance of the mean is so many of its inverses
  std::vector<double> tied = {};  // the same of a vector and one number that scales its precision: a matrix
  /// 1/x, or the j-th number on the diagonal of X^-1, is InverseGamma(inverse_shape, inverse_scale[j]).
  double inverse_shape = 0;
  std::vector<double> inverse_scale = {};
};

}  // namespace lehr::math
