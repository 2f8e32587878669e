// Points that have no largest density inside their support.
#pragma once
#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// The observed statement in which each element of `v`, a variance or a standard deviation, has one observation of its
/// own: the density grows without end as the element goes to 0 where the observation meets its mean. Nothing where the
/// mean is known, where a prior keeps the element from 0, or where that depends on numbers that are not known here.
std::optional<model::StatementId> drives_to_zero(const model::Model& m, const density::Density& d, model::VariableId v,
                                                 const std::vector<Use>& uses);

/// Adds the error that `v` cannot be a point of `host`, with priors that let it.
void explain_vanishing(const model::Model& m, model::VariableId v, const std::vector<Use>& uses,
                       const density::Density& d, model::StatementId host, Diagnostics& diagnostics);

}  // namespace lehr::conditionals
