// Linear response: corrected standard deviations for a mean-field fit. Its factors are independent, and too narrow
// where variables are correlated; the reaction of the whole fit to a small perturbation shows the true variance
// (Giordano, Broderick & Jordan 2018, Covariances, robustness, and variational Bayes).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/diagnose/restored_fit.h"

namespace lehr {

/// The result for one variable. Numbers are row-major.
struct Response {
  std::string name;                 // name of the variable
  std::vector<std::int64_t> shape;  // extents of the axes, then of the event axes
  /// Mean and standard deviation of the factors.
  std::vector<double> mean, sd;
  /// Standard deviations by linear response. NaN for a number that was not perturbed, or whose perturbed fits failed.
  std::vector<double> response;
};

/// The result for all variables.
struct LinearResponse {
  std::vector<Response> variables;    // variables with at least one perturbed number
  std::vector<std::string> left_out;  // sentences: which numbers have no result, and why
  std::int64_t unconverged = 0;       // perturbed fits that did not converge
};

/// The options of a linear response.
struct LinearResponseOptions {
  std::int64_t most = 100;  // maximum number of numbers to perturb
  CaviOptions ascent;       // accuracy of each perturbed fit
};

/// Computes standard deviations by linear response. With t x added to the log joint density, the derivative of E[x] in
/// t at 0 is the variance of x: Sigma = (I - V H)^-1 V. V is the covariance of q and H has the mixed derivatives;
/// neither is formed. Each number takes two fits from the solution, with perturbations of plus and minus 1/100 standard
/// deviation.
///
/// Numbers of global variables are perturbed. Of Normal, MvNormal, joint Normal, Gamma and Wishart factors the value
/// itself is a sufficient statistic. Of Beta, Dirichlet and InverseGamma factors it is regressed on the statistics
/// (PerturbationDirection). The variance that these do not explain is taken from the factor. The result is exact for a
/// Normal posterior with Normal factors. The perturbed model gets extra potentials, and is derived and compiled anew.
Result<LinearResponse> linear_response(const RestoredFit& solution, const LinearResponseOptions& options);

}  // namespace lehr
