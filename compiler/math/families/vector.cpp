// Family rows with an event axis of size D: MvNormal, Wishart, InverseWishart, Dirichlet, and the joint families of a
// mean and its precision, NormalGamma and NormalWishart.
//
// Formulas: Bishop (2006), appendix B, where our df is his nu, E[X] = df * scale and rate = inverse(scale). The
// marginals are Beta for a Dirichlet, and Student's t for a mean whose precision is integrated out (Bishop 2006, 2.3.7;
// DeGroot 1970, 9.10).
#include <Eigen/Dense>
#include <numeric>

#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Views row-major numbers as a matrix of `size` rows.
Eigen::Map<const Matrix> as_matrix(std::span<const double> values, std::size_t size) {
  const auto n = static_cast<Eigen::Index>(size);
  return {values.data(), n, n};
}

/// Returns the diagonal of the inverse; infinity unless the matrix is positive definite.
Eigen::ArrayXd inverse_diagonal(const Matrix& m) {
  const Eigen::LLT<Matrix> factor(m);
  if (factor.info() != Eigen::Success) return Eigen::ArrayXd::Constant(m.rows(), kInfinite);
  return factor.solve(Matrix::Identity(m.rows(), m.rows())).diagonal();
}

/// Returns `factor` times the inverse, row-major; infinity unless the matrix is positive definite and the factor is at
/// least 0.
std::vector<double> inverse_times(const Matrix& m, double factor) {
  const Eigen::LLT<Matrix> cholesky(m);
  if (cholesky.info() != Eigen::Success || !(factor >= 0))
    return std::vector<double>(static_cast<std::size_t>(m.size()), kInfinite);
  const Matrix out = factor * cholesky.solve(Matrix::Identity(m.rows(), m.rows()));
  return {out.data(), out.data() + out.size()};
}

/// Returns the inverse of the lower Cholesky factor, row-major; empty unless the matrix is positive definite.
std::vector<double> inverse_factor(const Matrix& m) {
  const Eigen::LLT<Matrix> cholesky(m);
  if (cholesky.info() != Eigen::Success) return {};
  const Matrix out = cholesky.matrixL().solve(Matrix::Identity(m.rows(), m.rows()));
  return {out.data(), out.data() + out.size()};
}

/// Returns moments of the inverse of a Wishart matrix: its mean, infinite unless df > D + 1, and its diagonal. Each
/// number of the diagonal is inverse gamma (Gelman et al., Bayesian Data Analysis, 2013, appendix A).
Spread wishart_inverse(double df, const Matrix& scale) {
  const double d = static_cast<double>(scale.rows());
  Spread s;
  s.inverse = inverse_times(scale, df > d + 1 ? 1 / (df - d - 1) : -1);
  s.inverse_shape = 0.5 * (df - d + 1);
  for (const double x : inverse_diagonal(scale))
    s.inverse_scale.push_back(0.5 * x);
  return s;
}

std::vector<double> values_of(const Eigen::ArrayXd& x) { return {x.begin(), x.end()}; }

/// Appends the mean df * V and the standard deviations of the entries of a Wishart matrix, of variance df * (V_ij^2 +
/// V_ii V_jj).
void add_wishart_moments(double df, const Matrix& v, MeanAndSd& to) {
  for (Eigen::Index i = 0; i < v.rows(); ++i) {
    for (Eigen::Index j = 0; j < v.rows(); ++j) {
      to.mean.push_back(df * v(i, j));
      to.sd.push_back(std::sqrt(df * (v(i, j) * v(i, j) + v(i, i) * v(j, j))));
    }
  }
}

/// Returns margins of kind `none`: entries of a Wishart matrix have no marginals in closed form.
std::vector<ScalarMarginal> no_margins(std::span<const double>, std::size_t size) {
  return std::vector<ScalarMarginal>(size * size);
}

/// Draws a Gaussian vector by solving with the transposed Cholesky factor of the precision.
std::vector<double> draw_mv_normal(std::span<const double> mean, const Matrix& precision, Rng& rng) {
  const auto size = static_cast<Eigen::Index>(mean.size());
  Eigen::VectorXd z(size);
  for (Eigen::Index j = 0; j < size; ++j)
    z[j] = draw_normal(rng);
  Eigen::LLT<Matrix>(precision).matrixU().solveInPlace(z);
  for (Eigen::Index j = 0; j < size; ++j)
    z[j] += mean[static_cast<std::size_t>(j)];
  return {z.data(), z.data() + size};
}

/// Draws a Wishart matrix by Bartlett's decomposition (1933): X = F B B' F', where F F' = inverse(rate) and B is lower
/// triangular.
Matrix draw_wishart(double df, const Matrix& rate, Rng& rng) {
  const Eigen::Index size = rate.rows();
  Matrix b = Matrix::Zero(size, size);
  for (Eigen::Index j = 0; j < size; ++j) {
    b(j, j) = std::sqrt(2.0 * draw_gamma(rng, 0.5 * (df - static_cast<double>(j))));
    for (Eigen::Index l = 0; l < j; ++l)
      b(j, l) = draw_normal(rng);
  }
  Eigen::LLT<Matrix>(rate).matrixU().solveInPlace(b);
  return b * b.transpose();
}

/// Returns the log of the multivariate gamma function of dimension D at df / 2.
Expr multigamma(const Expr& df) {
  return 0.25 * std::log(std::numbers::pi) * extent() * (extent() - 1.0) +
         sum(kA, lgamma(0.5 * (df - index_value(kA))));
}

/// Returns the log density of a Wishart at the symmetric matrix named `x`.
Expr wishart_density(const Expr& df, const std::string& x) {
  return 0.5 * df * logdet("rate") - 0.5 * kLog2 * df * extent() - multigamma(df) +
         0.5 * (df - extent() - 1.0) * logdet(x) - 0.5 * sum(kA, sum(kB, symbol("rate", kA, kB) * symbol(x, kA, kB)));
}

/// Returns E[log det X] for X ~ Wishart(df, scale), Bishop (2006), eq. B.81.
Expr expected_logdet(const Expr& df) {
  return sum(kA, digamma(0.5 * (df - index_value(kA)))) + kLog2 * extent() + logdet("scale");
}

/// Returns the log normaliser of a Wishart, -log B(W, nu) of Bishop (2006), eq. B.79.
Expr wishart_normaliser(const Expr& df) {
  return 0.5 * df * logdet("scale") + 0.5 * kLog2 * df * extent() + multigamma(df);
}

/// Returns the entropy of a Wishart, Bishop (2006), eq. B.82.
Expr wishart_entropy(const Expr& df) {
  return wishart_normaliser(df) - 0.5 * (df - extent() - 1.0) * expected_logdet(df) + 0.5 * df * extent();
}

/// Returns the steps of a Wishart draw by Bartlett's decomposition (1933): X = F B B' F', where F F' = inverse(rate)
/// and B is lower triangular. The step `factor` is F B.
std::vector<FactorParameter> wishart_draw(const Expr& df, const std::string& rate = "rate") {
  const Expr diagonal = delta(kFirst, kSecond) * sqrt(2.0 * exp(symbol("g", kFirst)));
  const Expr below = step(index_value(kFirst) - index_value(kSecond)) * symbol("z", kFirst, kSecond);
  return {noise("g", 1, Noise::log_gamma, 0.5 * (df - index_value(kFirst))), noise("z", 2, Noise::normal),
          draw_step("bartlett", 2, diagonal + below),
          draw_step("factor", 2, sum(kA, inverse_root(rate, kA, kFirst) * symbol("bartlett", kA, kSecond))),
          draw_result(2, sum(kA, symbol("factor", kFirst, kA) * symbol("factor", kSecond, kA)))};
}

FamilyRow mv_normal() {
  const auto centred = [](Index i) { return symbol("x", i) - symbol("mean", i); };
  const Expr mean_j = symbol("mean", kFirst), precision_jl = symbol("precision", kFirst, kSecond);
  FamilyRow row{.name = "MvNormal", .summary = "Gaussian vectors", .support = Support::vector};
  row.spellings = {
      canonical("mean", 1), canonical("precision", 2, Support::spd_matrix),
      alternative("covariance", "precision", inverse("covariance", kFirst, kSecond), 2, Support::spd_matrix)};
  row.log_density = -0.5 * kLog2Pi * extent() + 0.5 * logdet("precision") -
                    0.5 * sum(kA, sum(kB, symbol("precision", kA, kB) * centred(kA) * centred(kB)));

  Factor f;
  f.parameters = {
      parameter("precision", 2, -2.0 * natural_symbol(Stat::comp2, kFirst, kSecond), ParameterRole::precision),
      parameter("mean", 1, sum(kA, inverse("precision", kFirst, kA) * natural_symbol(Stat::comp, kA)),
                ParameterRole::location)};
  f.statistics = {
      {Stat::comp, mean_j, sum(kA, symbol("precision", kFirst, kA) * symbol("mean", kA))},
      {Stat::comp2, mean_j * symbol("mean", kSecond) + inverse("precision", kFirst, kSecond), -0.5 * precision_jl}};
  f.log_normaliser = 0.5 * sum(kA, sum(kB, symbol("precision", kA, kB) * symbol("mean", kA) * symbol("mean", kB))) -
                     0.5 * logdet("precision") + 0.5 * kLog2Pi * extent();
  f.entropy = 0.5 * (1.0 + kLog2Pi) * extent() - 0.5 * logdet("precision");
  f.mode = mean_j;
  f.draw = {noise("z", 1, Noise::normal),
            draw_result(1, mean_j + sum(kA, inverse_root("precision", kA, kFirst) * symbol("z", kA)))};
  f.moments = [](std::span<const double> p, std::size_t size) {
    const auto mean = p.subspan(size * size);
    return MeanAndSd{{mean.begin(), mean.end()}, values_of(inverse_diagonal(as_matrix(p, size)).sqrt())};
  };
  row.margins = [](std::span<const double> p, std::size_t size) {
    const Eigen::ArrayXd sd = inverse_diagonal(as_matrix(p, size)).sqrt();
    std::vector<ScalarMarginal> out;
    for (std::size_t j = 0; j < size; ++j)
      out.push_back({ScalarMarginal::Kind::normal, p[size * size + j], sd[static_cast<Eigen::Index>(j)]});
    return out;
  };
  row.spread = [](std::span<const double> p, std::size_t size) {
    return Spread{.covariance = inverse_times(as_matrix(p, size), 1), .root = inverse_factor(as_matrix(p, size))};
  };
  row.factor = std::move(f);
  row.location = {"mean"};
  row.mean = mean_j;
  row.covariance = inverse("precision", kFirst, kSecond);
  row.gaussian = true;
  row.draw = [](std::span<const double> p, std::size_t size, Rng& rng) {
    return draw_mv_normal(p.first(size), as_matrix(p.subspan(size), size), rng);
  };
  return row;
}

FamilyRow wishart() {
  const Expr df = symbol("df"), scale_jl = symbol("scale", kFirst, kSecond);
  FamilyRow row{
      .name = "Wishart", .summary = "positive definite matrices, mean df * scale", .support = Support::spd_matrix};
  row.spellings = {canonical("df", 0, Support::positive),
                   alternative("scale", "rate", inverse("scale", kFirst, kSecond), 2, Support::spd_matrix),
                   canonical("rate", 2, Support::spd_matrix)};
  row.log_density = wishart_density(df, "x");

  Factor f;
  f.parameters = {parameter("df", 0, 2.0 * natural_symbol(Stat::logdet) + extent() + 1.0, ParameterRole::freedom),
                  parameter("rate", 2, -2.0 * natural_symbol(Stat::entry, kFirst, kSecond)),
                  parameter("scale", 2, inverse("rate", kFirst, kSecond))};
  f.parameters[1].exported = false;
  f.parameters[2].from_density = inverse("rate", kFirst, kSecond);
  f.statistics = {{Stat::entry, df * scale_jl, -0.5 * inverse("scale", kFirst, kSecond)},
                  {Stat::logdet, expected_logdet(df), 0.5 * (df - extent() - 1.0)}};
  f.log_normaliser = wishart_normaliser(df);
  f.entropy = wishart_entropy(df);
  f.valid = {df - extent() + 1.0};
  f.mode = (df - extent() - 1.0) * scale_jl;
  f.interior = {df - extent() - 1.0};
  f.draw = wishart_draw(df);
  f.moments = [](std::span<const double> p, std::size_t size) {
    MeanAndSd m;
    add_wishart_moments(p[0], as_matrix(p.subspan(1), size), m);
    return m;
  };
  row.margins = no_margins;
  row.spread = [](std::span<const double> p, std::size_t size) {
    return wishart_inverse(p[0], as_matrix(p.subspan(1), size));
  };
  row.factor = std::move(f);
  row.draw = [](std::span<const double> p, std::size_t size, Rng& rng) {
    const Matrix x = draw_wishart(p[0], as_matrix(p.subspan(1), size), rng);
    return std::vector<double>(x.data(), x.data() + x.size());
  };
  return row;
}

/// The distribution of a matrix whose inverse is Wishart with rate = scale. It is conjugate to the covariance of an
/// MvNormal.
FamilyRow inverse_wishart() {
  const Expr df = symbol("df"), scale_jl = symbol("scale", kFirst, kSecond);
  FamilyRow row{.name = "InverseWishart",
                .summary = "inverse of a Wishart, mean scale / (df - D - 1)",
                .support = Support::spd_matrix};
  row.spellings = {canonical("df", 0, Support::positive), canonical("scale", 2, Support::spd_matrix)};
  const Expr normaliser = 0.5 * kLog2 * df * extent() + multigamma(df) - 0.5 * df * logdet("scale");
  row.log_density = -normaliser - 0.5 * (df + extent() + 1.0) * logdet("x") -
                    0.5 * sum(kA, sum(kB, symbol("scale", kA, kB) * inverse("x", kA, kB)));

  Factor f;
  f.parameters = {parameter("df", 0, -2.0 * natural_symbol(Stat::logdet) - extent() - 1.0, ParameterRole::freedom),
                  parameter("scale", 2, -2.0 * natural_symbol(Stat::inverse_entry, kFirst, kSecond))};
  const Expr expected_log = logdet("scale") - kLog2 * extent() - sum(kA, digamma(0.5 * (df - index_value(kA))));
  f.statistics = {{Stat::inverse_entry, df * inverse("scale", kFirst, kSecond), -0.5 * scale_jl},
                  {Stat::logdet, expected_log, -0.5 * (df + extent() + 1.0)}};
  f.log_normaliser = normaliser;
  f.entropy = normaliser + 0.5 * (df + extent() + 1.0) * expected_log + 0.5 * df * extent();
  f.valid = {df - extent() + 1.0};
  f.mode = scale_jl / (df + extent() + 1.0);
  f.draw = wishart_draw(df, "scale");
  f.draw.back() = draw_step("w", 2, f.draw.back().from_natural);
  f.draw.push_back(draw_result(2, inverse("w", kFirst, kSecond)));
  f.drawn_statistics = {{Stat::inverse_entry, symbol("w", kFirst, kSecond)}, {Stat::logdet, -logdet("w")}};
  f.moments = [](std::span<const double> p, std::size_t size) {
    const double freedom = p[0] - static_cast<double>(size);
    const Matrix v = as_matrix(p.subspan(1), size);
    MeanAndSd m;
    for (Eigen::Index i = 0; i < v.rows(); ++i) {
      for (Eigen::Index j = 0; j < v.rows(); ++j) {
        m.mean.push_back(freedom > 1 ? v(i, j) / (freedom - 1) : kInfinite);
        const double squares = (freedom + 1) * v(i, j) * v(i, j) + (freedom - 1) * v(i, i) * v(j, j);
        m.sd.push_back(freedom > 3 ? std::sqrt(squares / (freedom * (freedom - 3))) / (freedom - 1) : kInfinite);
      }
    }
    return m;
  };
  row.margins = no_margins;
  row.spread = [](std::span<const double> p, std::size_t size) {
    return Spread{.inverse = inverse_times(as_matrix(p.subspan(1), size), p[0])};
  };
  row.factor = std::move(f);
  row.draw = [](std::span<const double> p, std::size_t size, Rng& rng) {
    const Matrix x = draw_wishart(p[0], as_matrix(p.subspan(1), size), rng).inverse();
    const Matrix symmetric = 0.5 * (x + x.transpose());
    return std::vector<double>(symmetric.data(), symmetric.data() + symmetric.size());
  };
  return row;
}

FamilyRow dirichlet() {
  const Expr c_a = symbol("concentration", kA), c_j = symbol("concentration", kFirst);
  const Expr total = sum(kA, c_a);
  FamilyRow row{.name = "Dirichlet", .summary = "probability vectors", .support = Support::simplex};
  row.spellings = {canonical("concentration", 1, Support::positive)};
  row.positional = true;
  row.log_density = lgamma(total) - sum(kA, lgamma(c_a)) + sum(kA, (c_a - 1.0) * log(symbol("x", kA)));

  Factor f;
  f.parameters = {
      parameter("concentration", 1, natural_symbol(Stat::log_comp, kFirst) + 1.0, ParameterRole::pseudo_count)};
  f.statistics = {{Stat::log_comp, digamma(c_j) - digamma(total), c_j - 1.0}};
  f.log_normaliser = sum(kA, lgamma(c_a)) - lgamma(total);
  f.entropy =
      sum(kA, lgamma(c_a)) - lgamma(total) + (total - extent()) * digamma(total) - sum(kA, (c_a - 1.0) * digamma(c_a));
  f.entropy_from_statistics = f.log_normaliser - sum(kA, (c_a - 1.0) * expected_symbol(Stat::log_comp, kA));
  f.valid = {c_j};
  // Where all values are equally probable (all concentrations 1), the mode is defined as the middle.
  const Expr peaked = step(total - extent());
  f.mode = (c_j - 1.0 + (1.0 - peaked) / extent()) / (total - extent() + (1.0 - peaked));
  f.interior = {c_j - 1.0};
  const Expr above = symbol("g", kFirst) - symbol("top");
  f.draw = {noise("g", 1, Noise::log_gamma, c_j), draw_step("top", 0, largest(kA, symbol("g", kA))),
            draw_step("total", 0, sum(kA, exp(symbol("g", kA) - symbol("top")))),
            draw_result(1, exp(above) / symbol("total"))};
  f.drawn_statistics = {{Stat::log_comp, above - log(symbol("total"))}};
  f.moments = [](std::span<const double> p, std::size_t) {
    double sum_of_p = 0;
    for (const double c : p)
      sum_of_p += c;
    MeanAndSd m;
    for (const double c : p) {
      const double mean = m.mean.emplace_back(c / sum_of_p);
      m.sd.push_back(std::sqrt(mean * (1 - mean) / (sum_of_p + 1)));
    }
    return m;
  };
  row.margins = [](std::span<const double> p, std::size_t) {
    const double sum_of_p = std::accumulate(p.begin(), p.end(), 0.0);
    std::vector<ScalarMarginal> out;
    for (const double c : p)
      out.push_back(p.size() == 1 ? ScalarMarginal{ScalarMarginal::Kind::value, 1}
                                  : ScalarMarginal{ScalarMarginal::Kind::beta, c, sum_of_p - c});
    return out;
  };
  row.spread = [](std::span<const double> p, std::size_t size) {
    const double sum_of_p = std::accumulate(p.begin(), p.end(), 0.0);
    Spread s;
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t l = 0; l < size; ++l)
        s.covariance.push_back(p[j] / sum_of_p * ((j == l ? 1 : 0) - p[l] / sum_of_p) / (sum_of_p + 1));
    return s;
  };
  row.mean = c_j / total;
  row.covariance = c_j / total * (delta(kFirst, kSecond) - symbol("concentration", kSecond) / total) / (total + 1.0);
  row.factor = std::move(f);
  row.draw = [](std::span<const double> p, std::size_t size, Rng& rng) {
    std::vector<double> x(size);
    draw_dirichlet(rng, p.first(size), x);
    return x;
  };
  return row;
}

/// A mean mu and its precision tau: mu given tau is Normal(mean, precision = precision_scale * tau), and tau is
/// Gamma(shape, rate).
FamilyRow normal_gamma() {
  const Expr mu = symbol("x"), tau = symbol("x_precision");
  const Expr mean = symbol("mean"), k = symbol("precision_scale"), shape = symbol("shape"), rate = symbol("rate");
  FamilyRow row{.name = "NormalGamma", .summary = "a mean and its precision", .support = Support::real};
  row.joint_precision = Support::positive;
  row.spellings = {canonical("mean"), canonical("precision_scale", 0, Support::positive),
                   canonical("shape", 0, Support::positive), canonical("rate", 0, Support::positive)};
  row.log_density = -0.5 * kLog2Pi + 0.5 * log(k) + 0.5 * log(tau) - 0.5 * k * tau * square(mu - mean) +
                    shape * log(rate) - lgamma(shape) + (shape - 1.0) * log(tau) - rate * tau;

  Factor f;
  f.parameters = {parameter("precision_scale", 0, -2.0 * natural_symbol(Stat::weighted_square)),
                  parameter("mean", 0, natural_symbol(Stat::weighted) / k, ParameterRole::location),
                  parameter("shape", 0, natural_symbol(Stat::log) + 0.5),
                  parameter("rate", 0, -natural_symbol(Stat::value) - 0.5 * k * square(mean), ParameterRole::spread)};
  f.parameters[0].of_mean = f.parameters[1].of_mean = true;
  f.statistics = {{Stat::value, shape / rate, -rate - 0.5 * k * square(mean)},
                  {Stat::log, digamma(shape) - log(rate), shape - 0.5},
                  {Stat::weighted, mean * shape / rate, k * mean},
                  {Stat::weighted_square, reciprocal(k) + square(mean) * shape / rate, -0.5 * k}};
  f.log_normaliser = lgamma(shape) - shape * log(rate) - 0.5 * log(k) + 0.5 * kLog2Pi;
  f.entropy = shape - log(rate) + lgamma(shape) + (1.0 - shape) * digamma(shape) + 0.5 * (1.0 + kLog2Pi) -
              0.5 * log(k) - 0.5 * (digamma(shape) - log(rate));
  f.valid = {k, shape, rate};
  const Expr drawn = exp(symbol("g")) / rate;
  f.draw = {noise("g", 0, Noise::log_gamma, shape), noise("z", 0, Noise::normal), draw_result(0, drawn),
            draw_result(0, mean + symbol("z") * sqrt(reciprocal(k * symbol("value"))), true)};
  // With the precision integrated out, the mean is Student's t. Its variance is E[1 / tau] / precision_scale, with E[1
  // / tau] = rate / (shape - 1).
  f.moments = [](std::span<const double> p, std::size_t) {
    const auto [precision, sd] = gamma_moments(p[2], p[3]);
    const double freedom = p[2] - 1;
    return MeanAndSd{{p[1], precision}, {freedom <= 0 ? kInfinite : std::sqrt(p[3] / (freedom * p[0])), sd}};
  };
  row.margins = [](std::span<const double> p, std::size_t) {
    return std::vector{ScalarMarginal{ScalarMarginal::Kind::student, 2 * p[2], p[1], std::sqrt(p[3] / (p[2] * p[0]))},
                       ScalarMarginal{ScalarMarginal::Kind::gamma, p[2], p[3]}};
  };
  row.spread = [](std::span<const double> p, std::size_t) {
    Spread s = gamma_inverse(p[2], p[3]);
    s.inverse_precision_factor = 1 / p[0];
    s.covariance = {s.inverse_precision_factor * s.inverse[0]};
    return s;
  };
  row.factor = std::move(f);
  row.draw = [](std::span<const double> p, std::size_t, Rng& rng) {
    const double precision = draw_gamma(rng, p[2]) / p[3];
    return std::vector<double>{p[0] + draw_normal(rng) / std::sqrt(p[1] * precision), precision};
  };
  return row;
}

/// A mean vector mu and its precision matrix L: mu given L is MvNormal(mean, precision = precision_scale * L), and L is
/// Wishart(df, scale).
FamilyRow normal_wishart() {
  const Expr k = symbol("precision_scale"), df = symbol("df");
  const auto mean = [](Index i) { return symbol("mean", i); };
  const auto centred = [](Index i) { return symbol("x", i) - symbol("mean", i); };
  FamilyRow row{
      .name = "NormalWishart", .summary = "a mean vector and its precision matrix", .support = Support::vector};
  row.joint_precision = Support::spd_matrix;
  row.spellings = {canonical("mean", 1), canonical("precision_scale", 0, Support::positive),
                   canonical("df", 0, Support::positive),
                   alternative("scale", "rate", inverse("scale", kFirst, kSecond), 2, Support::spd_matrix),
                   canonical("rate", 2, Support::spd_matrix)};
  row.log_density = -0.5 * kLog2Pi * extent() + 0.5 * extent() * log(k) + 0.5 * logdet("x_precision") -
                    0.5 * k * sum(kA, sum(kB, symbol("x_precision", kA, kB) * centred(kA) * centred(kB))) +
                    wishart_density(df, "x_precision");

  Factor f;
  f.parameters = {
      parameter("precision_scale", 0, -2.0 * natural_symbol(Stat::weighted_square)),
      parameter("mean", 1, natural_symbol(Stat::weighted, kFirst) / k, ParameterRole::location),
      parameter("df", 0, 2.0 * natural_symbol(Stat::logdet) + extent(), ParameterRole::freedom),
      parameter("rate", 2, -2.0 * natural_symbol(Stat::entry, kFirst, kSecond) - k * mean(kFirst) * mean(kSecond)),
      parameter("scale", 2, inverse("rate", kFirst, kSecond))};
  f.parameters[0].of_mean = f.parameters[1].of_mean = true;
  f.parameters[3].exported = false;
  f.parameters[4].from_density = inverse("rate", kFirst, kSecond);
  f.statistics = {{Stat::entry, df * symbol("scale", kFirst, kSecond),
                   -0.5 * inverse("scale", kFirst, kSecond) - 0.5 * k * mean(kFirst) * mean(kSecond)},
                  {Stat::logdet, expected_logdet(df), 0.5 * (df - extent())},
                  {Stat::weighted, df * sum(kA, symbol("scale", kFirst, kA) * mean(kA)), k * mean(kFirst)},
                  {Stat::weighted_square,
                   extent() / k + df * sum(kA, sum(kB, symbol("scale", kA, kB) * mean(kA) * mean(kB))), -0.5 * k}};
  f.log_normaliser = wishart_normaliser(df) - 0.5 * extent() * log(k) + 0.5 * kLog2Pi * extent();
  f.entropy =
      wishart_entropy(df) + 0.5 * (1.0 + kLog2Pi) * extent() - 0.5 * extent() * log(k) - 0.5 * expected_logdet(df);
  f.valid = {k, df - extent() + 1.0};
  f.draw = wishart_draw(df);
  f.draw.push_back(noise("z_mean", 1, Noise::normal));
  f.draw.push_back(draw_result(
      1, mean(kFirst) + sqrt(reciprocal(k)) * sum(kA, inverse_root("value", kA, kFirst) * symbol("z_mean", kA)), true));
  // The covariance of the mean is E[L^-1] / precision_scale, with E[L^-1] = scale^-1 / (df - D - 1).
  f.moments = [](std::span<const double> p, std::size_t size) {
    const auto location = p.subspan(1, size);
    const double degrees = p[1 + size], freedom = degrees - static_cast<double>(size) - 1;
    const auto scale = as_matrix(p.subspan(2 + size), size);
    MeanAndSd m{{location.begin(), location.end()}, std::vector<double>(size, kInfinite)};
    if (!(freedom <= 0)) m.sd = values_of((inverse_diagonal(scale) / (freedom * p[0])).sqrt());
    add_wishart_moments(degrees, scale, m);
    return m;
  };
  row.margins = [](std::span<const double> p, std::size_t size) {
    const double freedom = p[1 + size] - static_cast<double>(size) + 1;
    const Eigen::ArrayXd sd = (inverse_diagonal(as_matrix(p.subspan(2 + size), size)) / (freedom * p[0])).sqrt();
    std::vector<ScalarMarginal> out;
    for (std::size_t j = 0; j < size; ++j)
      out.push_back({ScalarMarginal::Kind::student, freedom, p[1 + j], sd[static_cast<Eigen::Index>(j)]});
    out.resize(size + size * size);
    return out;
  };
  row.spread = [](std::span<const double> p, std::size_t size) {
    Spread s = wishart_inverse(p[1 + size], as_matrix(p.subspan(2 + size), size));
    s.inverse_precision_factor = 1 / p[0];
    for (const double x : s.inverse)
      s.covariance.push_back(s.inverse_precision_factor * x);
    return s;
  };
  row.factor = std::move(f);
  row.draw = [](std::span<const double> p, std::size_t size, Rng& rng) {
    const Matrix precision = draw_wishart(p[size + 1], as_matrix(p.subspan(size + 2), size), rng);
    std::vector<double> x = draw_mv_normal(p.first(size), p[size] * precision, rng);
    x.insert(x.end(), precision.data(), precision.data() + precision.size());
    return x;
  };
  return row;
}

}  // namespace

std::vector<FamilyRow> vector_families() {
  return {mv_normal(), wishart(), inverse_wishart(), dirichlet(), normal_gamma(), normal_wishart()};
}

}  // namespace lehr::math
