// The generator and its draws. This file is compiled without contraction into fused multiply-adds, because these would
// make the last bit depend on the machine. `log_of` and `exp_of` replace libm for the same reason.
#include "runtime/rng.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace lehr {
namespace {

constexpr double kManyEvents = 1e12;  // means and sizes above which counts are drawn by their limit laws
constexpr double kLeast = std::numeric_limits<double>::min();
constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

/// Returns log x for a normal x > 0, to about 1 ulp. With x = m 2^e and m between sqrt 1/2 and sqrt 2, log m is the
/// series of 2 artanh((m - 1) / (m + 1)).
double log_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2)
    series = square * (series + 1.0 / k);
  return exponent * kLn2High + (2 * s + (2 * s * series + exponent * kLn2Low));
}

/// Returns log(1 + x) for x > -1, without cancellation for small x (Kahan).
double log1p_of(double x) {
  const double u = 1 + x;
  return u == 1 ? x : log_of(u) * (x / (u - 1));
}

/// Returns exp x to about 1 ulp: x = n ln 2 + r, and a Taylor series in r, |r| <= 0.35. Beyond the range of double the
/// result is 0 or infinity. NaN stays NaN.
double exp_of(double x) {
  if (std::isnan(x)) return x;
  if (x < -745) return 0;
  if (x > 710) return std::numeric_limits<double>::infinity();
  const double n = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double series = 1;
  for (int k = 14; k >= 1; --k)
    series = 1 + series * r / k;
  return std::ldexp(series, static_cast<int>(n));
}

/// Returns log k! for a whole k >= 0: a product below 16, Stirling's series above.
double log_factorial(double k) {
  if (k < 16) {
    double product = 1;
    for (int i = 2; i <= static_cast<int>(k); ++i)
      product *= i;
    return log_of(product);
  }
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const double square = k * k;
  const double tail = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / k;
  return (k + 0.5) * log_of(k) - k + kHalfLogTwoPi + tail;
}

/// Draws the factors d and v of Marsaglia & Tsang for shape >= 1; the Gamma draw is their product.
std::pair<double, double> gamma_factors(Rng& rng, double shape) {
  const double d = shape - 1.0 / 3, c = 1 / (3 * std::sqrt(d));
  for (;;) {
    const double x = draw_normal(rng), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = draw_uniform(rng);
    if (u < 1 - 0.0331 * (x * x) * (x * x)) return {d, v};
    if (log_of(u) < 0.5 * x * x + d * (1 - v + log_of(v))) return {d, v};
  }
}

}  // namespace

std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Rng::Rng(std::uint64_t seed, std::uint64_t stream) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  std::uint64_t counter = mix_bits(mix_bits(seed + kGolden) + stream * kGolden + 1);
  for (std::uint64_t& word : state)
    word = mix_bits(counter += kGolden);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state[0] + state[3], 23) + state[0];
  const std::uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = std::rotl(state[3], 45);
  return result;
}

double draw_uniform(Rng& rng) { return (static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52; }

std::uint64_t draw_below(Rng& rng, std::uint64_t n) {
  const std::uint64_t surplus = (0 - n) % n;  // 2^64 mod n: with so many values more, small results would be likelier
  std::uint64_t bits = rng.next();
  while (bits < surplus)
    bits = rng.next();
  return bits % n;
}

double draw_normal(Rng& rng) {
  for (;;) {
    const double x = 2 * draw_uniform(rng) - 1, y = 2 * draw_uniform(rng) - 1;
    const double square = x * x + y * y;
    if (square < 1 && square > 0) return x * std::sqrt(-2 * log_of(square) / square);
  }
}

double draw_exponential(Rng& rng) { return -log_of(draw_uniform(rng)); }

double draw_truncated_normal(Rng& rng, double lower, double upper) {
  // There are three proposals (Robert 1995). The Normal serves where the interval has much of its mass, the uniform
  // where the interval is narrow, and an exponential in a tail.
  if (!(lower < upper)) return lower;
  if (upper <= 0) return -draw_truncated_normal(rng, -upper, -lower);
  const double width = upper - lower;
  if (lower < 0 && width > 1.25) {
    for (;;) {
      const double x = draw_normal(rng);
      if (lower < x && x < upper) return x;
    }
  }
  const double nearest = std::max(lower, 0.0), rate = 0.5 * (nearest + std::sqrt(nearest * nearest + 4));
  if (lower < 0 || rate * width < 1) {
    for (;;) {
      const double x = lower + width * draw_uniform(rng);
      if (draw_uniform(rng) <= exp_of(0.5 * (nearest - x) * (nearest + x))) return x;
    }
  }
  for (;;) {
    const double x = lower + draw_exponential(rng) / rate;
    if (x < upper && draw_uniform(rng) <= exp_of(-0.5 * (x - rate) * (x - rate))) return x;
  }
}

double draw_gamma(Rng& rng, double shape) {
  if (shape < 1) return std::max(exp_of(draw_log_gamma(rng, shape)), kLeast);
  const auto [d, v] = gamma_factors(rng, shape);
  return d * v;
}

double draw_log_gamma(Rng& rng, double shape) {
  // For a shape below 1: Gamma(a) is distributed as Gamma(a + 1) U^(1/a), with U uniform.
  const double boost = shape < 1 ? log_of(draw_uniform(rng)) / shape : 0;
  const auto [d, v] = gamma_factors(rng, shape < 1 ? shape + 1 : shape);
  return log_of(d) + log_of(v) + boost;
}

double draw_beta(Rng& rng, double a, double b) {
  const double x = draw_log_gamma(rng, a), y = draw_log_gamma(rng, b);
  return 1 / (1 + exp_of(y - x));
}

void draw_dirichlet(Rng& rng, std::span<const double> concentration, std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = draw_log_gamma(rng, concentration[i]);
  const double largest = *std::max_element(out.begin(), out.end());
  double total = 0;
  for (double& x : out)
    total += x = exp_of(x - largest);
  for (double& x : out)
    x = std::max(x / total, kLeast);
}

std::int64_t draw_categorical(Rng& rng, std::span<const double> weights) {
  double total = 0;
  for (const double weight : weights)
    total += weight;
  double rest = draw_uniform(rng) * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    last = i;
    rest -= weights[i];
    if (rest < 0) break;
  }
  return static_cast<std::int64_t>(last);
}

double draw_poisson(Rng& rng, double mean) {
  if (!(mean < HUGE_VAL)) return mean;
  if (mean > kManyEvents) return std::floor(mean + std::sqrt(mean) * draw_normal(rng) + 0.5);
  if (mean < 10) {
    double probability = exp_of(-mean), rest = draw_uniform(rng) - probability;
    double k = 0;
    while (rest > 0 && probability > 0) {
      probability *= mean / ++k;
      rest -= probability;
    }
    return k;
  }
  // PTRS: the letters are those of the paper.
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b, log_mean = log_of(mean);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = draw_uniform(rng) - 0.5, v = draw_uniform(rng), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log_of(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(k)) return k;
  }
}

double draw_binomial(Rng& rng, double n, double p) {
  if (!(n < HUGE_VAL) || std::isnan(p)) return std::nan("");
  if (p > 0.5) return n - draw_binomial(rng, n, 1 - p);
  const double q = 1 - p;
  if (n > kManyEvents) {
    constexpr double kRare = 1e-5;  // below it a Poisson draw is off by less than that in total variation
    if (p < kRare) return draw_poisson(rng, n * p);
    return std::floor(n * p + std::sqrt(n * p * q) * draw_normal(rng) + 0.5);
  }
  if (n * p < 10) {
    double probability = exp_of(n * log1p_of(-p)), rest = draw_uniform(rng) - probability;
    double k = 0;
    while (rest > 0 && k < n && probability > 0) {
      ++k;
      probability *= (n - k + 1) / k * (p / q);
      rest -= probability;
    }
    return k;
  }
  // BTRS: the letters are those of the paper.
  const double deviation = std::sqrt(n * p * q), mode = std::floor((n + 1) * p);
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
  const double alpha = (2.83 + 5.1 / b) * deviation, vr = 0.92 - 4.2 / b, log_odds = log_of(p / q);
  const double height = log_factorial(mode) + log_factorial(n - mode);
  for (;;) {
    const double u = draw_uniform(rng) - 0.5, v = draw_uniform(rng), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || k > n) continue;
    if (log_of(v * alpha / (a / (us * us) + b)) <=
        height - log_factorial(k) - log_factorial(n - k) + (k - mode) * log_odds)
      return k;
  }
}

void shuffle(Rng& rng, std::span<std::int64_t> elements) {
  for (std::size_t i = elements.size(); i > 1; --i)
    std::swap(elements[i - 1], elements[static_cast<std::size_t>(draw_below(rng, i))]);
}

}  // namespace lehr
