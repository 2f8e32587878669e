// A latent temperature on a grid: Mandt, McInerney, Abrol, Ranganath & Blei (2016), section 2.3, with the energy and
// the normaliser log C(T) from one and the same density.
#pragma once
#include <span>

namespace lehr::machine {

/// E[1/T] under r_m proportional to exp(energy / T_m - log C(T_m)), which is written to `r` where that is not null.
double temperature_factor(std::span<const double> temperatures, std::span<const double> log_c, double energy,
                          double* r);

}  // namespace lehr::machine
