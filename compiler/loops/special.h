// Reference special functions of the interpreter: slow, in long double, independent of the generated code.
// Domain x > 0; elsewhere NaN, as in the generated code.
#pragma once

namespace lehr::loops {

/// psi(x) by the recurrence psi(x) = psi(x + 1) - 1/x and the asymptotic series (DLMF 5.11.2).
double digamma(double x);
/// psi'(x) likewise (DLMF 5.15.8).
double trigamma(double x);
/// log Gamma(x), reentrant (no signgam).
double log_gamma(double x);

}  // namespace lehr::loops
