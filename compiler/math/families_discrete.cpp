// Family rows of discrete distributions. Formulas: Bishop (2006), appendix B. Only families with a constant base
// measure can be variational factors. For the others (Poisson, Binomial, Multinomial), eta.t(x) - A(eta) is not all of
// log q.
#include <algorithm>

#include <Eigen/Core>

#include "compiler/math/predictive_rows.h"
#include "compiler/math/rows.h"
#include "compiler/math/special.h"

namespace lehr::math {

using namespace rows;

namespace {

FamilyRow bernoulli() {
  const Expr x = symbol("x"), p = symbol("p"), n_value = natural_symbol(Stat::value);
  FamilyRow row{.name = "Bernoulli", .summary = "0 or 1, probability p of 1", .support = Support::bit};
  row.spellings = {canonical("p", 0, Support::unit)};
  row.positional = true;
  row.log_density = x * log(p) + (1.0 - x) * log1m(p);

  Factor f;
  f.parameters = {parameter("p", 0, reciprocal(1.0 + exp(-n_value)), ParameterRole::probability)};
  f.statistics = {{Stat::value, p, log(p) - log1m(p)}};
  f.log_normaliser = -log1m(p);
  f.entropy = -xlogx(p) - xlogx(1.0 - p);
  f.mode = step(p - 0.5);
  f.draw = {noise("u", 0, Noise::uniform), draw_result(0, step(p - symbol("u")))};
  f.moments = mean_alone;
  row.spread = number_spread([](std::span<const double> q) { return Spread{.covariance = {q[0] * (1 - q[0])}}; });
  row.factor = std::move(f);
  row.mean = p;
  row.covariance = p * (1.0 - p);
  row.draw = number_drawn([](std::span<const double> q, Rng& rng) { return draw_uniform(rng) < q[0] ? 1.0 : 0.0; });
  return row;
}

FamilyRow spin() {
  const Expr mean = symbol("mean");
  FamilyRow row{.name = "Spin", .summary = "uniform on -1 and +1", .support = Support::spin};
  row.positional = true;
  row.log_density = -kLog2;

  // The factor is q(x) proportional to exp(h x): E[x] = tanh(h), A = log(2 cosh h).
  Factor f;
  f.parameters = {parameter("mean", 0, tanh(natural_symbol(Stat::value)), ParameterRole::location)};
  f.parameters[0].from_density = 0.0;
  f.statistics = {{Stat::value, mean, 0.5 * log(1.0 + mean) - 0.5 * log1m(mean)}};
  f.log_normaliser = kLog2 - 0.5 * log(1.0 + mean) - 0.5 * log1m(mean);
  f.entropy = -xlogx(0.5 * (1.0 + mean)) - xlogx(0.5 * (1.0 - mean));
  f.mode = 2.0 * step(mean) - 1.0;
  f.draw = {noise("u", 0, Noise::uniform), draw_result(0, 2.0 * step(0.5 * (1.0 + mean) - symbol("u")) - 1.0)};
  f.moments = mean_alone;
  row.spread = number_spread([](std::span<const double> q) { return Spread{.covariance = {1 - q[0] * q[0]}}; });
  row.factor = std::move(f);
  row.mean = 0.0;
  row.covariance = 1.0;
  row.draw = number_drawn([](std::span<const double>, Rng& rng) { return draw_uniform(rng) < 0.5 ? -1.0 : 1.0; });
  return row;
}

FamilyRow binomial() {
  const Expr x = symbol("x"), n = symbol("n"), p = symbol("p");
  FamilyRow row{.name = "Binomial", .summary = "successes in n trials", .support = Support::count};
  row.spellings = {canonical("n", 0, Support::count), canonical("p", 0, Support::unit)};
  row.positional = true;
  row.log_density = lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0) + x * log(p) + (n - x) * log1m(p);
  row.mean = n * p;
  row.covariance = n * p * (1.0 - p);
  row.predictive = predictive_binomial;
  row.draw = [](std::span<const double> q, std::size_t, Rng& rng) {
    const auto n_trials = static_cast<std::int64_t>(q[0]);
    return std::vector<double>{static_cast<double>(draw_binomial(rng, n_trials, q[1]))};
  };
  return row;
}

FamilyRow geometric() {
  const Expr x = symbol("x"), p = symbol("p");
  FamilyRow row{.name = "Geometric", .summary = "failures before the first success", .support = Support::count};
  row.spellings = {canonical("p", 0, Support::unit)};
  row.positional = true;
  row.log_density = x * log1m(p) + log(p);
  row.log_above = x * log1m(p);
  row.log_below = log1m(exp((x + 1.0) * log1m(p)));

  Factor f;
  f.parameters = {parameter("p", 0, 1.0 - exp(natural_symbol(Stat::value)), ParameterRole::probability)};
  f.statistics = {{Stat::value, (1.0 - p) / p, log1m(p)}};
  f.log_normaliser = -log(p);
  f.entropy = -(xlogx(p) + xlogx(1.0 - p)) / p;
  f.mode = 0.0;
  f.moments = number_moments(
      [](std::span<const double> q) { return std::pair((1 - q[0]) / q[0], std::sqrt(1 - q[0]) / q[0]); });
  row.margins = number_margin([](std::span<const double> q) {
    return ScalarMarginal{ScalarMarginal::Kind::geometric, q[0]};
  });
  row.spread =
      number_spread([](std::span<const double> q) { return Spread{.covariance = {(1 - q[0]) / (q[0] * q[0])}}; });
  f.valid = {p};
  row.factor = std::move(f);
  row.mean = reciprocal(p) - 1.0;
  row.covariance = square(reciprocal(p)) - reciprocal(p);
  row.predictive = predictive_geometric;
  row.draw = [](std::span<const double> q, std::size_t, Rng& rng) {
    if (q[0] >= 1.0) return std::vector<double>{0.0};
    return std::vector<double>{std::floor(draw_exponential(rng) / -std::log1p(-q[0]))};
  };
  return row;
}

/// The number of failures before the r-th success. The density is conjugate to a Beta in p; r is a constant, or a
/// point.
FamilyRow negative_binomial() {
  const Expr x = symbol("x"), r = symbol("r"), p = symbol("p");
  FamilyRow row{.name = "NegativeBinomial",
                .summary = "failures before the r-th success, mean r (1 - p) / p",
                .support = Support::count};
  row.spellings = {canonical("r", 0, Support::positive), canonical("p", 0, Support::unit)};
  row.positional = true;
  row.alternative_row = "GammaPoisson";
  row.log_density = lgamma(x + r) - lgamma(r) - lgamma(x + 1.0) + r * log(p) + x * log1m(p);
  row.mean = r * reciprocal(p) - r;
  row.covariance = r * square(reciprocal(p)) - r * reciprocal(p);
  row.predictive = predictive_negative_binomial;
  row.draw = [](std::span<const double> q, std::size_t, Rng& rng) {
    const double rate = draw_gamma(rng, q[0]) * (1 - q[1]) / q[1];
    return std::vector<double>{static_cast<double>(draw_poisson(rng, rate))};
  };
  return row;
}

FamilyRow poisson() {
  const Expr x = symbol("x"), rate = symbol("rate");
  FamilyRow row{.name = "Poisson", .summary = "counts with mean rate", .support = Support::count};
  row.spellings = {canonical("rate", 0, Support::positive)};
  row.positional = true;
  row.log_density = x * log(rate) - rate - lgamma(x + 1.0);
  row.mean = rate;
  row.covariance = rate;
  row.predictive = predictive_poisson;
  row.draw = number_drawn([](std::span<const double> q, Rng& rng) { return draw_poisson(rng, q[0]); });
  return row;
}

/// The distribution of the constant 0, as a part of a mixture. Other values have log density -1e9: exp of it is 0, and
/// the logarithm stays finite.
FamilyRow zero() {
  constexpr double kImpossible = -1e9;
  FamilyRow row{.name = "Zero", .summary = "always 0: a part of a mixture of counts", .support = Support::count};
  row.positional = true;
  row.log_density = kImpossible * step(symbol("x") - 0.5);
  row.mean = 0.0;
  row.covariance = 0.0;
  row.draw = number_drawn([](std::span<const double>, Rng&) { return 0.0; });
  row.tempered = [](std::span<const double>, std::size_t, double) { return 0.0; };
  return row;
}

FamilyRow categorical() {
  const Expr probs = symbol("probs", kFirst);
  FamilyRow row{.name = "Categorical", .summary = "an element of a plate", .support = Support::category};
  row.spellings = {canonical("p", 1, Support::simplex)};
  row.positional = true;
  row.log_density = log(at_value("p", "x"));

  Factor f;
  f.parameters = {parameter(
      "probs", 1, exp(natural_symbol(Stat::indicator, kFirst)) / sum(kA, exp(natural_symbol(Stat::indicator, kA))),
      ParameterRole::probabilities)};
  f.parameters[0].from_density = symbol("p", kFirst);
  f.statistics = {{Stat::indicator, probs, log(probs)}};
  f.log_normaliser = 0.0;
  f.entropy = -sum(kA, xlogx(symbol("probs", kA)));
  f.softmax = true;
  f.moments = mean_alone;
  row.factor = std::move(f);
  row.mean = symbol("p", kFirst);
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) { return draw_categorical(rng, p); });
  row.tempered = [](std::span<const double> p, std::size_t, double temperature) {
    const Eigen::Map<const Eigen::ArrayXd> q(p.data(), static_cast<Eigen::Index>(p.size()));
    return std::log((q.log() / temperature).exp().sum());
  };
  return row;
}

/// The uniform distribution over the elements of a plate. A latent variable with this prior gets a Categorical factor.
FamilyRow uniform() {
  FamilyRow row{.name = "Uniform", .summary = "any element of a plate", .support = Support::category};
  row.positional = true;
  row.log_density = -log(extent());
  row.mean = reciprocal(extent());
  row.draw = [](std::span<const double>, std::size_t size, Rng& rng) {
    const auto values = static_cast<double>(size);
    return std::vector<double>{std::min(values - 1, std::floor(draw_uniform(rng) * values))};
  };
  row.tempered = [](std::span<const double>, std::size_t size, double temperature) {
    return std::log(static_cast<double>(size)) * (1 - 1 / temperature);
  };
  return row;
}

/// Returns the log of the sum over x of a Multinomial density to the power b, the inverse temperature.
///
/// The sum is n!^b times the coefficient of s^n in the product over j of f_j(s) = sum_x (p_j^x / x!)^b s^x. At s =
/// exp(tilt), f_j normalised is a distribution of x_j. The tilt at which their sum has mean n makes the coefficient a
/// probability that neither underflows nor cancels.
double multinomial_tempered(double n, std::span<const double> p, double inverse_temperature) {
  using Eigen::ArrayXd;
  const auto count = static_cast<Eigen::Index>(n);
  const ArrayXd x = ArrayXd::LinSpaced(count + 1, 0.0, n);
  const ArrayXd log_factorial = x.unaryExpr([](double v) { return log_gamma_value(v + 1.0); });
  const auto distribution = [&](double p_j, double tilt, double& log_sum) -> ArrayXd {
    ArrayXd log_weight = inverse_temperature * (x * std::log(p_j) - log_factorial) + tilt * x;
    log_weight[0] = 0.0;  // also where p_j is 0
    const double top = log_weight.maxCoeff();
    const ArrayXd weight = (log_weight - top).exp();
    log_sum = top + std::log(weight.sum());
    return weight / weight.sum();
  };
  // The mean of the sum grows with the tilt: bracket the solution, then bisect.
  double low = -1.0, high = 1.0, ignored = 0.0;
  const auto mean = [&](double tilt) {
    double total = 0.0;
    for (double p_j : p)
      total += (distribution(p_j, tilt, ignored) * x).sum();
    return total;
  };
  while (mean(low) > n && low > -1e6)
    low *= 2.0;
  while (mean(high) < n && high < 1e6)
    high *= 2.0;
  for (int step = 0; step < 30; ++step)
    (mean((low + high) / 2) < n ? low : high) = (low + high) / 2;
  const double tilt = (low + high) / 2;
  // Convolve the tilted distributions, and take the tilt out of the result.
  double out = inverse_temperature * log_factorial[count] - tilt * n;
  ArrayXd total = ArrayXd::Zero(count + 1);
  total[0] = 1.0;
  for (double p_j : p) {
    const ArrayXd next = distribution(p_j, tilt, ignored);
    out += ignored;
    ArrayXd sum = ArrayXd::Zero(count + 1);
    for (Eigen::Index k = 0; k <= count; ++k) {
      if (total[k] > 0.0) sum.tail(count + 1 - k) += total[k] * next.head(count + 1 - k);
    }
    total = sum;
  }
  return out + std::log(total[count]);
}

/// Counts of n categories. The density mentions n only as the sum of x, so n may be omitted where x is observed.
FamilyRow multinomial() {
  const Expr x = symbol("x", kA), p = symbol("p", kA);
  FamilyRow row{.name = "Multinomial", .summary = "counts of n categories", .support = Support::counts};
  row.spellings = {canonical("n", 0, Support::count), canonical("p", 1, Support::simplex)};
  row.spellings[0].optional = true;
  row.positional = true;
  row.log_density = lgamma(sum(kA, x) + 1.0) - sum(kA, lgamma(x + 1.0)) + sum(kA, x * log(p));
  const Expr n = symbol("n"), p_j = symbol("p", kFirst);
  row.mean = n * p_j;
  row.covariance = n * p_j * (delta(kFirst, kSecond) - symbol("p", kSecond));
  row.predictive = predictive_binomial;
  // Draw each count given those before it: Binomial with what is left of n and of the mass.
  row.draw = [](std::span<const double> q, std::size_t size, Rng& rng) {
    std::vector<double> counts(size, 0.0);
    auto left = static_cast<std::int64_t>(q[0]);
    double mass_left = 1.0;
    for (std::size_t j = 0; j + 1 < size && left > 0 && mass_left > 0.0; ++j) {
      const std::int64_t count = draw_binomial(rng, left, std::min(1.0, q[1 + j] / mass_left));
      counts[j] = static_cast<double>(count);
      left -= count;
      mass_left -= q[1 + j];
    }
    counts[size - 1] += static_cast<double>(left);
    return counts;
  };
  row.tempered = [](std::span<const double> q, std::size_t size, double temperature) {
    return multinomial_tempered(q[0], q.subspan(1, size), 1.0 / temperature);
  };
  return row;
}

}  // namespace

std::vector<FamilyRow> discrete_families() {
  return {bernoulli(), spin(),      categorical(),       uniform(), multinomial(),
          binomial(),  geometric(), negative_binomial(), poisson(), zero()};
}

}  // namespace lehr::math
