// The log evidence by thermodynamic integration over powers of the likelihood. Gelman & Meng, Simulating normalizing
// constants: from importance sampling to bridge sampling to path sampling (1998); Friel & Pettitt, Marginal likelihood
// estimation via power posteriors (2008).
#pragma once
#include <vector>

namespace lehr {

/// log Z = log Z(0) + integral over b from 0 to 1 of E_b[log likelihood], where E_b is over prior * likelihood^b.
struct Evidence {
  double log_evidence = 0;
  double error = 0;                      // standard error: of the draws, and of the quadrature
  std::vector<double> powers, mean, sd;  // of the log likelihood, by rung: powers rise from 0 to 1
  double exchanged = 1;                  // share of the exchanges that were accepted, the least of all neighbours
};

/// `energy[rung][draw]`: log likelihoods at the powers, drawn together. `log_states`: log Z(0).
///
/// Between rungs the integrand is the cubic through its values and slopes, which the variances of the log likelihood
/// give (Friel, Hurn & Wyse 2014); below the first power, where they need not exist, its integral is the log of the
/// mean of likelihood^power over the prior. The error of the quadrature is taken from every second rung.
Evidence integrate(const std::vector<double>& powers, const std::vector<std::vector<double>>& energy,
                   double log_states);

/// That of all chains.
Evidence together(const std::vector<Evidence>& chains);

/// Powers at equal thermodynamic length (the integral of the sd of the log likelihood over the power), from draws at
/// the powers that are given: as many, 0 and 1 among them.
std::vector<double> spread(const std::vector<double>& powers, const std::vector<std::vector<double>>& energy);

}  // namespace lehr
