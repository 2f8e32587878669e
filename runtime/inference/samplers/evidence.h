// The log evidence (log marginal likelihood) by thermodynamic integration over powers of the likelihood. Sources:
// Gelman & Meng, Simulating normalizing constants: from importance sampling to bridge sampling to path sampling (1998);
// Friel & Pettitt, Marginal likelihood estimation via power posteriors (2008).
//
//     log Z = log Z(0) + integral over b from 0 to 1 of E_b[log likelihood],   E_b: over prior * likelihood^b
#pragma once
#include <vector>

namespace lehr {

/// An estimate of the log evidence (log marginal likelihood of the data), in nats, from samplers at several powers b of
/// the likelihood: b = 0 is the prior, b = 1 the posterior.
struct Evidence {
  double log_evidence = 0;     // the estimate
  double error = 0;            // standard error of the estimate, from the draws and from the quadrature
  std::vector<double> powers,  // powers b of the likelihood, rising from 0 to 1
      mean,                    // mean log likelihood at each power
      sd;                      // standard deviation of the log likelihood at each power
  double exchanged = 1;        // acceptance rate of exchanges between neighbouring powers, the least of all
};

/// Estimates the log evidence from draws at several powers of the likelihood, by thermodynamic integration:
/// `energy[level][draw]` are log likelihoods at the powers, `log_states` is the log normaliser at power 0. There are at
/// least two powers, which rise from 0 to 1, and as many draws at each. Evidence::exchanged stays 1.
///
/// Between powers the integrand is the cubic through its values and slopes; the variances of the log likelihood give
/// the slopes (Friel, Hurn & Wyse 2014). Below the first power above 0 they need not exist, so the integral there is
/// the log of the mean of likelihood^power over the prior. The quadrature error comes from a comparison with every
/// second power.
Evidence integrate(const std::vector<double>& powers, const std::vector<std::vector<double>>& energy,
                   double log_states);

/// Returns the mean of the estimates of independent chains (at least one). Its error is the combination of their
/// errors, or the standard error by which they differ if that is larger. The other members are those of the first
/// chain, except `exchanged`, which is the least of all chains.
Evidence combine_chains(const std::vector<Evidence>& chains);

/// Returns new powers, as many as before and with 0 and 1 among them, at equal distances in thermodynamic length. That
/// is the integral of the sd of the log likelihood over the power, estimated from draws at the given powers. If the
/// length is 0 or not finite, the result is `powers`.
std::vector<double> equal_length_powers(const std::vector<double>& powers,
                                        const std::vector<std::vector<double>>& energy);

}  // namespace lehr
