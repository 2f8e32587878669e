// Random numbers that are the same bits on every machine: xoshiro256++ (Blackman & Vigna 2021) and draws from
// it that use only exactly rounded operations (+ - * / sqrt) and a logarithm and exponential built from them;
// no std::*_distribution, no libm. The state is explicit, without hidden spare values: copying it is a
// checkpoint.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace lehr {

/// One stream of random bits. Different (seed, stream) pairs give streams unrelated for all practical
/// purposes, so a worker or an item can have its own without regard to the order of execution.
struct Rng {
  std::array<std::uint64_t, 4> state;

  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0);
  /// The next 64 bits.
  std::uint64_t next();
};

/// In the open interval (0, 1): k + 1/2 over 2^52, k uniform.
double draw_uniform(Rng& rng);

/// Uniform on 0 .. n - 1, n > 0, without bias.
std::uint64_t draw_below(Rng& rng, std::uint64_t n);

/// Mean 0, variance 1 (polar method of Marsaglia).
double draw_normal(Rng& rng);

/// Mean 1.
double draw_exponential(Rng& rng);

/// Gamma of rate 1, shape > 0 (Marsaglia & Tsang 2000); a draw that would underflow is the least normal
/// number.
double draw_gamma(Rng& rng, double shape);

/// Logarithm of a Gamma draw of rate 1; finite for shapes down to 1e-300, where the draw itself would be
/// zero.
double draw_log_gamma(Rng& rng, double shape);

/// a, b > 0, tiny ones too; in [0, 1] (the ends by rounding only).
double draw_beta(Rng& rng, double a, double b);

/// Standard Normal between lower and upper, which may be infinite or far out; lower unless lower < upper (rejection
/// from an exponential in the tails: Robert 1995).
double draw_truncated_normal(Rng& rng, double lower, double upper);

/// Fills `out` (as long as `concentration`, all of it > 0) with a point of the simplex, no entry below the
/// least normal number, so that its logarithm is finite.
void draw_dirichlet(Rng& rng, std::span<const double> concentration, std::span<double> out);

/// An index with probability proportional to its weight; weights >= 0 with a positive finite sum. Never an
/// index of weight zero.
std::int64_t draw_categorical(Rng& rng, std::span<const double> weights);

/// 0 <= mean <= 1e15 (inversion below 10, above it PTRS of Hoermann 1993).
std::int64_t draw_poisson(Rng& rng, double mean);

/// n >= 0 up to 1e15, 0 <= p <= 1 (inversion where n p < 10, above it BTRS of Hoermann 1993).
std::int64_t draw_binomial(Rng& rng, std::int64_t n, double p);

/// A uniform permutation of the elements in place.
void shuffle(Rng& rng, std::span<std::int64_t> elements);

}  // namespace lehr
