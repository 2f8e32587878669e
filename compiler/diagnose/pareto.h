// Pareto-smoothed importance sampling: judges importance ratios by the shape of their upper tail. Vehtari, Simpson,
// Gelman, Yao & Gabry (2024), Journal of Machine Learning Research 25 (72).
#pragma once
#include <vector>

namespace lehr {

/// A generalised Pareto distribution with the density (1 + k x / sigma)^(-1 / k - 1) / sigma for x > 0, as a model of
/// the largest importance ratios.
struct GeneralisedPareto {
  /// Shape k and scale sigma. The tail is heavier the larger k is; the mean is infinite for k >= 1.
  double k = 0, sigma = 0;
};

/// Fits a generalised Pareto distribution to positive values in ascending order, at least five: the estimator of Zhang
/// & Stephens (2009). The shape is shrunk towards 1/2 by a prior with the weight of ten observations.
GeneralisedPareto fit_generalised_pareto(const std::vector<double>& ascending);

/// How far a variational posterior is from the true one, judged by the importance ratios of its draws.
struct ParetoDiagnosis {
  double k_hat = 0;      // shape of the upper tail of the ratios; larger is worse, infinite if there is too little tail
  bool equal = false;    // true if all ratios are equal, as for the true posterior: k_hat is then NaN
  double effective = 0;  // number of equally weighted draws that the weighted draws are worth, tail smoothed
  double threshold = 0.7;  // above this k_hat the weights are unreliable: at most 0.7, less for few draws
};

/// Judges a variational posterior by the importance ratios of its draws, given as logarithms in nats, from the shape of
/// their upper tail. The tail are the largest min(n / 5, 3 sqrt(n)) of n ratios, rounded up; if fewer than five of them
/// exceed all others, k_hat is infinite. All ratios count as equal if the largest and the smallest differ by at most
/// `noise` nats. There must be at least one ratio.
ParetoDiagnosis pareto_diagnosis(const std::vector<double>& log_ratios, double noise);

}  // namespace lehr
