// Computes the variational factor of a latent temperature on a grid. Source: Mandt, McInerney, Abrol, Ranganath & Blei
// (2016), section 2.3; here the energy and the normaliser log C(T) belong to the same density.
#pragma once
#include <span>

namespace lehr::machine {

/// Returns E[1/T] under the factor r_m proportional to exp(energy / T_m - log C(T_m)). `energy` is the expected log
/// density of the tempered terms, in nats. `temperatures` and `log_c` have one entry a grid point. If `r` is not null,
/// it receives the probabilities of the grid points.
double temperature_factor(std::span<const double> temperatures, std::span<const double> log_c, double energy,
                          double* r);

}  // namespace lehr::machine
