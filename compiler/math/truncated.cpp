// A Normal number that is known to lie between two limits: what an observed side or interval leaves of a Normal one
// (Albert & Chib, Bayesian analysis of binary and polychotomous response data, 1993; Tobin 1958).
#include <cmath>

#include "compiler/math/evaluate.h"
#include "compiler/math/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

constexpr double kNoLimit = 1e150;    // in the place of an infinite limit: its square is a number
constexpr double kFarOut = 100;       // standard deviations from where on the tail is its asymptotic series
constexpr double kOneNumber = 1e-30;  // square of the relative difference up to which two limits are one number
constexpr double kNarrow = 1e-3;  // change of the logarithm of the density up to which it is expanded about the middle

/// Expectations of z, standard Normal between a and b, mirrored so that the end nearer to 0 is the lower one; all
/// of them exact to the rounding of their largest part, in both tails. `apart` is 0 where a and b are one number.
struct Interval {
  Expr mean = 0.0, square = 0.0, log_mass = 0.0;
  Expr variance = 0.0;  // with all its digits where it is far less than the square of the mean
  Expr exact = 0.0;     // 1 where the limits are one number, which z then is
};

Interval interval(const Expr& a, const Expr& b, const Expr& apart) {
  const Expr mirrored = step(-(a + b)), straight = 1.0 - mirrored;
  const Expr near = straight * a - mirrored * b, far = straight * b - mirrored * a;
  const Expr width = far - near;
  const Expr exact = 1.0 - apart, narrow = step(kNarrow - width * (1.0 + far)), wide = 1.0 - narrow;
  const Expr w = narrow * width, middle = narrow * 0.5 * (near + far), w2 = square(w), middle2 = square(middle);
  // The hazard phi / Q of the nearer end, and what of it belongs to the farther one.
  const Expr out = step(near - kFarOut), inside = (1.0 - out) * near;
  const Expr ratio = exp(-0.5 * width * (near + far));  // of the densities
  const Expr farther = out * near + (1.0 - out), inverse2 = reciprocal(square(farther));
  const Expr asymptotic = near + out * (1.0 - inverse2 * (2.0 - 10.0 * inverse2)) / farther;
  const Expr hazard = (1.0 - out) * exp(-0.5 * square(inside) - 0.5 * kLog2Pi - log_tail(inside)) + out * asymptotic;
  const Expr beyond = (1.0 - out) * exp(log_tail(far) - log_tail(inside)) +
                      out * ratio * asymptotic * reciprocal(out * far + (1.0 - out));
  const Expr mass = 1.0 - beyond + narrow, other = hazard * ratio;
  Interval z;
  z.mean = (straight - mirrored) * (wide * (hazard - other) / mass + middle * (1.0 - w2 * (1.0 / 12.0)));
  z.square =
      wide * (1.0 + (near * hazard - far * other) / mass) + middle2 * (1.0 - w2 * (1.0 / 6.0)) + w2 * (1.0 / 12.0);
  z.variance = (wide - wide * out) * (z.square - square(z.mean)) +
               wide * out * (inverse2 - square(width * exp(-0.25 * width * (near + far)) / (1.0 - ratio + narrow))) +
               w2 * (1.0 / 12.0);
  z.log_mass = wide * (log_tail(near) + log(mass)) +
               narrow * (log(w + wide + exact) - 0.5 * middle2 - 0.5 * kLog2Pi + (middle2 - 1.0) * w2 * (1.0 / 24.0));
  z.exact = exact;
  return z;
}

/// A limit in units of x, from naturals: none, and all limits 0 where nothing is known of the number, so that it is
/// one that nothing reads.
Expr limit(Stat weight, Stat at, double none, const Expr& known) {
  const Expr n = natural_symbol(weight), limited = step(n);
  return natural_symbol(at) / (n + (1.0 - limited)) + none * (1.0 - limited) * known;
}

}  // namespace

const FamilyRow& truncated_normal() {
  static const FamilyRow kRow = [] {
    const Expr mean = symbol("mean"), precision = symbol("precision");
    const Expr lower = symbol("lower"), upper = symbol("upper");
    const Expr root = sqrt(precision), a = root * (lower - mean), b = root * (upper - mean);
    // Limits that come out of sums are one number to the rounding of these.
    const Expr apart = step(square(upper - lower) - kOneNumber * (square(upper) + square(lower)));
    const Interval z = interval(a, b, apart);
    FamilyRow row{.name = "TruncatedNormal", .summary = "Normal between two limits", .support = Support::real};
    row.improper = true;
    row.spellings = {canonical("precision", 0, Support::positive), canonical("mean"), canonical("lower"),
                     canonical("upper")};

    const Expr curved = -2.0 * natural_symbol(Stat::square), known = step(curved);
    const Expr weights = natural_symbol(Stat::above) + natural_symbol(Stat::below);
    Factor f;
    f.parameters = {parameter("precision", 0, curved + (1.0 - known) * (1.0 - step(weights)), ParameterRole::precision),
                    parameter("mean", 0, natural_symbol(Stat::value) / precision, ParameterRole::location),
                    parameter("lower", 0, limit(Stat::above, Stat::lower, -kNoLimit, known)),
                    parameter("upper", 0, limit(Stat::below, Stat::upper, kNoLimit, known))};
    f.parameters[0].written = curved;
    f.parameters[2].written = natural_symbol(Stat::lower) / natural_symbol(Stat::above);
    f.parameters[3].written = natural_symbol(Stat::upper) / natural_symbol(Stat::below);
    const Expr above = step(lower + 0.5 * kNoLimit), below = step(0.5 * kNoLimit - upper);
    const Expr spread = reciprocal(root);
    f.statistics = {
        {Stat::value, mean + z.mean * spread, precision * mean},
        {Stat::square, square(mean) + 2.0 * mean * z.mean * spread + z.square / precision, -0.5 * precision},
        {Stat::above, 0.0, above},
        {Stat::below, 0.0, below},
        {Stat::lower, 0.0, above * lower},
        {Stat::upper, 0.0, below * upper}};
    f.log_normaliser = 0.5 * precision * square(mean) + 0.5 * kLog2Pi - 0.5 * log(precision) + z.log_mass;
    f.entropy = (1.0 - z.exact) * (z.log_mass + 0.5 * kLog2Pi - 0.5 * log(precision) + 0.5 * z.square);
    f.valid = {precision};
    f.mode = mean + step(lower - mean) * (lower - mean) - step(mean - upper) * (mean - upper);
    FactorParameter draw = noise("z", 0, Noise::truncated, a);
    draw.noise_second = b;
    f.draw = {draw, drawn_value(0, mean + symbol("z") * spread)};
    f.moments = number_moments([z, a, b](std::span<const double> p) {
      const double sd = 1 / std::sqrt(p[0]);
      const Environment at{
          1, {{"precision", {0, {p[0]}}}, {"mean", {0, {p[1]}}}, {"lower", {0, {p[2]}}}, {"upper", {0, {p[3]}}}}};
      const double m = evaluate(z.mean, at);
      return std::pair(p[1] + sd * m, sd * std::sqrt(std::max(evaluate(z.variance, at), 0.0)));
    });
    row.factor = std::move(f);
    row.draw = number_drawn([](std::span<const double> p, Rng& rng) {
      const double scale = std::sqrt(p[0]);
      return p[1] + draw_truncated_normal(rng, scale * (p[2] - p[1]), scale * (p[3] - p[1])) / scale;
    });
    return row;
  }();
  return kRow;
}

}  // namespace lehr::math
