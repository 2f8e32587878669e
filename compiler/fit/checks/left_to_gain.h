// Estimates how far a coordinate ascent that was stopped early is from convergence, from the last gains of its ELBO.
// The result is a message to the user, not a stopping rule.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace lehr {

/// What a run of coordinate ascent that was stopped before it converged would still gain.
struct RemainingGain {
  double nats = 0;          // nats of ELBO that further sweeps would add
  std::int64_t sweeps = 0;  // further sweeps until less than the tolerance is left to gain
};

/// Estimates what a run that was stopped would still gain, by extrapolating the last gains of the ELBO as a geometric
/// series. `elbos` are those of the sweeps of one run at temperature 1, in order. With at most ten last gains g_0 ...
/// g_m, the ratio r is the m-th root of g_m / g_0. Then g_m r / (1 - r) nats are left, and r^n of that after n more
/// sweeps.
///
/// `tolerance` is relative to 1 + |ELBO|. Returns zeros if the last gain is rounding. Returns nullopt if there are
/// fewer than three consecutive gains, or if they do not decrease.
std::optional<RemainingGain> left_to_gain(std::span<const double> elbos, double tolerance);

}  // namespace lehr
