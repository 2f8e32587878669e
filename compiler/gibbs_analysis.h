// The analysis of a model for Gibbs sampling: like `analyse`, but every block is drawn from its complete conditional.
// Models with switched local bounds are expanded anew: variational inference has a tangent point for each value of the
// switch, and a sampler one auxiliary variable for all.
#pragma once
#include "compiler/pipeline.h"

namespace lehr {

/// Returns the model and the conditionals from which a Gibbs sampler draws the blocks, without a schedule. Callers also
/// use it to ask whether the model can be sampled. `resolved` is the model before the compiler added auxiliary
/// variables, and `complete` its variational analysis with the same `options`. Without local bounds the conditionals
/// are those of `complete`, drawn. Otherwise `resolved` is expanded anew (expand_for_draws), with one auxiliary
/// variable of a link for all values of a switch. Fails with ExitCode::model if some variable cannot be drawn.
Result<Derived> derive_for_gibbs(const model::Model& resolved, const density::ExpandOptions& options,
                                 const Analysed& complete);
/// Returns the analysis of a model for Gibbs sampling: the schedule of the result draws each block from its complete
/// conditional. It is derive_for_gibbs(), then schedule_updates(). `resolved` is the model before the compiler added
/// auxiliary variables, and `complete` its variational analysis with the same `options`. Fails with ExitCode::model if
/// some variable cannot be drawn.
Result<Analysed> analyse_for_gibbs(const model::Model& resolved, const density::ExpandOptions& options,
                                   const Analysed& complete, const schedule::PlanOptions& plan_options = {});

}  // namespace lehr
