// Family rows of continuous distributions of one number. Formulas: Bishop (2006), appendix B; Johnson, Kotz &
// Balakrishnan (1994) for the inverse gamma.
#include "compiler/math/families/predictive_rows.h"
#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

FamilyRow normal() {
  const Expr x = symbol("x"), mean = symbol("mean"), precision = symbol("precision");
  FamilyRow row{.name = "Normal", .summary = "Gaussian on the reals", .support = Support::real};
  row.spellings = mean_and_precision();
  row.log_density = -0.5 * kLog2Pi + 0.5 * log(precision) - 0.5 * precision * square(x - mean);

  Factor f;
  f.parameters = {parameter("precision", 0, -2.0 * natural_symbol(Stat::square), ParameterRole::precision),
                  parameter("mean", 0, natural_symbol(Stat::value) / precision, ParameterRole::location)};
  f.statistics = {{Stat::value, mean, precision * mean},
                  {Stat::square, square(mean) + reciprocal(precision), -0.5 * precision}};
  f.log_normaliser = 0.5 * precision * square(mean) - 0.5 * log(precision) + 0.5 * kLog2Pi;
  f.entropy = 0.5 * (1.0 + kLog2Pi) - 0.5 * log(precision);
  f.valid = {precision};
  f.mode = mean;
  f.moments = number_moments([](std::span<const double> p) { return std::pair(p[1], 1 / std::sqrt(p[0])); });
  row.margins = number_margin([](std::span<const double> p) {
    return ScalarMarginal{ScalarMarginal::Kind::normal, p[1], 1 / std::sqrt(p[0])};
  });
  row.spread = number_spread([](std::span<const double> p) { return Spread{.covariance = {1 / p[0]}}; });
  f.draw = {noise("z", 0, Noise::normal), draw_result(0, mean + symbol("z") * sqrt(reciprocal(precision)))};
  row.factor = std::move(f);
  row.log_above = log_tail(sqrt(precision) * (x - mean));
  row.log_below = log_tail(sqrt(precision) * (mean - x));
  row.location = {"mean"};
  row.mean = mean;
  row.covariance = reciprocal(precision);
  row.gaussian = true;
  row.draw =
      number_drawn([](std::span<const double> p, Rng& rng) { return p[0] + draw_normal(rng) / std::sqrt(p[1]); });
  return row;
}

FamilyRow gamma() {
  const Expr x = symbol("x"), shape = symbol("shape"), rate = symbol("rate");
  FamilyRow row{.name = "Gamma", .summary = "positive reals, mean shape / rate", .support = Support::positive};
  row.spellings = {canonical("shape", 0, Support::positive), canonical("rate", 0, Support::positive),
                   alternative("scale", "rate", reciprocal(symbol("scale")))};
  row.log_density = shape * log(rate) - lgamma(shape) + (shape - 1.0) * log(x) - rate * x;

  Factor f;
  f.parameters = {parameter("shape", 0, natural_symbol(Stat::log) + 1.0),
                  parameter("rate", 0, -natural_symbol(Stat::value), ParameterRole::spread)};
  f.statistics = {{Stat::value, shape / rate, -rate}, {Stat::log, digamma(shape) - log(rate), shape - 1.0}};
  f.log_normaliser = lgamma(shape) - shape * log(rate);
  f.entropy = shape - log(rate) + lgamma(shape) + (1.0 - shape) * digamma(shape);
  f.valid = {shape, rate};
  f.mode = (shape - 1.0) / rate;
  f.moments = number_moments([](std::span<const double> p) { return gamma_moments(p[0], p[1]); });
  row.margins = number_margin([](std::span<const double> p) {
    return ScalarMarginal{ScalarMarginal::Kind::gamma, p[0], p[1]};
  });
  row.spread = number_spread([](std::span<const double> p) {
    Spread s = gamma_inverse(p[0], p[1]);
    s.covariance = {p[0] / (p[1] * p[1])};
    return s;
  });
  f.draw = {noise("g", 0, Noise::log_gamma, shape), draw_result(0, exp(symbol("g")) / rate)};
  f.drawn_statistics = {{Stat::log, symbol("g") - log(rate)}};
  f.interior = {shape - 1.0};
  row.factor = std::move(f);
  row.mean = shape / rate;
  row.covariance = shape * square(reciprocal(rate));
  row.predictive = predictive_gamma;
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) { return draw_gamma(rng, p[0]) / p[1]; });
  return row;
}

FamilyRow inverse_gamma() {
  const Expr x = symbol("x"), shape = symbol("shape"), scale = symbol("scale");
  FamilyRow row{.name = "InverseGamma", .summary = "1 / Gamma(shape, rate = scale)", .support = Support::positive};
  row.spellings = {canonical("shape", 0, Support::positive), canonical("scale", 0, Support::positive)};
  row.log_density = shape * log(scale) - lgamma(shape) - (shape + 1.0) * log(x) - scale * reciprocal(x);

  Factor f;
  f.parameters = {parameter("shape", 0, -natural_symbol(Stat::log) - 1.0),
                  parameter("scale", 0, -natural_symbol(Stat::inverse), ParameterRole::spread)};
  f.statistics = {{Stat::inverse, shape / scale, -scale}, {Stat::log, log(scale) - digamma(shape), -(shape + 1.0)}};
  f.log_normaliser = lgamma(shape) - shape * log(scale);
  f.entropy = shape + log(scale) + lgamma(shape) - (shape + 1.0) * digamma(shape);
  f.valid = {shape, scale};
  f.mode = scale / (shape + 1.0);
  f.draw = {noise("g", 0, Noise::log_gamma, shape), draw_result(0, scale * exp(-symbol("g")))};
  f.drawn_statistics = {{Stat::inverse, exp(symbol("g")) / scale}, {Stat::log, log(scale) - symbol("g")}};
  f.moments = number_moments([](std::span<const double> p) {
    const double mean = p[0] > 1 ? p[1] / (p[0] - 1) : kInfinite;
    return std::pair(mean, p[0] > 2 ? mean / std::sqrt(p[0] - 2) : kInfinite);
  });
  row.margins = number_margin([](std::span<const double> p) {
    return ScalarMarginal{ScalarMarginal::Kind::inverse_gamma, p[0], p[1]};
  });
  row.spread = number_spread([](std::span<const double> p) {
    const double a = p[0], b = p[1];
    return Spread{.covariance = {a > 2 ? b * b / ((a - 1) * (a - 1) * (a - 2)) : kInfinite},
                  .inverse = {a / b},
                  .inverse_square = {a * (a + 1) / (b * b)}};
  });
  row.factor = std::move(f);
  row.predictive = predictive_inverse_gamma;
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) { return p[1] / draw_gamma(rng, p[0]); });
  return row;
}

/// The exponential distribution. A latent variable with this prior gets a Gamma factor.
FamilyRow exponential() {
  const Expr x = symbol("x"), rate = symbol("rate");
  FamilyRow row{.name = "Exponential", .summary = "Gamma with shape 1", .support = Support::positive};
  row.spellings = {canonical("rate", 0, Support::positive)};
  row.positional = true;
  row.log_density = log(rate) - rate * x;
  row.log_above = -rate * x;
  row.log_below = log1m(exp(-rate * x));
  row.mean = reciprocal(rate);
  row.covariance = square(reciprocal(rate));
  row.predictive = predictive_exponential;
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) { return draw_exponential(rng) / p[0]; });
  row.tempered = [](std::span<const double> p, std::size_t, double temperature) {
    return std::log(p[0]) / temperature - std::log(p[0] / temperature);
  };
  return row;
}

/// The distribution of exp(y) for a Normal y. It has no factor: a latent variable can be written as the Normal y.
FamilyRow log_normal() {
  const Expr x = symbol("x"), mean = symbol("mean"), precision = symbol("precision");
  FamilyRow row{.name = "LogNormal", .summary = "exp of a Normal; not a factor", .support = Support::positive};
  row.spellings = mean_and_precision();
  row.log_density = 0.5 * log(precision) - 0.5 * kLog2Pi - log(x) - 0.5 * precision * square(log(x) - mean);
  row.mean = exp(mean + 0.5 * reciprocal(precision));
  row.covariance = square(exp(mean + 0.5 * reciprocal(precision))) * (exp(reciprocal(precision)) - 1.0);
  row.draw = number_drawn(
      [](std::span<const double> p, Rng& rng) { return std::exp(p[0] + draw_normal(rng) / std::sqrt(p[1])); });
  row.tempered = [](std::span<const double> p, std::size_t, double temperature) {
    const double rest = 1 - 1 / temperature;
    return 0.5 * rest * (kLog2Pi - std::log(p[1])) + 0.5 * std::log(temperature) + rest * p[0] +
           0.5 * rest * rest * temperature / p[1];
  };
  return row;
}

FamilyRow beta() {
  const Expr x = symbol("x"), a = symbol("a"), b = symbol("b");
  FamilyRow row{.name = "Beta", .summary = "probabilities, mean a / (a + b)", .support = Support::unit};
  row.spellings = {canonical("a", 0, Support::positive), canonical("b", 0, Support::positive)};
  row.positional = true;
  row.log_density = lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1.0) * log(x) + (b - 1.0) * log1m(x);

  Factor f;
  f.parameters = {parameter("a", 0, natural_symbol(Stat::log) + 1.0, ParameterRole::pseudo_count),
                  parameter("b", 0, natural_symbol(Stat::log1m) + 1.0, ParameterRole::pseudo_count)};
  f.statistics = {{Stat::log, digamma(a) - digamma(a + b), a - 1.0},
                  {Stat::log1m, digamma(b) - digamma(a + b), b - 1.0}};
  f.log_normaliser = lgamma(a) + lgamma(b) - lgamma(a + b);
  f.entropy = lgamma(a) + lgamma(b) - lgamma(a + b) + (1.0 - a) * digamma(a) + (1.0 - b) * digamma(b) +
              (a + b - 2.0) * digamma(a + b);
  f.valid = {a, b};
  // Where all values are equally probable (a = b = 1), the mode is defined as the middle.
  const Expr peaked = step(a + b - 2.0);
  f.mode = (a - 1.0 + 0.5 * (1.0 - peaked)) / (a + b - 2.0 + (1.0 - peaked));
  f.moments = number_moments([](std::span<const double> p) {
    const double mean = p[0] / (p[0] + p[1]);
    return std::pair(mean, std::sqrt(mean * (1 - mean) / (p[0] + p[1] + 1)));
  });
  row.margins = number_margin([](std::span<const double> p) {
    return ScalarMarginal{ScalarMarginal::Kind::beta, p[0], p[1]};
  });
  row.spread = number_spread([](std::span<const double> p) {
    const double first = p[0], n = p[0] + p[1], mean = first / n;
    return Spread{.covariance = {mean * (1 - mean) / (n + 1)},
                  .inverse = {first > 1 ? (n - 1) / (first - 1) : kInfinite},
                  .inverse_square = {first > 2 ? (n - 1) * (n - 2) / ((first - 1) * (first - 2)) : kInfinite}};
  });
  f.interior = {a - 1.0, b - 1.0};
  const Expr odds = symbol("g_a") - symbol("g_b");
  f.draw = {noise("g_a", 0, Noise::log_gamma, a), noise("g_b", 0, Noise::log_gamma, b),
            draw_result(0, reciprocal(1.0 + exp(-odds)))};
  f.drawn_statistics = {{Stat::log, -softplus(-odds)}, {Stat::log1m, -softplus(odds)}};
  row.factor = std::move(f);
  row.mean = a / (a + b);
  row.covariance = a * b / (square(a + b) * (a + b + 1.0));
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) { return draw_beta(rng, p[0], p[1]); });
  return row;
}

/// The improper density 1 on the reals. A latent variable with this prior gets a Normal factor.
FamilyRow flat() {
  FamilyRow row{.name = "Flat", .summary = "improper, constant on the reals", .support = Support::real};
  row.positional = true;
  row.improper = true;
  row.log_density = 0.0;
  return row;
}

/// The improper density 1/x on the positive reals. A latent variable with this prior gets a Gamma factor.
FamilyRow jeffreys() {
  FamilyRow row{.name = "Jeffreys", .summary = "improper, 1/x on the positive reals", .support = Support::positive};
  row.positional = true;
  row.improper = true;
  row.log_density = -log(symbol("x"));
  return row;
}

}  // namespace

std::vector<FamilyRow> scalar_families() {
  return {normal(), gamma(), inverse_gamma(), exponential(), log_normal(), beta(), flat(), jeffreys()};
}

}  // namespace lehr::math
