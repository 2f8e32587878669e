// Pareto-smoothed importance sampling: Vehtari, Simpson, Gelman, Yao & Gabry (2024), Journal of Machine Learning
// Research 25 (72).
#pragma once
#include <vector>

namespace lehr {

/// Shape and scale of a generalised Pareto distribution, density (1 + k x / sigma)^(-1 / k - 1) / sigma.
struct GeneralisedPareto {
  double k = 0, sigma = 0;
};

/// Of values above 0 in ascending order, at least five: the posterior mean of Zhang & Stephens (2009), k drawn to a
/// half by ten observations' worth of prior.
GeneralisedPareto fit_generalised_pareto(const std::vector<double>& ascending);

struct ParetoDiagnosis {
  double k_hat = 0;        // shape of the tail of the ratios
  bool equal = false;      // all ratios are the same: there is no tail, and k_hat is NaN
  double effective = 0;    // draws: 1 / the sum of the squared weights, smoothed
  double threshold = 0.7;  // k_hat above: the weights are of no use with so many draws
};

/// Of the logarithms of importance ratios. The largest min(n / 5, 3 sqrt(n)) are the tail; with fewer than five in it
/// k_hat is infinite. Ratios that differ by no more than `noise` nats are equal.
ParetoDiagnosis pareto_diagnosis(const std::vector<double>& log_ratios, double noise);

}  // namespace lehr
