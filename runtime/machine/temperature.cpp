// The factor of a latent temperature: a softmax over the grid, computed relative to its largest exponent so that it
// does not overflow.
#include "runtime/machine/temperature.h"

#include <cmath>

namespace lehr::machine {

double temperature_factor(std::span<const double> temperatures, std::span<const double> log_c, double energy,
                          double* r) {
  const auto log_r = [&](std::size_t m) { return energy / temperatures[m] - log_c[m]; };
  double top = log_r(0), total = 0, inverse = 0;
  for (std::size_t m = 1; m < temperatures.size(); ++m)
    top = top < log_r(m) ? log_r(m) : top;
  for (std::size_t m = 0; m < temperatures.size(); ++m)
    total += std::exp(log_r(m) - top);
  for (std::size_t m = 0; m < temperatures.size(); ++m) {
    const double probability = std::exp(log_r(m) - top) / total;
    inverse += probability / temperatures[m];
    if (r) r[m] = probability;
  }
  return inverse;
}

}  // namespace lehr::machine
