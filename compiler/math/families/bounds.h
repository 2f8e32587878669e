// Declares one more family row of a local bound, beside those in family.h. A local bound replaces a term that is not
// conjugate by one that is, and touches it at an auxiliary point (Bishop 2006, 10.5).
#pragma once
#include "compiler/math/family.h"

namespace lehr::math {

/// Returns the row of the auxiliary m of a probit link whose predictor is switched by a category, by a bit or by the
/// part of a mixture. The bound is log Phi(e) >= offset(m) + tangent(m) e - e^2 / 2, which is tightest at m = E[e].
///
/// The bound follows from the augmentation of Albert & Chib (Bayesian analysis of binary data, 1993), a Normal variable
/// above 0. Its factor is N(m, 1) above 0 here. The row is not in families(): a model cannot name it.
const FamilyRow& probit_bound();

}  // namespace lehr::math
