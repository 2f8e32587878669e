// Exact samples by coupling from the past. Propp & Wilson, Exact sampling with coupled Markov chains (1996); MacKay
// (2003), chapter 32. Gibbs sweeps with the same random numbers run from the largest and from the smallest state, from
// ever further back; where the two have met at time 0, every start would be there too. For models of spins and bits in
// pairs that want to be alike (attractive: no coupling below 0), where a sweep keeps the order of states.
#pragma once
#include "runtime/methods/cavi.h"

namespace lehr {

struct ExactOptions : SweepOptions {
  std::int64_t draws = 1000;
  std::int64_t furthest = std::int64_t{1} << 20;  // sweeps before time 0, where it is given up
  std::uint64_t seed = 1, chain = 0;
};

/// Why exact samples of this model are not to be had; empty when they are.
std::string not_exact(const Engine& engine);

/// `on_draw` is called at every sample; a report has the sweeps that it took in `iteration`s.
Outcome run_exact(const Engine& engine, const ExactOptions& options, const OnSweep& on_sweep,
                  const std::function<void(double log_joint)>& on_draw);

}  // namespace lehr
