// Family rows of discrete distributions. Formulas: Bishop (2006), appendix B. Only families with a constant base
// measure can be variational factors. For the others (Poisson, Binomial, Multinomial), eta.t(x) - A(eta) is not all of
// log q.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>

#include <Eigen/Core>

#include "compiler/math/families/predictive_rows.h"
#include "compiler/math/families/rows.h"
#include "compiler/math/special.h"

namespace lehr::math {

using namespace rows;

namespace {

/// Returns the log of the sum of terms of which that at `mode` is 1 and the largest. `log_ratio(x)` is the log of term
/// x divided by term x - 1; terms from 0 to `last` count.
double log_sum_about(double mode, double last, const std::function<double(double)>& log_ratio) {
  constexpr double kSmallTerm = 1e-18;
  double total = 1;
  for (double x = mode + 1, log_term = 0, term = 1; x <= last && term > kSmallTerm * total; ++x)
    total += term = std::exp(log_term += log_ratio(x));
  for (double x = mode, log_term = 0, term = 1; x > 0 && term > kSmallTerm * total; --x)
    total += term = std::exp(log_term -= log_ratio(x));
  return std::log(total);
}

/// Returns the log of the sum over x of a negative binomial density to the power b.
double negative_binomial_tempered(double r, double p, double b) {
  if (!(p > 0 && p < 1)) return p == 1 ? 0 : p == 0 ? HUGE_VAL : p;
  const double log_q = std::log1p(-p), mode = std::max(0.0, std::floor((r - 1) * (1 - p) / p));
  const double at_mode =
      log_gamma_value(mode + r) - log_gamma_value(r) - log_gamma_value(mode + 1) + r * std::log(p) + mode * log_q;
  return b * at_mode + log_sum_about(mode, HUGE_VAL, [&](double x) { return b * (std::log((x - 1 + r) / x) + log_q); });
}

/// Returns the log of the sum over x of a Binomial density to the power b.
double binomial_tempered(double n, double p, double b) {
  if (!(p > 0 && p < 1)) return p == 0 || p == 1 ? 0 : p;
  const double mode = std::min(n, std::floor((n + 1) * p)), log_odds = std::log(p) - std::log1p(-p);
  const double at_mode = log_gamma_value(n + 1) - log_gamma_value(mode + 1) - log_gamma_value(n - mode + 1) +
                         mode * std::log(p) + (n - mode) * std::log1p(-p);
  return b * at_mode + log_sum_about(mode, n, [&](double x) { return b * (std::log((n - x + 1) / x) + log_odds); });
}

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

/// Makes the row of a bit whose 1 - x is a statistic of its own. A sum of what x and 1 - x choose then has no summand
/// that the other half cancels. Both have a least expectation: what x chooses has a tangent point also where x is 0,
/// which is the quotient of two naturals with this weight.
FamilyRow switching_bit_row() {
  constexpr double kLeastSquare = 1e-300;
  FamilyRow row = bernoulli();
  const Expr p = symbol("p");
  Factor& f = *row.factor;
  f.parameters[0].from_natural = reciprocal(1.0 + exp(natural_symbol(Stat::complement) - natural_symbol(Stat::value)));
  f.statistics[0].expectation = sqrt(square(p) + kLeastSquare);
  f.statistics.push_back({Stat::complement, sqrt(square(1.0 - p) + kLeastSquare), 0.0});
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
    return std::vector<double>{draw_binomial(rng, q[0], q[1])};
  };
  row.tempered = [](std::span<const double> q, std::size_t, double temperature) {
    return binomial_tempered(q[0], q[1], 1 / temperature);
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
  row.tempered = [](std::span<const double> q, std::size_t, double temperature) {
    return negative_binomial_tempered(q[0], q[1], 1 / temperature);
  };
  row.draw = [](std::span<const double> q, std::size_t, Rng& rng) {
    const double rate = draw_gamma(rng, q[0]) * (1 - q[1]) / q[1];
    return std::vector<double>{draw_poisson(rng, rate)};
  };
  return row;
}

/// Returns the log of the sum over x of a Poisson density to the power b: the normaliser of a Conway-Maxwell-Poisson
/// distribution. Terms are added up, or come from the asymptotic series in 1 / (b rate) of Gaunt, Iyengar, Olde
/// Daalhuis & Simsek (2019), whose next term is then below 1e-11.
double poisson_tempered(double rate, double b) {
  constexpr double kLarge = 500;
  if (!(rate > 0)) return rate == 0 ? 0 : rate;
  const double v = b * b, z = 1 / (b * rate);
  if (b * rate > kLarge && rate > kLarge) {
    const double first = (v - 1) / 24, second = (v - 1) * (v + 23) / 1152;
    const double third = (v - 1) * (5 * v * v - 298 * v + 11237) / 414720;
    return 0.5 * (1 - b) * std::log(2 * std::numbers::pi * rate) - 0.5 * std::log(b) +
           std::log1p(z * (first + z * (second + z * third)));
  }
  const double mode = std::floor(rate);
  return b * (mode * std::log(rate) - rate - log_gamma_value(mode + 1)) +
         log_sum_about(mode, HUGE_VAL, [&](double x) { return b * std::log(rate / x); });
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
  row.tempered = [](std::span<const double> q, std::size_t, double temperature) {
    return poisson_tempered(q[0], 1 / temperature);
  };
  return row;
}

/// The distribution of the constant 0, as a part of a mixture.
FamilyRow zero() {
  FamilyRow row{.name = "Zero", .summary = "always 0: a part of a mixture of counts", .support = Support::count};
  row.positional = true;
  row.log_density = log(step(0.5 - symbol("x")));
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

/// A distribution of one count of a Multinomial to a power, tilted (multinomial_tempered).
struct TiltedCounts {
  std::int64_t first = 0;       // the first count that has a weight; those of others are below 1e-24 of the largest
  std::vector<double> weights;  // probabilities
  double log_sum = 0;           // log of what they were divided by
  double mean = 0, variance = 0;
};

/// Returns the distribution of x = 0 .. n proportional to (p^x / x!)^b exp(tilt x).
TiltedCounts tilted_counts(double n, double p, double b, double tilt) {
  constexpr double kSmall = -55;
  const double log_rate = b * std::log(p) + tilt;  // of p = 0: all mass is at 0
  const auto log_ratio = [&](double x) { return log_rate - b * std::log(x); };
  const double mode = std::clamp(std::floor(std::exp(std::min(log_rate / b, 700.0))), 0.0, n);
  std::vector<double> down;
  double log_term = 0;
  for (double x = mode; x > 0 && (log_term -= log_ratio(x)) > kSmall; --x)
    down.push_back(std::exp(log_term));
  TiltedCounts out;
  out.first = static_cast<std::int64_t>(mode) - std::ssize(down);
  out.weights.assign(down.rbegin(), down.rend());
  out.weights.push_back(1.0);
  log_term = 0;
  for (double x = mode + 1; x <= n && (log_term += log_ratio(x)) > kSmall; ++x)
    out.weights.push_back(std::exp(log_term));
  const double sum = std::accumulate(out.weights.begin(), out.weights.end(), 0.0);
  for (std::size_t k = 0; k < out.weights.size(); ++k) {
    out.weights[k] /= sum;
    out.mean += out.weights[k] * static_cast<double>(out.first + static_cast<std::int64_t>(k));
  }
  for (std::size_t k = 0; k < out.weights.size(); ++k) {
    const double from_mean = static_cast<double>(out.first + static_cast<std::int64_t>(k)) - out.mean;
    out.variance += out.weights[k] * from_mean * from_mean;
  }
  const double at_mode = mode > 0 ? mode * log_rate - b * log_gamma_value(mode + 1) : 0.0;
  out.log_sum = at_mode + std::log(sum);
  return out;
}

/// Returns the probability that independent counts have the sum n, by convolution.
double probability_by_convolution(const std::vector<TiltedCounts>& counts, std::int64_t n) {
  std::int64_t first = 0;
  std::vector<double> total = {1.0};
  for (const TiltedCounts& next : counts) {
    first += next.first;
    const std::int64_t most = std::max<std::int64_t>(1, n - first + 1);
    std::vector<double> sum(
        static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(total) + std::ssize(next.weights) - 1, most)));
    for (std::size_t k = 0; k < total.size(); ++k) {
      for (std::size_t i = 0; i < next.weights.size() && k + i < sum.size(); ++i)
        sum[k + i] += total[k] * next.weights[i];
    }
    total = std::move(sum);
  }
  const std::int64_t at = n - first;
  return at < 0 || at >= std::ssize(total) ? 0.0 : total[static_cast<std::size_t>(at)];
}

/// Returns the probability that independent counts have the sum n, by the Fourier integral of their characteristic
/// functions. The trapezoidal rule adds probabilities at a distance of 30 standard deviations, and few of its points
/// matter if the standard deviation is large.
double probability_by_fourier(const std::vector<TiltedCounts>& counts, double n, double sd) {
  constexpr double kNegligible = 1e-18;
  const double points = std::ceil(30 * sd), step = 2 * std::numbers::pi / points;
  double total = 1;
  int negligible = 0;
  for (double k = 1; k < points / 2 && negligible < 3; ++k) {
    std::complex<double> product = 1;
    double shift = -n;
    for (const TiltedCounts& c : counts) {
      const std::complex<double> rotation = std::polar(1.0, k * step);
      std::complex<double> at = 0;  // Horner's rule
      for (std::size_t i = c.weights.size(); i-- > 0;)
        at = std::complex<double>(at.real() * rotation.real() - at.imag() * rotation.imag() + c.weights[i],
                                  at.real() * rotation.imag() + at.imag() * rotation.real());
      product *= at;
      shift += static_cast<double>(c.first);
    }
    product *= std::polar(1.0, std::fmod(k * shift, points) * step);
    total += 2 * product.real();
    negligible = std::abs(product) < kNegligible ? negligible + 1 : 0;
  }
  return total / points;
}

/// Returns the log of the sum over x of a Multinomial density to the power b, the inverse temperature.
///
/// The sum is n!^b times the coefficient of s^n in the product over j of f_j(s) = sum_x (p_j^x / x!)^b s^x. At s =
/// exp(tilt), f_j normalised is a distribution of x_j. The tilt at which their sum has mean n makes the coefficient a
/// probability that neither underflows nor cancels.
double multinomial_tempered(double n, std::span<const double> p, double b) {
  if (n == 0) return 0;
  // Newton's method from the tilt at which modes have the sum n, with a bracket. It need not be exact.
  double tilt = b * std::log(n / std::accumulate(p.begin(), p.end(), 0.0)), sd = 0;
  double low = -HUGE_VAL, high = HUGE_VAL;
  std::vector<TiltedCounts> counts;
  for (int step = 0; step < 100; ++step) {
    double mean = 0, variance = 0;
    counts.clear();
    for (const double p_j : p) {
      counts.push_back(tilted_counts(n, p_j, b, tilt));
      mean += counts.back().mean;
      variance += counts.back().variance;
    }
    sd = std::sqrt(variance);
    if (std::abs(n - mean) <= 0.1 * sd) break;
    (mean < n ? low : high) = tilt;
    double next = tilt + std::clamp((n - mean) / variance, -5.0, 5.0);
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (!std::isfinite(next) || next == tilt) break;
    tilt = next;
  }
  constexpr double kWide = 20;  // standard deviation from which few points of the integral matter
  const double probability = sd > kWide ? probability_by_fourier(counts, n, sd)
                                        : probability_by_convolution(counts, static_cast<std::int64_t>(n));
  double out = b * log_gamma_value(n + 1.0) - tilt * n + std::log(probability);
  for (const TiltedCounts& c : counts)
    out += c.log_sum;
  return out;
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
    double left = q[0], mass_left = 1.0;
    for (std::size_t j = 0; j + 1 < size && left > 0 && mass_left > 0.0; ++j) {
      counts[j] = draw_binomial(rng, left, std::min(1.0, q[1 + j] / mass_left));
      left -= counts[j];
      mass_left -= q[1 + j];
    }
    counts[size - 1] += left;
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

const FamilyRow& switching_bit() {
  static const FamilyRow kRow = switching_bit_row();
  return kRow;
}

}  // namespace lehr::math
