// Exact samples of models of spins and bits by coupling from the past. Source: Propp & Wilson, Exact sampling with
// coupled Markov chains (1996); MacKay (2003), chapter 32.
//
// Gibbs sweeps with the same random numbers run from all initial states at once, beginning ever further in the past.
// When all of them have reached the same state at time 0, that state is an exact sample. The set of all runs is stored
// as an interval of values for every element. In attractive models (pairs only, no coupling below 0) a sweep preserves
// the order of states. The interval ends are then the runs from the smallest and the largest state. Otherwise the
// intervals are summary states (Huber 1998; Harvey & Neal 2000), which may take longer to shrink, or never do.
#pragma once
#include <functional>
#include <string>

#include "runtime/inference/cavi.h"

namespace lehr {

/// The options of exact sampling.
struct ExactOptions : SweepOptions {
  std::int64_t draws = 1000;                      // samples to draw
  std::int64_t furthest = std::int64_t{1} << 20;  // sweeps before time 0 at which it gives up
  std::uint64_t seed = 1,                         // seed of the random numbers
      chain = 0;                                  // number of the chain, which has random numbers of its own
};

/// Properties of a model with its data that decide how samples are drawn: with intervals that a sweep maps exactly
/// (attractive models), with summary states, or by random clusters.
struct Couplings {
  double least = 0;         // the smallest coefficient of a pair of latent variables, 0 at most
  bool of_pairs = true;     // true: no term has more than two latent variables
  bool clusters = false;    // true: samples are those of random clusters (random_cluster.h); the caller sets it
  std::int32_t status = 0;  // 0, or a status of the generated code
  /// Returns true if the model is attractive: a sweep preserves the order of states.
  bool attractive() const { return least >= 0 && of_pairs; }
};
/// Computes the properties of the engine's model with its data that decide how exact samples are drawn. Call it before
/// a run whose results are recorded: it reads a buffer outside the journal.
Couplings couplings(const Engine& engine);

/// Runs Gibbs sweeps from all initial states at once, from `back` sweeps before time 0 up to time 0, with the random
/// numbers of sample `draw`. For every element an interval contains its values in all of these runs. Writes to
/// `undecided` how many elements have more than one value left; if none, the state is an exact sample. Returns 0 or a
/// status of the generated code.
std::int32_t run_envelope(const Engine& engine, const ExactOptions& options, std::int64_t draw, std::int64_t back,
                          double& undecided);

/// A run from `back` sweeps before time 0 up to time 0, with the random numbers of sample `draw`. Writes to `undecided`
/// how much may still differ between runs; if it is 0, the sample is in place. Returns 0 or a status of the generated
/// code.
using RunFromThePast = std::function<std::int32_t(std::int64_t draw, std::int64_t back, double& undecided)>;

/// Draws samples by runs that begin ever further in the past. `on_draw` and then `on_sweep` are called while each
/// sample is in place; SweepReport::iteration is its number, from 1. `what` is a plural for messages: what the runs
/// leave undecided, such as "elements". The outcome has the status max_iter after all samples, interrupted if
/// `on_sweep` returned false, and numerical_failure if a sample would take more than `furthest` sweeps or the generated
/// code fails. Its iterations count the sweeps of both bounds.
Outcome coupled_draws(const Engine& engine, const ExactOptions& options, const std::string& what,
                      const RunFromThePast& run, const OnSweep& on_sweep,
                      const std::function<void(double log_joint)>& on_draw);

/// Draws exact samples of a model of spins and bits by coupling from the past, with an interval of values for every
/// element (run_envelope()). `on_draw` and then `on_sweep` are called while each sample is in place. The outcome has
/// the status max_iter after all samples, and numerical_failure if one would take too many sweeps.
Outcome run_exact(const Engine& engine, const ExactOptions& options, const OnSweep& on_sweep,
                  const std::function<void(double log_joint)>& on_draw);

}  // namespace lehr
