// Detects variables that have left for infinity because their posterior is improper: the data do not say how large they
// are, and their prior does not either.
//
// Example: b ~ Flat(); y[n] ~ Bernoulli(logistic(b * x[n])), where every y[n] is 1 if x[n] is positive, and 0 if not.
// The larger b, the better, so the posterior has no end.
#pragma once
#include <optional>
#include <string>

#include "compiler/instance/instance.h"
#include "compiler/schedule/schedule.h"
#include "runtime/inference/sweep.h"

namespace lehr {

/// Returns the name of a variable with an improper prior whose posterior is improper too, so that the fit is a
/// numerical failure. The test moves its factor until the variable is a million times larger, or a million times
/// smaller: after a few sweeps the ELBO is no lower than before (but for 0.01 nats), and the variable is still far
/// away. If only several of them together can grow, it is the first one. Besides, all locations but those of chains
/// move along the direction of the last sweeps, a thousand times as far as they are or as their standard deviations are
/// large, in steps with sweeps after each; then it is the one that moves most. An element is named with its indices.
/// Components that a latent category selects are left out. Returns nothing if there is none. The factors of the
/// instance are restored. All items must be in memory.
std::optional<std::string> run_away(Instance& instance, const schedule::Schedule& schedule, const model::Model& m,
                                    const SweepOptions& options);

}  // namespace lehr
