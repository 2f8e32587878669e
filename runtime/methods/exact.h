// Exact samples of models of spins and bits by coupling from the past. Propp & Wilson, Exact sampling with coupled
// Markov chains (1996); MacKay (2003), chapter 32. Gibbs sweeps with the same random numbers run from all states at
// once, from ever further back; where all have met at time 0, that is the sample. They are kept as bounds of every
// element. In models whose elements want to be alike (attractive: pairs, no coupling below 0), where a sweep keeps the
// order of states, the bounds are the runs from the largest and the smallest state; otherwise they are summary states
// (Huber 1998; Harvey & Neal 2000), which may take longer to meet than the runs inside, or never do.
#pragma once
#include "runtime/methods/cavi.h"

namespace lehr {

struct ExactOptions : SweepOptions {
  std::int64_t draws = 1000;
  std::int64_t furthest = std::int64_t{1} << 20;  // sweeps before time 0, where it is given up
  std::uint64_t seed = 1, chain = 0;
};

/// Of the model with its data.
struct Couplings {
  double least = 0;      // of pairs, 0 at most
  bool of_pairs = true;  // no term has more than two latent variables
  std::int32_t status = 0;
  bool attractive() const { return least >= 0 && of_pairs; }
};
Couplings couplings(const Engine& engine);

/// Of the runs from every state, from `back` sweeps before time 0 on with the random numbers of sample `draw`: how many
/// elements are not known to be the same in all of them at time 0 into `undecided`. Where none is, they are in place.
/// 0, or a status of the generated code.
std::int32_t run_envelope(const Engine& engine, const ExactOptions& options, std::int64_t draw, std::int64_t back,
                          double& undecided);

/// `on_draw` is called at every sample. Iterations are sweeps of either bound.
Outcome run_exact(const Engine& engine, const ExactOptions& options, const OnSweep& on_sweep,
                  const std::function<void(double log_joint)>& on_draw);

}  // namespace lehr
