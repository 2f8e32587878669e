// Family rows of scales. They are standard deviations whose squares are inverse gamma, and densities of the distance
// from their centre divided by a scale.
#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

/// The distribution of a number whose square is InverseGamma. It is conjugate to the standard deviation of a Normal.
FamilyRow root_inverse_gamma() {
  const Expr x = symbol("x"), shape = symbol("shape"), scale = symbol("square_scale");
  FamilyRow row{.name = "RootInverseGamma", .summary = "square root of an InverseGamma", .support = Support::positive};
  row.spellings = {canonical("shape", 0, Support::positive), canonical("square_scale", 0, Support::positive)};
  row.log_density =
      kLog2 + shape * log(scale) - lgamma(shape) - (2.0 * shape + 1.0) * log(x) - scale * square(reciprocal(x));

  Factor f;
  f.parameters = {parameter("shape", 0, -0.5 * natural_symbol(Stat::log) - 0.5),
                  parameter("square_scale", 0, -natural_symbol(Stat::inverse_square), ParameterRole::spread)};
  f.statistics = {{Stat::inverse_square, shape / scale, -scale},
                  {Stat::log, 0.5 * (log(scale) - digamma(shape)), -(2.0 * shape + 1.0)}};
  f.log_normaliser = lgamma(shape) - shape * log(scale) - kLog2;
  f.entropy = shape + 0.5 * log(scale) + lgamma(shape) - (shape + 0.5) * digamma(shape) - kLog2;
  f.valid = {shape, scale};
  f.mode = sqrt(2.0 * scale / (2.0 * shape + 1.0));
  f.draw = {noise("g", 0, Noise::log_gamma, shape), draw_result(0, sqrt(scale * exp(-symbol("g"))))};
  f.drawn_statistics = {{Stat::inverse_square, exp(symbol("g")) / scale},
                        {Stat::log, 0.5 * (log(scale) - symbol("g"))}};
  f.moments = number_moments([](std::span<const double> p) {
    const double mean =
        p[0] > 0.5 ? std::sqrt(p[1]) * std::exp(std::lgamma(p[0] - 0.5) - std::lgamma(p[0])) : kInfinite;
    return std::pair(mean, p[0] > 1 ? std::sqrt(p[1] / (p[0] - 1) - mean * mean) : kInfinite);
  });
  row.spread = number_spread([](std::span<const double> p) {
    const double mean = std::exp(std::lgamma(p[0] - 0.5) - std::lgamma(p[0]));
    return Spread{.covariance = {p[0] > 1 ? p[1] * (1 / (p[0] - 1) - mean * mean) : kInfinite},
                  .inverse = {std::exp(std::lgamma(p[0] + 0.5) - std::lgamma(p[0])) / std::sqrt(p[1])},
                  .inverse_square = {p[0] / p[1]}};
  });
  row.factor = std::move(f);
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) { return std::sqrt(p[1] / draw_gamma(rng, p[0])); });
  return row;
}

FamilyRow half_normal() {
  const Expr x = symbol("x"), scale = symbol("scale");
  FamilyRow row{.name = "HalfNormal",
                .summary = "absolute value of a Normal with mean 0 and sd scale",
                .support = Support::positive};
  row.spellings = {canonical("scale", 0, Support::positive)};
  row.positional = true;
  row.log_density = 0.5 * std::log(2 / std::numbers::pi) - log(scale) - 0.5 * square(x) * square(reciprocal(scale));
  row.mean = std::sqrt(2 / std::numbers::pi) * scale;
  row.covariance = (1 - 2 / std::numbers::pi) * square(scale);
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) { return std::abs(draw_normal(rng)) * p[0]; });
  row.tempered = [](std::span<const double> p, std::size_t, double temperature) {
    const double log_height = 0.5 * std::log(2 / std::numbers::pi) - std::log(p[0]);
    return log_height / temperature - log_height + 0.5 * std::log(temperature);
  };
  return row;
}

/// The double exponential distribution. A latent variable with this prior gets a Normal factor.
FamilyRow laplace() {
  const Expr x = symbol("x"), mean = symbol("mean"), rate = symbol("rate");
  FamilyRow row{.name = "Laplace", .summary = "double exponential on the reals", .support = Support::real};
  row.spellings = {canonical("mean"), canonical("rate", 0, Support::positive),
                   alternative("scale", "rate", reciprocal(symbol("scale")))};
  row.log_density = log(rate) - kLog2 - rate * abs(x - mean);
  row.location = {"mean"};
  row.mean = mean;
  row.covariance = 2.0 * square(reciprocal(rate));
  row.draw = number_drawn([](std::span<const double> p, Rng& rng) {
    const double size = draw_exponential(rng) / p[1];
    return p[0] + (draw_uniform(rng) < 0.5 ? -size : size);
  });
  row.tempered = [](std::span<const double> p, std::size_t, double temperature) {
    const double log_height = std::log(p[1] / 2);
    return log_height / temperature - log_height + std::log(temperature);
  };
  return row;
}

}  // namespace

std::vector<FamilyRow> scale_families() { return {root_inverse_gamma(), half_normal(), laplace()}; }

}  // namespace lehr::math
