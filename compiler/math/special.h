// Special functions for the evaluator of formulas; generated code has vectorised ones of its own. Digamma and trigamma
// use their recurrence up to x >= 10, then the asymptotic series (Abramowitz & Stegun 6.3.18, 6.4.12). Their relative
// error is near 1e-15 away from the zero of digamma.
#pragma once

namespace lehr::math {

/// Returns log |Gamma(x)|. Unlike std::lgamma it is safe in several threads: that one stores the sign in a global
/// variable.
double log_gamma_value(double x);
/// Returns the derivative of log Gamma at x > 0; NaN for other x.
double digamma_value(double x);
/// Returns the second derivative of log Gamma at x > 0; NaN for other x.
double trigamma_value(double x);
/// Returns the log probability that a standard Normal number is above x, with relative error near 1e-15. From x = 30 on
/// it uses the asymptotic series (A&S 26.2.12).
double log_tail_value(double x);

}  // namespace lehr::math
