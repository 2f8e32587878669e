// Random numbers of generated code. Each is a function of a key and of its place, so that draws do not depend on the
// order in which they are made, nor on who makes them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/rng.h"

namespace lehr::machine {

/// What is drawn; loops::RandomOp in the compiler.
enum class Noise : std::int64_t {
  uniform,      // on (0, 1)
  normal,       // mean 0, variance 1
  log_gamma,    // log of a Gamma(a, rate 1)
  polya_gamma,  // PG(b, a) / b, tilted by a: Polson, Scott & Windle (2013)
  binomial,     // successes in a trials of probability b
  truncated     // standard Normal between a and b
};

/// Seed, chain and a counter of steps: the buffer that generated code takes its random numbers from.
inline constexpr std::int64_t kKeyWords = 3;

/// The stream of one draw. `site`: of the code that draws; `element` and `component`: of the variable.
Rng stream_of(const std::int64_t* key, std::int64_t site, std::int64_t element, std::int64_t component);

/// One draw from PG(1, tilt), exact: Devroye's method for the Jacobi distribution, section 4 of Polson et al.
double draw_polya_gamma(Rng& rng, double tilt);
/// One draw from PG(copies, tilt), copies > 0: the sum of so many draws from PG(1, tilt). Of more than 16 copies, and
/// of parts of one, by its series of Gamma variables, the far end of it as one Gamma of the same mean and variance.
double draw_polya_gamma(Rng& rng, double copies, double tilt);

/// The value of one of the copies that a category stands for, any of them: `shares` (sum 1) of the copies have each
/// value. `parameter`: of the machine, whose draw it is; `element`: of its elements.
std::size_t value_of_copy(std::span<const double> shares, const std::int64_t* key, std::int64_t parameter,
                          std::int64_t element);

extern "C" double lehr_random(std::int64_t noise, const std::int64_t* key, std::int64_t site, std::int64_t element,
                              std::int64_t component, double a, double b);

}  // namespace lehr::machine
