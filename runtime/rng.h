// Reproducible random numbers: the xoshiro256++ generator (Blackman & Vigna 2021) and draws from distributions.
//
// The same seed gives the same bits on every machine. Draws use only exactly rounded operations (+ - * / sqrt), and a
// logarithm and an exponential made from them; std::*_distribution and libm are avoided, because their bits vary. The
// state is explicit and complete (no spare Normal is stored), so a copy of it is a checkpoint.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace lehr {

/// Scrambles 64 bits, so that each bit of the result depends on all of them: the output function of SplitMix64 (Steele,
/// Lea & Flood 2014). Seeds and orders of minibatches are made by it.
std::uint64_t mix_bits(std::uint64_t x);

/// A pseudo-random generator (xoshiro256++) with 256 bits of state. Generators of different (seed, stream) pairs are
/// statistically independent for all practical purposes, so every worker or item can have its own.
struct Rng {
  std::array<std::uint64_t, 4> state;  // state of xoshiro256++; never all zero

  /// Initialises the state by SplitMix64 from a seed and the number of a stream.
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0);
  /// Advances the generator and returns 64 uniform random bits.
  std::uint64_t next();
};

/// Draws uniformly from the open interval (0, 1): (k + 1/2) / 2^52 with k uniform.
double draw_uniform(Rng& rng);

/// Draws an integer uniformly from 0 .. n - 1, without bias (rejection); n must be positive.
std::uint64_t draw_below(Rng& rng, std::uint64_t n);

/// Draws from the standard Normal distribution (polar method of Marsaglia).
double draw_normal(Rng& rng);

/// Draws from the Exponential distribution of rate 1.
double draw_exponential(Rng& rng);

/// Draws from the Gamma distribution of the given shape > 0 and rate 1 (Marsaglia & Tsang 2000). A draw that would
/// underflow becomes the least normal number, so its logarithm is finite.
double draw_gamma(Rng& rng, double shape);

/// Draws the logarithm of a Gamma variable of the given shape and rate 1. It is finite for shapes down to 1e-300, where
/// the Gamma draw itself would be zero.
double draw_log_gamma(Rng& rng, double shape);

/// Draws from the Beta distribution with parameters a, b > 0, which may be tiny. The result is in [0, 1]; rounding may
/// give exactly 0 or 1.
double draw_beta(Rng& rng, double a, double b);

/// Draws from the standard Normal distribution restricted to (lower, upper). The ends may be infinite or far in a tail,
/// where an exponential proposal is used (Robert 1995). Returns `lower` if lower < upper is false.
double draw_truncated_normal(Rng& rng, double lower, double upper);

/// Fills `out` with a draw from the Dirichlet distribution. `concentration` has the same length and positive elements.
/// No entry of the draw is below the least normal number, so its logarithm is finite.
void draw_dirichlet(Rng& rng, std::span<const double> concentration, std::span<double> out);

/// Draws an index with probability proportional to its weight. Weights are nonnegative, with a positive finite sum; an
/// index of weight zero is never drawn.
std::int64_t draw_categorical(Rng& rng, std::span<const double> weights);

/// Draws from the Poisson distribution of a nonnegative mean. The whole number is a double, so that no mean is too
/// large for it; an infinite mean gives infinity, and a NaN gives NaN. Uses inversion for means below 10, the
/// transformed rejection PTRS (Hoermann 1993) up to 1e12, and a rounded Normal draw above, where the terms of PTRS
/// would cancel.
double draw_poisson(Rng& rng, double mean);

/// Draws the number of successes in n trials of probability p; n is a whole nonnegative number. A NaN, or infinite n,
/// gives NaN. Up to n = 1e12 it uses inversion where n min(p, 1 - p) is below 10, and otherwise the transformed
/// rejection BTRS (Hoermann 1993). Above, the number of successes or of failures, whichever is rarer, is a Poisson draw
/// if its probability is below 1e-5, and otherwise a rounded Normal draw of the same mean and variance.
double draw_binomial(Rng& rng, double n, double p);

/// Permutes the elements in place, every permutation with the same probability (Fisher-Yates).
void shuffle(Rng& rng, std::span<std::int64_t> elements);

}  // namespace lehr
