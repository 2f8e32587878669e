// The family row of a Normal number between two limits. It is what an observed sign, interval or censored value leaves
// of a Normal latent number. Sources: Albert & Chib, Bayesian analysis of binary and polychotomous response data
// (1993); Tobin (1958).
//
// The formulas stay accurate in both tails and for narrow intervals. Far out they use the hazard phi / Q; where the
// interval is narrow, they use an expansion about its middle.
#include <cmath>

#include "compiler/math/evaluate.h"
#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

constexpr double kNoLimit = 1e150;    // replaces an infinite limit: its square is finite
constexpr double kFarOut = 100;       // standard deviations from which the tail is computed by its asymptotic series
constexpr double kOneNumber = 1e-30;  // square of the relative difference below which two limits are equal
/// An interval is narrow if the log density changes by less than this over it.
constexpr double kNarrow = 1e-3;

/// Expectations of a standard Normal z between a and b. The interval is mirrored if needed, so that the end nearer to 0
/// is the lower one. All results are exact to the rounding of their largest part, in both tails.
struct Interval {
  Expr mean = 0.0, square = 0.0, log_mass = 0.0;  // E[z], E[z^2], log P(a < z < b)
  Expr variance = 0.0;                            // with all its digits, also where it is far smaller than E[z]^2
  Expr exact = 0.0;                               // 1 if the limits are equal, so that z is that number
};

/// Returns these expectations as formulas. `distinct` is 0 where a and b are equal, else 1.
Interval interval(const Expr& a, const Expr& b, const Expr& distinct) {
  const Expr mirrored = step(-(a + b)), straight = 1.0 - mirrored;
  const Expr near = straight * a - mirrored * b, far = straight * b - mirrored * a;
  const Expr width = far - near;
  const Expr exact = 1.0 - distinct, narrow = step(kNarrow - width * (1.0 + far)), wide = 1.0 - narrow;
  const Expr w = narrow * width, middle = narrow * 0.5 * (near + far), w2 = square(w), middle2 = square(middle);
  // The hazard phi / Q at the nearer end, and the fraction of the tail that lies beyond the farther one.
  const Expr out = step(near - kFarOut), inside = (1.0 - out) * near;
  const Expr ratio = exp(-0.5 * width * (near + far));  // of the two densities
  const Expr farther = out * near + (1.0 - out), inverse2 = reciprocal(square(farther));
  const Expr asymptotic = near + out * (1.0 - inverse2 * (2.0 - 10.0 * inverse2)) / farther;
  const Expr hazard = (1.0 - out) * exp(-0.5 * square(inside) - 0.5 * kLog2Pi - log_tail(inside)) + out * asymptotic;
  const Expr beyond = (1.0 - out) * exp(log_tail(far) - log_tail(inside)) +
                      out * ratio * asymptotic * reciprocal(out * far + (1.0 - out));
  const Expr mass = 1.0 - beyond + narrow, far_hazard = hazard * ratio;
  Interval z;
  z.mean = (straight - mirrored) * (wide * (hazard - far_hazard) / mass + middle * (1.0 - w2 * (1.0 / 12.0)));
  z.square =
      wide * (1.0 + (near * hazard - far * far_hazard) / mass) + middle2 * (1.0 - w2 * (1.0 / 6.0)) + w2 * (1.0 / 12.0);
  z.variance = (wide - wide * out) * (z.square - square(z.mean)) +
               wide * out * (inverse2 - square(width * exp(-0.25 * width * (near + far)) / (1.0 - ratio + narrow))) +
               w2 * (1.0 / 12.0);
  z.log_mass = wide * (log_tail(near) + log(mass)) +
               narrow * (log(w + wide + exact) - 0.5 * middle2 - 0.5 * kLog2Pi + (middle2 - 1.0) * w2 * (1.0 / 24.0));
  z.exact = exact;
  return z;
}

/// Returns the formula of a limit in units of x, from naturals. Without a limit it is `none`. It is 0 where `mentioned`
/// is 0: nothing in the model mentions the number, so nothing reads it.
Expr limit(Stat weight, Stat at, double none, const Expr& mentioned) {
  const Expr n = natural_symbol(weight), limited = step(n);
  return natural_symbol(at) / (n + (1.0 - limited)) + none * (1.0 - limited) * mentioned;
}

}  // namespace

const FamilyRow& truncated_normal() {
  static const FamilyRow kRow = [] {
    const Expr mean = symbol("mean"), precision = symbol("precision");
    const Expr lower = symbol("lower"), upper = symbol("upper");
    const Expr root = sqrt(precision), a = root * (lower - mean), b = root * (upper - mean);
    // Limits that are results of sums are equal if they differ by no more than their rounding.
    const Expr distinct = step(square(upper - lower) - kOneNumber * (square(upper) + square(lower)));
    const Interval z = interval(a, b, distinct);
    FamilyRow row{.name = "TruncatedNormal", .summary = "Normal between two limits", .support = Support::real};
    row.improper = true;
    row.spellings = {canonical("precision", 0, Support::positive), canonical("mean"), canonical("lower"),
                     canonical("upper")};

    const Expr curved = -2.0 * natural_symbol(Stat::square), mentioned = step(curved);
    const Expr weights = natural_symbol(Stat::above) + natural_symbol(Stat::below);
    Factor f;
    f.parameters = {
        parameter("precision", 0, curved + (1.0 - mentioned) * (1.0 - step(weights)), ParameterRole::precision),
        parameter("mean", 0, natural_symbol(Stat::value) / precision, ParameterRole::location),
        parameter("lower", 0, limit(Stat::above, Stat::lower, -kNoLimit, mentioned)),
        parameter("upper", 0, limit(Stat::below, Stat::upper, kNoLimit, mentioned))};
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
    f.draw = {draw, draw_result(0, mean + symbol("z") * spread)};
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
