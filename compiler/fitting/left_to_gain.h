// How far a fit that was stopped is from where it would have converged.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace lehr {

/// `nats` of ELBO that further sweeps would add, and how many it takes until less than the tolerance is left.
struct LeftToGain {
  double nats = 0;
  std::int64_t sweeps = 0;
};

/// The tail of the geometric series through the last gains g_0 ... g_m of the ELBO, at most ten of them: with r the
/// m-th root of g_m / g_0, g_m * r / (1 - r) nats are left, and that times r^n after n more sweeps. `elbos` are those
/// of the sweeps of one run at temperature 1, the last one last; `tolerance` is relative, of 1 + |ELBO|. Zero when the
/// last gain is rounding. Nothing when there are fewer than three gains in a row, or they do not become smaller.
std::optional<LeftToGain> left_to_gain(std::span<const double> elbos, double tolerance);

}  // namespace lehr
