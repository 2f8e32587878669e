// Fits a geometric series to the last gains of the ELBO, and sums its tail. Near a solution, coordinate ascent
// converges linearly, so successive gains have a constant ratio.
#include "compiler/fit/checks/left_to_gain.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/inference/geometric.h"

namespace lehr {

std::optional<RemainingGain> left_to_gain(std::span<const double> elbos, double tolerance) {
  constexpr std::size_t kMost = 10, kFewest = 3;
  constexpr double kRounding = 1e-14;
  if (elbos.size() <= kFewest) return std::nullopt;
  const double size = 1 + std::abs(elbos.back());
  std::vector<double> gains;  // the last one first
  for (std::size_t k = elbos.size() - 1; k > 0 && gains.size() < kMost; --k) {
    const double gain = elbos[k] - elbos[k - 1];
    if (gains.empty() && std::abs(gain) <= kRounding * size) return RemainingGain{};
    if (!(gain > kRounding * size)) break;
    gains.push_back(gain);
  }
  if (gains.size() < kFewest) return std::nullopt;
  const double last = gains.front(), first = gains.back();
  const double ratio = factor_of(first, last, gains.size() - 1);
  if (!(ratio < 1)) return std::nullopt;
  RemainingGain out{tail_after(last, ratio), 0};
  const double wanted = std::max(tolerance, kRounding) * size;
  if (out.nats > wanted) out.sweeps = std::lround(std::ceil(std::log(wanted / out.nats) / std::log(ratio)));
  return out;
}

}  // namespace lehr
