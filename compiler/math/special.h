// Log gamma; digamma and trigamma on the positive reals for the numeric evaluator; generated code has its own,
// vectorised ones. Recurrence up to x >= 10, then the asymptotic series (Abramowitz & Stegun 6.3.18, 6.4.12):
// relative error near 1e-15 away from the zero of digamma, NaN for x <= 0.
#pragma once

namespace lehr::math {

/// As std::lgamma, which is not for several threads: it leaves the sign in a variable of the C library.
double log_gamma_value(double x);
double digamma_value(double x);
double trigamma_value(double x);
/// log of the probability that a standard Normal number is above x, relative error near 1e-15; by its asymptotic series
/// from x = 30 on (A&S 26.2.12).
double log_tail_value(double x);

}  // namespace lehr::math
