// Random numbers of generated code that samples. Every draw is a pure function of a key (seed, chain, step) and of its
// site, element and component. So draws depend neither on the order in which they are made nor on the thread or
// process that makes them. The bits come from Philox (philox.h), the distributions from runtime/rng.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/rng.h"

namespace lehr::machine {

/// The distribution of one draw; `a` and `b` are the arguments of lehr_random(). The numbers are those of
/// math::Noise in the compiler.
enum class Noise : std::int64_t {
  uniform,      // uniform on the open interval (0, 1)
  normal,       // standard Normal
  log_gamma,    // logarithm of a Gamma draw of shape a and rate 1
  polya_gamma,  // PG(b, a) / b: the mean of b Polya-Gamma draws tilted by a (Polson, Scott & Windle 2013)
  binomial,     // number of successes in a trials of probability b
  truncated     // standard Normal between a and b
};

/// The length of the key buffer: seed, chain, and the number of the step in the run. Generated code reads the key from
/// the buffer Model::random_key.
inline constexpr std::int64_t kKeyWords = 3;

/// Returns the random stream of one draw. `key` has kKeyWords entries. `site` numbers the statements of the generated
/// code that draw, `element` the elements of the variable, and `component` the entries of an element's value.
Rng stream_of(const std::int64_t* key, std::int64_t site, std::int64_t element, std::int64_t component);

/// Returns one exact draw from the Polya-Gamma distribution PG(1, tilt), by Devroye's rejection method for the Jacobi
/// distribution (section 4 of Polson et al.).
double draw_polya_gamma(Rng& rng, double tilt);
/// Returns one draw from PG(copies, tilt), copies > 0, a sum of `copies` draws from PG(1, tilt). Up to 16 copies are
/// drawn one by one. More copies, and the fractional part, use the series of Gamma variables; its tail is one Gamma
/// variable of the same mean and variance.
double draw_polya_gamma(Rng& rng, double copies, double tilt);

/// Returns the value (index) of one copy, drawn uniformly, of a category element that stands for several copies;
/// posterior draws that are written contain it. `fractions` (sum 1) has the fraction of the copies with each value.
/// `parameter` and `element` identify the draw.
std::size_t value_of_copy(std::span<const double> fractions, const std::int64_t* key, std::int64_t parameter,
                          std::int64_t element);

/// Returns one draw from the distribution `noise` (a Noise) with arguments `a` and `b`; generated code calls it. The
/// other arguments are those of stream_of(). The result is NaN if the arguments are outside the distribution's domain.
/// For Noise::polya_gamma with b = 0 it is 1/4, the mean of PG(1, 0).
extern "C" double lehr_random(std::int64_t noise, const std::int64_t* key, std::int64_t site, std::int64_t element,
                              std::int64_t component, double a, double b);

}  // namespace lehr::machine
