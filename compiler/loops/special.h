// The special functions of the interpreter: slow, in long double, and independent of those in generated code, which
// tests compare with them. They are defined for x > 0; elsewhere they return NaN, as the generated code does.
#pragma once

namespace lehr::loops {

/// Returns digamma, psi(x), by the recurrence psi(x) = psi(x + 1) - 1/x and the asymptotic series (DLMF 5.11.2).
double digamma(double x);
/// Returns psi'(x), the derivative of digamma, by its recurrence and asymptotic series (DLMF 5.15.8).
double trigamma(double x);
/// Returns log Gamma(x), by its recurrence and asymptotic series (DLMF 5.11.1). Unlike the C library's lgamma it is
/// re-entrant.
double log_gamma(double x);

}  // namespace lehr::loops
