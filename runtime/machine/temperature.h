// Computes the variational factor of a latent temperature on a grid. Source: Mandt, McInerney, Abrol, Ranganath & Blei
// (2016), section 2.3; here the energy and the normaliser log C(T) belong to the same density.
#pragma once
#include <span>

namespace lehr::machine {

/// Computes the factor of a latent temperature T on a grid of values T_m, for variational tempering: probabilities r_m
/// proportional to exp(energy / T_m - log C(T_m)). Returns E[1/T] under it. `energy` is the expected log density of the
/// tempered terms, in nats. `temperatures` and `log_c` have one entry for each value of the grid. If `r` is not null,
/// it receives the r_m.
double temperature_factor(std::span<const double> temperatures, std::span<const double> log_c, double energy,
                          double* r);

}  // namespace lehr::machine
