// Declares more family rows of auxiliary points, beside those in family.h. A local bound replaces a term that is not
// conjugate by one that is, and touches it at such a point (Bishop 2006, 10.5). A tangent plane does so for the
// expectation of a link of a Normal number.
#pragma once
#include "compiler/math/family.h"

namespace lehr::math {

/// Returns the row of the auxiliary m of a probit link whose predictor is switched by a category, by a bit or by the
/// part of a mixture. The bound is log Phi(e) >= offset(m) + tangent(m) e - e^2 / 2, which is tightest at m = E[e]. It
/// follows from the augmentation of Albert & Chib (Bayesian analysis of binary data, 1993), a Normal variable above 0
/// whose factor is N(m, 1) above 0 here. The row is not in families(): a model cannot name it.
const FamilyRow& probit_bound();

// Expectations of links. The point of such a row is the mean m and the variance v of a predictor e that is Normal under
// the posterior. With F(m, v) = E[f(e)] the statistics are the coefficients of the tangent plane of F in the moments of
// e: F = offset + tangent E[e] - curvature E[e^2] at the point, with curvature = -dF/dv and tangent = dF/dm + 2
// curvature m. So an update that uses the plane is a step of natural gradients, and a fixed point of the sweep is a
// stationary point of the ELBO: Knowles & Minka (2011), Khan & Lin (2017). Away from its point the plane is no bound.

/// Returns the row of a point at which a tangent plane replaces E[f(e)] of a logistic link, f(e) = -log(1 + exp e) and
/// e Normal; `value` and `variance` are those of e. The logistic function is a mixture of eight Normal distribution
/// functions within 2e-9 (Monahan & Stefanski 1989), which gives all expectations in closed form.
const FamilyRow& logistic_expectation();
/// Returns the row of a point at which a tangent plane replaces E[log Phi(e)] of a probit link, where e is Normal;
/// `value` and `variance` are those of e. The expectation is a sum by the trapezoidal rule.
const FamilyRow& probit_expectation();
/// Returns the row of a point at which a tangent plane replaces E[-exp(e)] of a log rate e that is Normal; `value` and
/// `variance` are the mean m and variance v of e. The expectation is -exp(m + v / 2).
const FamilyRow& exp_expectation();

/// Returns true for logistic_expectation(), probit_expectation() and exp_expectation(): rows of tangent planes of an
/// expectation, which are no bounds.
bool is_expectation(const FamilyRow& row);

}  // namespace lehr::math
