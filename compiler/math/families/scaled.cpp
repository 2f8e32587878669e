// Factors of a vector m with its precision tau: q(tau) q(m | tau) = Gamma(shape, rate) * MvNormal(mean, precision_scale
// * tau), where precision_scale is a matrix. The marginal of m is Student's t. Bishop (2006), 2.3.6 and 2.3.7;
// regression with such a prior: Gelman et al., Bayesian Data Analysis (2013), 14.8.
#include <Eigen/Dense>

#include "compiler/math/families/rows.h"
#include "compiler/math/member_families.h"

namespace lehr::math {

using namespace rows;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns L^-1 for a matrix L L' given row-major. (L^-1)' L^-1 is the inverse of the matrix. Infinity unless the
/// matrix is positive definite.
Matrix inverse_root_of(std::span<const double> values, std::size_t size) {
  const auto n = static_cast<Eigen::Index>(size);
  const Eigen::LLT<Matrix> factor(Eigen::Map<const Matrix>(values.data(), n, n));
  if (factor.info() != Eigen::Success) return Matrix::Constant(n, n, kInfinite);
  return factor.matrixL().solve(Matrix::Identity(n, n));
}

/// Returns the covariance `factor` times R'R, and its root beside it. `factor` is infinite if the moments do not exist.
Spread spread_of_root(const Matrix& root, double factor) {
  const Matrix own = std::sqrt(factor) * root, covariance = own.transpose() * own;
  return {.covariance = {covariance.data(), covariance.data() + covariance.size()},
          .root = {own.data(), own.data() + own.size()}};
}

/// Returns the variance of Student's t divided by its squared scale.
double student_variance(double df) { return df > 2 ? df / (df - 2) : kInfinite; }

/// Returns the square roots of the diagonal of the inverse, as a row.
Matrix scale_of(std::span<const double> precision, std::size_t size) {
  const Matrix root = inverse_root_of(precision, size);
  return root.colwise().norm();
}

/// Makes the factor of the pair.
Factor scaled_factor() {
  const Expr shape = symbol(kScaledNames.shape), rate = symbol(kScaledNames.rate);
  const auto mean = [](Index i) { return symbol("mean", i); };
  const auto precision = [](Index i, Index j) { return symbol(kScaledNames.scale, i, j); };
  const Expr square_of_mean = sum(kA, sum(kB, precision(kA, kB) * mean(kA) * mean(kB)));
  const Expr expected = shape / rate, expected_log = digamma(shape) - log(rate);
  Factor f;
  f.parameters = {
      parameter(kScaledNames.scale, 2, -2.0 * natural_symbol(Stat::weighted2, kFirst, kSecond)),
      parameter("mean", 1, sum(kA, inverse(kScaledNames.scale, kFirst, kA) * natural_symbol(Stat::weighted, kA)),
                ParameterRole::location),
      parameter(kScaledNames.shape, 0, natural_symbol(Stat::log) + 1.0 - 0.5 * extent()),
      parameter(kScaledNames.rate, 0, -natural_symbol(Stat::value) - 0.5 * square_of_mean, ParameterRole::spread)};
  f.statistics = {
      {Stat::value, expected, -rate - 0.5 * square_of_mean},
      {Stat::log, expected_log, shape - 1.0 + 0.5 * extent()},
      {Stat::weighted, expected * mean(kFirst), sum(kA, precision(kFirst, kA) * mean(kA))},
      {Stat::weighted2, expected * mean(kFirst) * mean(kSecond) + inverse(kScaledNames.scale, kFirst, kSecond),
       -0.5 * precision(kFirst, kSecond)}};
  f.log_normaliser = lgamma(shape) - shape * log(rate) - 0.5 * logdet(kScaledNames.scale) + 0.5 * kLog2Pi * extent();
  f.entropy = shape - log(rate) + lgamma(shape) + (1.0 - shape) * digamma(shape) +
              0.5 * (1.0 + kLog2Pi - expected_log) * extent() - 0.5 * logdet(kScaledNames.scale);
  f.valid = {shape, rate};
  f.draw = {noise("g", 0, Noise::log_gamma, shape), noise("z", 1, Noise::normal),
            draw_result(0, exp(symbol("g")) / rate),
            draw_result(1,
                        mean(kFirst) + sqrt(reciprocal(symbol("value"))) *
                                           sum(kA, inverse_root(kScaledNames.scale, kA, kFirst) * symbol("z", kA)),
                        true)};
  f.drawn_statistics = {{Stat::log, symbol("g") - log(rate)}};
  f.moments = [](std::span<const double> p, std::size_t size) {
    const double shape_of = p[size * size + size], rate_of = p[size * size + size + 1];
    const Matrix scale = scale_of(p, size);
    MeanAndSd m;
    for (std::size_t j = 0; j < size; ++j) {
      m.mean.push_back(p[size * size + j]);
      m.sd.push_back(shape_of > 1 ? std::sqrt(rate_of / (shape_of - 1)) * scale(0, static_cast<Eigen::Index>(j))
                                  : kInfinite);
    }
    const auto [of_precision, sd] = gamma_moments(shape_of, rate_of);
    m.mean.push_back(of_precision);
    m.sd.push_back(sd);
    return m;
  };
  return f;
}

}  // namespace

const FamilyRow& scaled_normal() {
  static const FamilyRow kRow = [] {
    FamilyRow row{.name = "ScaledNormal",
                  .summary = "a vector and the precision that it is in units of",
                  .support = Support::scaled};
    row.factor = scaled_factor();
    row.margins = [](std::span<const double> p, std::size_t size) {
      const double shape = p[size * size + size], rate = p[size * size + size + 1];
      const Matrix scale = scale_of(p, size);
      std::vector<ScalarMarginal> out;
      for (std::size_t j = 0; j < size; ++j)
        out.push_back({ScalarMarginal::Kind::student, 2 * shape, p[size * size + j],
                       std::sqrt(rate / shape) * scale(0, static_cast<Eigen::Index>(j))});
      out.push_back({ScalarMarginal::Kind::gamma, shape, rate});
      return out;
    };
    // The vector is uncorrelated with the precision, because its mean does not depend on the precision. So the
    // covariance is block diagonal.
    row.spread = [](std::span<const double> p, std::size_t size) {
      const double shape = p[size * size + size], rate = p[size * size + size + 1];
      const auto n = static_cast<Eigen::Index>(size);
      const Matrix of_vector = inverse_root_of(p, size);
      Matrix root = Matrix::Zero(n + 1, n + 1);
      root.topLeftCorner(n, n) = of_vector * std::sqrt(shape > 1 ? rate / (shape - 1) : kInfinite);
      root(n, n) = std::sqrt(shape) / rate;
      Spread s = spread_of_root(root, 1);
      s.scaled_covariance = spread_of_root(of_vector, 1).covariance;
      return s;
    };
    return row;
  }();
  return kRow;
}

const FamilyRow& student_marginal() {
  static const FamilyRow kRow = [] {
    FamilyRow row{.name = "StudentTMarginal",
                  .summary = "a number whose precision has been integrated out",
                  .support = Support::real};
    Factor f;
    f.parameters = {parameter(kScaledNames.freedom, 0, 0.0), parameter("mean", 0, 0.0, ParameterRole::location),
                    parameter("precision", 0, 0.0, ParameterRole::precision)};
    f.moments = number_moments(
        [](std::span<const double> p) { return std::pair(p[1], std::sqrt(student_variance(p[0]) / p[2])); });
    row.margins = number_margin([](std::span<const double> p) {
      return ScalarMarginal{ScalarMarginal::Kind::student, p[0], p[1], 1 / std::sqrt(p[2])};
    });
    row.spread =
        number_spread([](std::span<const double> p) { return Spread{.covariance = {student_variance(p[0]) / p[2]}}; });
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

const FamilyRow& mv_student_marginal() {
  static const FamilyRow kRow = [] {
    FamilyRow row{.name = "MvStudentTMarginal",
                  .summary = "a vector whose precision has been integrated out",
                  .support = Support::vector};
    Factor f;
    f.parameters = {parameter(kScaledNames.freedom, 0, 0.0), parameter("mean", 1, 0.0, ParameterRole::location),
                    parameter("precision", 2, 0.0, ParameterRole::precision)};
    f.moments = [](std::span<const double> p, std::size_t size) {
      const Matrix scale = scale_of(p.subspan(1 + size), size);
      MeanAndSd m;
      for (std::size_t j = 0; j < size; ++j) {
        m.mean.push_back(p[1 + j]);
        m.sd.push_back(std::sqrt(student_variance(p[0])) * scale(0, static_cast<Eigen::Index>(j)));
      }
      return m;
    };
    row.margins = [](std::span<const double> p, std::size_t size) {
      const Matrix scale = scale_of(p.subspan(1 + size), size);
      std::vector<ScalarMarginal> out;
      for (std::size_t j = 0; j < size; ++j)
        out.push_back({ScalarMarginal::Kind::student, p[0], p[1 + j], scale(0, static_cast<Eigen::Index>(j))});
      return out;
    };
    row.spread = [](std::span<const double> p, std::size_t size) {
      return spread_of_root(inverse_root_of(p.subspan(1 + size), size), student_variance(p[0]));
    };
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

}  // namespace lehr::math
