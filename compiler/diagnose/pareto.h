// Pareto-smoothed importance sampling: judges importance ratios by the shape of their upper tail. Vehtari, Simpson,
// Gelman, Yao & Gabry (2024), Journal of Machine Learning Research 25 (72).
#pragma once
#include <vector>

namespace lehr {

/// A generalised Pareto distribution with the density (1 + k x / sigma)^(-1 / k - 1) / sigma for x > 0.
struct GeneralisedPareto {
  /// Shape and scale. The mean is infinite for k >= 1.
  double k = 0, sigma = 0;
};

/// Fits a generalised Pareto distribution to positive values in ascending order, at least five: the estimator of Zhang
/// & Stephens (2009). The shape is shrunk towards 1/2 by a prior with the weight of ten observations.
GeneralisedPareto fit_generalised_pareto(const std::vector<double>& ascending);

/// The judgement of a set of importance ratios.
struct ParetoDiagnosis {
  double k_hat = 0;        // shape of the upper tail; larger is worse
  bool equal = false;      // true if all ratios are equal: then there is no tail, and k_hat is NaN
  double effective = 0;    // effective number of draws: 1 / (sum of squared normalised weights), tail smoothed
  double threshold = 0.7;  // the weights are unreliable if k_hat is above this, for the given number of draws
};

/// Judges importance ratios, given as logarithms. The tail are the largest min(n / 5, 3 sqrt(n)) of n ratios, rounded
/// up; if fewer than five of them exceed all others, k_hat is infinite. All ratios count as equal if the largest and
/// the smallest differ by at most `noise` nats.
ParetoDiagnosis pareto_diagnosis(const std::vector<double>& log_ratios, double noise);

}  // namespace lehr
