#include "runtime/machine/random.h"

#include <cmath>

#include "runtime/machine/philox.h"

namespace lehr::machine {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kCut = 0.64;  // where the two series of the density meet

/// The k-th term of the alternating series of the density of J*(1, 0) at x.
double term(int k, double x) {
  const double n = k + 0.5;
  if (x > kCut) return kPi * n * std::exp(-n * n * kPi * kPi * x / 2);
  const double root = 2 / (kPi * x);
  return kPi * n * root * std::sqrt(root) * std::exp(-2 * n * n / x);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / 1.41421356237309504880); }

/// An inverse Gaussian of mean 1 / z and shape 1, cut off at kCut.
double cut_inverse_gaussian(Rng& rng, double z) {
  if (1 / kCut > z) {  // the mean is beyond the cut: a stretched chi-square, thinned
    for (;;) {
      double e = 0, other = 0;
      do {
        e = draw_exponential(rng);
        other = draw_exponential(rng);
      } while (e * e > 2 * other / kCut);
      const double root = 1 + kCut * e, x = kCut / (root * root);
      if (draw_uniform(rng) <= std::exp(-z * z * x / 2)) return x;
    }
  }
  const double mean = 1 / z;
  for (;;) {
    const double y = draw_normal(rng), square = y * y, half = mean * square / 2;
    double x = mean + mean * half - mean * std::sqrt(2 * half + half * half);
    if (draw_uniform(rng) > mean / (mean + x)) x = mean * mean / x;
    if (x <= kCut) return x;
  }
}

}  // namespace

Rng stream_of(const std::int64_t* key, std::int64_t site, std::int64_t element, std::int64_t component) {
  const auto word = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
  Rng out(0);
  out.state = philox({word(key[0]), word(key[1])}, {word(key[2]), word(site), word(element), word(component)});
  return out;
}

double draw_polya_gamma(Rng& rng, double tilt) {
  const double z = std::fabs(tilt) / 2, rate = kPi * kPi / 8 + z * z / 2;
  const double right = kPi / (2 * rate) * std::exp(-rate * kCut);
  const double root = std::sqrt(1 / kCut);
  const double left =
      2 * std::exp(-z) * (normal_cdf(root * (kCut * z - 1)) + std::exp(2 * z) * normal_cdf(-root * (kCut * z + 1)));
  for (;;) {
    const double x =
        draw_uniform(rng) < right / (right + left) ? kCut + draw_exponential(rng) / rate : cut_inverse_gaussian(rng, z);
    // The partial sums enclose the density.
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

double draw_mean_polya_gamma(Rng& rng, double shape, double tilt) {
  constexpr int kTerms = 32;
  const double z = tilt / (2 * kPi), square = z * z, half = std::fabs(tilt) / 2;
  double sum = 0, rest = half > 1e-4 ? std::tanh(half) / (4 * half) : 0.25 - half * half / 12;
  for (int k = 0; k < kTerms; ++k) {
    const double c = 2 * kPi * kPi * ((k + 0.5) * (k + 0.5) + square);
    sum += std::exp(draw_log_gamma(rng, shape)) / (shape * c);
    rest -= 1 / c;
  }
  return sum + rest;
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
      if (a - a != 0) return NAN;
      return b == 1 ? draw_polya_gamma(rng, a) : draw_mean_polya_gamma(rng, b, a);
    case Noise::binomial:
      return a >= 0 && b >= 0 ? static_cast<double>(draw_binomial(rng, static_cast<std::int64_t>(a), b > 1 ? 1 : b))
                              : NAN;
  }
  return NAN;
}

}  // namespace lehr::machine
