// Finds shifts of constants that leave every term of the likelihood alone, from the terms of the log joint.
//
// Where the likelihood has sums sum(k) W[d][k] * z[n][k] + m[d], the shift z -> z - c, m -> m + W c changes only the
// priors. Sweeps of separate factors of z and m move along it slowly. Let D be the derivative along c of a term, a sum
// of terms in which c[k] stands for an atom of z, and W[d][k] c[k] for one of m. The shift is an invariance of a
// statement if the terms of D of all its terms cancel.
//
// The factors move in their means alone, m by E[W] c. So the ELBO changes by the priors, and by the covariances of W:
// where D has W beside the other atoms of a term that has W too, the derivative of the ELBO has E[W] E[...] in place of
// E[W ...]. All other parts of the likelihood cancel, and no sum over the data is left.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Finds the shifts of constants in a model that leave the likelihood alone, for Schedule::shifts: at most one for each
/// pair of a variable that is shifted and a variable that compensates for it. The steps, stages and storage of `s` must
/// be decided; index variables are added to its algebra, and arrays to `s`. Derivatives are terms in the result;
/// regroup() replaces sums over items by statistics.
std::vector<Shift> find_shifts(const model::Model& m, Schedule& s);

/// Returns the indices of the constants of a Shift, elements of the array `step`, that are factors of the coefficient
/// of a derivative. A constant that occurs twice is listed twice; the list is empty if no constant is a factor. If the
/// coefficient is a sum, all summands must have the same constants, otherwise nothing is returned.
std::optional<std::vector<density::IndexId>> constants_of(const density::Algebra& a, density::CoefId c, ArrayId step);

}  // namespace lehr::schedule
