// The generalised Pareto fit of Zhang & Stephens (2009), and the smoothing of the tail: the largest ratios are replaced
// by the quantiles of the fitted distribution.
#include "compiler/diagnose/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lehr {
namespace {

/// Returns the shape k for the reparametrised scale b = -k / sigma: the mean of log(1 - b x).
double shape_at(double b, const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x)
    sum += std::log1p(-b * v);
  return sum / static_cast<double>(x.size());
}

/// Returns the effective number of draws, (sum of weights)^2 / (sum of squared weights).
double effective_draws(const std::vector<double>& log_weights) {
  double sum = 0, squares = 0;
  for (const double l : log_weights) {
    sum += std::exp(l);
    squares += std::exp(2 * l);
  }
  return sum * sum / squares;
}

}  // namespace

GeneralisedPareto fit_generalised_pareto(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  const auto grid = static_cast<std::size_t>(30 + std::floor(std::sqrt(n)));
  const double quartile = x[static_cast<std::size_t>(n / 4 + 0.5) - 1];
  // A grid of values of b with their profile log likelihoods, whose average is taken.
  std::vector<double> b(grid), profile(grid);
  for (std::size_t j = 0; j < grid; ++j) {
    const double part = std::sqrt(static_cast<double>(grid) / (static_cast<double>(j) + 0.5));
    b[j] = 1 / x.back() + (1 - part) / (3 * quartile);
    const double k = shape_at(b[j], x);
    profile[j] = n * (std::log(-b[j] / k) - k - 1);
  }
  const double top = *std::ranges::max_element(profile);
  double weights = 0, mean = 0;
  for (std::size_t j = 0; j < grid; ++j) {
    const double w = std::exp(profile[j] - top);
    weights += w;
    mean += w * b[j];
  }
  mean /= weights;
  // The prior is worth ten observations at k = 1/2.
  const double k = shape_at(mean, x);
  return {(n * k + 10 * 0.5) / (n + 10), -k / mean};
}

ParetoDiagnosis pareto_diagnosis(const std::vector<double>& log_ratios, double noise) {
  ParetoDiagnosis out;
  const auto n = static_cast<double>(log_ratios.size());
  out.threshold = std::min(1 - 1 / std::log10(n), 0.7);
  std::vector<double> sorted = log_ratios;
  std::ranges::sort(sorted);
  out.equal = sorted.back() - sorted.front() <= noise;
  if (out.equal) {
    out.k_hat = std::numeric_limits<double>::quiet_NaN();
    out.effective = n;
    return out;
  }
  const double top = sorted.back();
  for (double& l : sorted)
    l -= top;
  const auto length = static_cast<std::size_t>(std::ceil(std::min(n / 5, 3 * std::sqrt(n))));
  const double border = sorted[sorted.size() - length - 1];
  std::vector<double> tail;
  for (std::size_t i = sorted.size() - length; i < sorted.size(); ++i)
    if (sorted[i] > border) tail.push_back(std::exp(sorted[i]) - std::exp(border));
  if (tail.size() < 5) {
    out.k_hat = std::numeric_limits<double>::infinity();
    out.effective = effective_draws(sorted);
    return out;
  }
  const GeneralisedPareto fitted = fit_generalised_pareto(tail);
  out.k_hat = fitted.k;
  // The tail is set to the quantiles of the fitted distribution, at most the largest ratio.
  const std::size_t first = sorted.size() - tail.size();
  for (std::size_t i = 0; i < tail.size(); ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(tail.size());
    const double above = fitted.sigma * std::expm1(-fitted.k * std::log1p(-p)) / fitted.k;
    sorted[first + i] = std::min(0.0, std::log(above + std::exp(border)));
  }
  out.effective = effective_draws(sorted);
  return out;
}

}  // namespace lehr
