// Draws of generated code. Polya-Gamma variables use Devroye's alternating series: the density lies between successive
// partial sums, so a proposal is accepted or rejected after finitely many terms. Two series are used, one below and one
// above the cut, because each converges fast on its side only.
#include "runtime/machine/random.h"

#include <bit>
#include <cmath>

#include "runtime/machine/philox.h"

namespace lehr::machine {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kTruncation = 0.64;  // the value at which the proposal changes from one series to the other
constexpr int kTerms = 32;        // Gamma variables of the series that are drawn one by one; the rest is one variable
constexpr double kMostSums = 16;  // copies up to which exact draws are added

/// Returns the k-th term of the alternating series of the density of the Jacobi variable J*(1, 0) at x.
double term(int k, double x) {
  const double n = k + 0.5;
  if (x > kTruncation) return kPi * n * std::exp(-n * n * kPi * kPi * x / 2);
  const double root = 2 / (kPi * x);
  return kPi * n * root * std::sqrt(root) * std::exp(-2 * n * n / x);
}

/// Returns the standard Normal distribution function.
double normal_cdf(double x) { return 0.5 * std::erfc(-x / 1.41421356237309504880); }

/// Draws an inverse Gaussian variable of mean 1 / z and shape 1, truncated to values up to kTruncation.
double draw_truncated_inverse_gaussian(Rng& rng, double z) {
  // If the mean is beyond the cut, draw a truncated inverse chi-square variable, accepted with the remaining factor of
  // the density.
  if (1 / kTruncation > z) {
    for (;;) {
      double e = 0, other = 0;
      do {
        e = draw_exponential(rng);
        other = draw_exponential(rng);
      } while (e * e > 2 * other / kTruncation);
      const double root = 1 + kTruncation * e, x = kTruncation / (root * root);
      if (draw_uniform(rng) <= std::exp(-z * z * x / 2)) return x;
    }
  }
  const double mean = 1 / z;
  for (;;) {
    const double y = draw_normal(rng), square = y * y, half = mean * square / 2;
    double x = mean + mean * half - mean * std::sqrt(2 * half + half * half);
    if (draw_uniform(rng) > mean / (mean + x)) x = mean * mean / x;
    if (x <= kTruncation) return x;
  }
}

/// Sums over the terms that are not drawn one by one, x = kTerms + 1/2, kTerms + 3/2, ...
struct FarEnd {
  double sum,   // of 1 / (x^2 + c^2)
      squares;  // of its square
};

/// Computes these sums from the integrals over x from kTerms on, with the midpoint correction of Euler and Maclaurin.
FarEnd far_end(double c) {
  const double k = kTerms, square = c * c, at = k * k + square;
  // For small c the closed forms cancel, so their series in c / k are used.
  const double r = square / (k * k);
  const double sum = c < 1 ? (1 - r * (1.0 / 3 - r * (1.0 / 5 - r / 7))) / k : std::atan(c / k) / c;
  const double squares =
      c < 1 ? (1.0 / 3 - r * (2.0 / 5 - r * (3.0 / 7))) / (k * k * k) : (sum - k / at) / (2 * square);
  return {sum - k / (12 * at * at), squares - k / (6 * at * at * at)};
}

/// Draws from PG(copies, tilt) = sum over n = 0, 1, ... of Gamma(copies, 1) / (2 pi^2 ((n + 1/2)^2 + c^2)), c = tilt /
/// (2 pi): equation 1 of Polson et al.
double draw_by_series(Rng& rng, double copies, double tilt) {
  const double c = std::fabs(tilt) / (2 * kPi);
  double out = 0;
  for (int n = 0; n < kTerms; ++n)
    out += draw_gamma(rng, copies) / ((n + 0.5) * (n + 0.5) + c * c);
  const FarEnd end = far_end(c);
  out += draw_gamma(rng, copies * end.sum * end.sum / end.squares) * end.squares / end.sum;
  return out / (2 * kPi * kPi);
}

}  // namespace

Rng stream_of(const std::int64_t* key, std::int64_t site, std::int64_t element, std::int64_t component) {
  const auto word = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
  return std::bit_cast<Rng>(
      philox({word(key[0]), word(key[1])}, {word(key[2]), word(site), word(element), word(component)}));
}

double draw_polya_gamma(Rng& rng, double tilt) {
  const double z = std::fabs(tilt) / 2, rate = kPi * kPi / 8 + z * z / 2;
  const double right = kPi / (2 * rate) * std::exp(-rate * kTruncation);
  const double root = std::sqrt(1 / kTruncation);
  const double left =
      2 * std::exp(-z) *
      (normal_cdf(root * (kTruncation * z - 1)) + std::exp(2 * z) * normal_cdf(-root * (kTruncation * z + 1)));
  for (;;) {
    const double x = draw_uniform(rng) < right / (right + left) ? kTruncation + draw_exponential(rng) / rate
                                                                : draw_truncated_inverse_gaussian(rng, z);
    // Partial sums lie alternately above and below the density: after each one, the proposal may be decided.
    double sum = term(0, x);
    const double height = draw_uniform(rng) * sum;
    for (int k = 1;; ++k) {
      if (k % 2 == 1) {
        sum -= term(k, x);
        if (height <= sum) return x / 4;
      } else {
        sum += term(k, x);
        if (height > sum) break;
      }
    }
  }
}

double draw_polya_gamma(Rng& rng, double copies, double tilt) {
  if (copies > kMostSums) return draw_by_series(rng, copies, tilt);
  double out = 0, left = copies;
  for (; left >= 1; --left)
    out += draw_polya_gamma(rng, tilt);
  return left > 0 ? out + draw_by_series(rng, left, tilt) : out;
}

std::size_t value_of_copy(std::span<const double> fractions, const std::int64_t* key, std::int64_t parameter,
                          std::int64_t element) {
  std::size_t value = 0;
  for (std::size_t k = 0; k < fractions.size(); ++k) {
    if (fractions[k] == 1) return k;
    if (fractions[k] > fractions[value]) value = k;
  }
  Rng rng = stream_of(key, -1 - parameter, element, 0);  // generated code has sites of at least 0
  double u = draw_uniform(rng);
  for (std::size_t k = 0; k < fractions.size(); ++k) {
    if (u < fractions[k]) return k;
    u -= fractions[k];
  }
  return value;  // by rounding, the fractions sum to slightly less than 1
}

extern "C" double lehr_random(std::int64_t noise, const std::int64_t* key, std::int64_t site, std::int64_t element,
                              std::int64_t component, double a, double b) {
  Rng rng = stream_of(key, site, element, component);
  switch (static_cast<Noise>(noise)) {
    case Noise::uniform:
      return draw_uniform(rng);
    case Noise::normal:
      return draw_normal(rng);
    case Noise::log_gamma:
      return a > 0 ? draw_log_gamma(rng, a) : NAN;
    case Noise::polya_gamma:
      if (a - a != 0 || b - b != 0) return NAN;
      return b > 0 ? draw_polya_gamma(rng, b, a) / b : 0.25;  // the mean of PG(1, 0); nothing reads a draw of no copies
    case Noise::binomial:
      return a >= 0 && b >= 0 ? draw_binomial(rng, a, b > 1 ? 1 : b) : NAN;
    case Noise::truncated:
      return a <= b ? draw_truncated_normal(rng, a, b) : NAN;
  }
  return NAN;
}

}  // namespace lehr::machine
