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

/// Returns the name of a variable with an improper prior that the ELBO does not hold: it is no lower after a few sweeps
/// from where the variable is a million times larger (or a positive one smaller), and the variable stays there. If only
/// several of them together can grow, it is the first one. Components that a latent category selects are left out.
/// Returns nothing if there is none. The factors of the instance stay. All items must be in memory.
std::optional<std::string> run_away(Instance& instance, const schedule::Schedule& schedule, const model::Model& m,
                                    const SweepOptions& options);

}  // namespace lehr
