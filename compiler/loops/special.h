// The special functions of the interpreter: slow, in long double, and independent of those in generated code, which
// tests compare with them. They are defined for x > 0; elsewhere they return NaN, as the generated code does.
#pragma once

namespace lehr::loops {

/// Returns digamma, the derivative of log Gamma, for x > 0, and NaN elsewhere. By the recurrence psi(x) = psi(x + 1) -
/// 1/x and the asymptotic series (DLMF 5.11.2).
double digamma(double x);
/// Returns trigamma, the derivative of digamma, for x > 0, and NaN elsewhere. By its recurrence and asymptotic series
/// (DLMF 5.15.8).
double trigamma(double x);
/// Returns log Gamma(x) for x > 0, and NaN elsewhere. By its recurrence and asymptotic series (DLMF 5.11.1). Threads
/// may call it at the same time, unlike the C library's lgamma.
double log_gamma(double x);

}  // namespace lehr::loops
