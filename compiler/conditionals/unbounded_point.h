// Finds point estimates that would run to 0: variances whose posterior density has no maximum above 0.
//
// Example: x[n] ~ Normal(mu, variance = v[n]) with `guide point(v)`. Each v[n] has one observation. If mu meets x[n],
// the density 1 / sqrt(v[n]) grows without end as v[n] goes to 0.
#pragma once
#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// Returns the observed statement, if any, that drives a point estimate of `v` (variances or standard deviations) to 0,
/// because each element has one observation with a random mean. Returns nothing if the mean is observed, if the prior
/// keeps the element from 0, or if the answer depends on the values of constants or data. `uses` are all uses of `v`.
std::optional<model::StatementId> unbounded_at_zero(const model::Model& m, const density::Density& d,
                                                    model::VariableId v, const std::vector<Use>& uses);

/// Adds the error that `v` cannot be a point estimate, since the statement `host` (from unbounded_at_zero()) drives its
/// elements to 0, to `diagnostics`, with notes that propose priors which prevent this.
void report_unbounded(const model::Model& m, model::VariableId v, const std::vector<Use>& uses,
                      const density::Density& d, model::StatementId host, Diagnostics& diagnostics);

}  // namespace lehr::conditionals
