// The analysis of a model for Gibbs sampling: like `analyse`, but every block is drawn from its complete conditional.
// Models with switched local bounds are expanded anew: variational inference has a tangent point for each value of the
// switch, and a sampler one auxiliary variable for all.
#pragma once
#include "compiler/pipeline.h"

namespace lehr {

/// Returns the model and the conditionals of a Gibbs sampler. `complete` is the variational analysis of `resolved` with
/// the same `options`. Without local bounds in it the result is `with_sample_factors(complete)`; else `resolved` is
/// expanded anew with one auxiliary variable of a link for all values of a switch (`expand_for_draws`). Fails with
/// ExitCode::model if some variable cannot be drawn.
Result<Derived> derive_for_gibbs(const model::Model& resolved, const density::ExpandOptions& options,
                                 const Analysed& complete);
/// Returns the model and the schedule of a Gibbs sampler: `derive_for_gibbs`, and `schedule_updates` of the result.
/// `complete` is the variational analysis of `resolved` with the same `options`. Fails with ExitCode::model if some
/// variable cannot be drawn.
Result<Analysed> analyse_for_gibbs(const model::Model& resolved, const density::ExpandOptions& options,
                                   const Analysed& complete, const schedule::PlanOptions& plan_options = {});

}  // namespace lehr
