// Parallel tempering: Gibbs samplers at several powers of the likelihood, from 1 (the posterior) to 0 (the prior), that
// exchange their states. The hot ones move between modes, and the draws at all powers give the log evidence
// (evidence.h). Sources: Swendsen & Wang (1986); Geyer (1991). The engine's code must be compiled for sampling, with
// the power on the likelihood (schedule::Tempering::likelihood).
#pragma once
#include "runtime/inference/samplers/evidence.h"
#include "runtime/inference/samplers/gibbs.h"

namespace lehr {

/// The options of parallel tempering.
struct ParallelTemperingOptions : GibbsOptions {
  std::int64_t levels = 24;  // number of powers of the likelihood, from 0 to 1, each with a sampler; at least 2
  bool exchange = true;      // true: neighbouring powers may exchange states; false: they must not, because states have
                             // variables whose distribution depends on the power
};

/// Runs parallel tempering: a Gibbs sampler at each of several powers of the likelihood, which exchange their states.
/// The warmup chooses the powers. `on_draw` is called while a draw of power 1 is in place. `on_sweep` is called after
/// each round, in which every sampler makes one sweep; SweepReport::elbo is the log joint density at power 1.
/// `evidence` receives the estimate of the log evidence, if all rounds are made.
Outcome run_parallel_tempering(const Engine& engine, const ParallelTemperingOptions& options, const OnSweep& on_sweep,
                               const std::function<void(double log_joint)>& on_draw, Evidence& evidence);

}  // namespace lehr
