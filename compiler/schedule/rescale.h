// Finds changes of scale that leave every term of the likelihood alone, from the terms of the log joint.
//
// Where positive variables enter the likelihood as products, theta[u][k] * beta[k][i], the change theta -> theta * c,
// beta -> beta / c changes only priors and entropies. It is a shift of logarithms: along log c, the derivative of a
// term is the term times the sum of the powers of what moves, and that of a logarithm is a constant. All factors stay
// in their families. So the ELBO changes by what the derivatives of all terms together leave, such as those of priors.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Finds the changes of scale that leave the likelihood alone (theta -> theta c, beta -> beta / c) as shifts of
/// logarithms, for Schedule::shifts: at most one for each pair of variables. Both variables are global. The steps,
/// stages and storage of `s` must be decided; index variables are added to its algebra, and arrays to `s`. Derivatives
/// are terms in the result; regroup() replaces sums over items by statistics.
std::vector<Shift> find_changes_of_scale(const model::Model& m, Schedule& s);

}  // namespace lehr::schedule
