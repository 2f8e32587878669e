// Linear response: covariances that mean-field factors leave out, from how the fit answers to a pull (Giordano,
// Broderick & Jordan 2018, Covariances, robustness and variational Bayes).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/fitting/solution.h"

namespace lehr {

/// The numbers of one variable, row-major.
struct Response {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> mean, sd;  // of the factors
  std::vector<double>
      response;  // standard deviations by linear response; NaN: see `left_out`, or no fit came of a pull
};

struct LinearResponse {
  std::vector<Response> variables;
  std::vector<std::string> left_out;  // sentences: what was not pulled, and why
  std::int64_t unsettled = 0;         // pulls whose fit had not converged
};

struct LinearResponseOptions {
  std::int64_t most = 100;  // numbers that are pulled
  CaviOptions ascent;       // of each fit
};

/// With t x added to the log joint density, d E[x] / dt at t = 0 is the variance of x where the fit answers as the
/// posterior does: Sigma = (I - V H)^-1 V, V the covariance of q, H the mixed derivatives, without either being formed.
/// Two fits a number, from the solution, pulled by plus and minus a hundredth of a standard deviation. Of global
/// numbers: those whose value is a statistic of their factor (Normal, MvNormal, members of a joint Normal factor,
/// Gamma, Wishart), and those that are regressed on its statistics (Beta, Dirichlet, InverseGamma), see PullDirection:
/// the variance that these do not explain is the factor's. Exact where all factors of a jointly Normal posterior are
/// Normal. The potentials that pull are added to the model, which is derived and compiled anew.
Result<LinearResponse> linear_response(const Solution& solution, const LinearResponseOptions& options);

}  // namespace lehr
