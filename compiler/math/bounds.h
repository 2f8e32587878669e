// Rows of points of bounds that stand in the place of an auxiliary number.
#pragma once
#include "compiler/math/family.h"

namespace lehr::math {

/// The row of the auxiliary m of a probit link whose predictor is switched: log Phi(e) >= offset(m) + tangent(m) e -
/// e^2 / 2, tightest at m = E[e]: what is left of a Normal number above 0 about e with the factor N(m, 1) above 0. Not
/// in families(). Albert & Chib, Bayesian analysis of binary data (1993).
const FamilyRow& probit_bound();

}  // namespace lehr::math
