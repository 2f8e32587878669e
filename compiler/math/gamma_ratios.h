// Gamma(x + b) / Gamma(x) of many x at once: the moments of Gamma and Dirichlet factors.
#pragma once
#include <span>
#include <vector>

namespace lehr::math {

class GammaRatios {
 public:
  /// All above 0.
  explicit GammaRatios(std::span<const double> x);
  std::size_t size() const { return z_.size(); }
  /// For 0 < b <= 1: relative error below 1e-14, above x = 1e4 below 1e-15 x^(1/4).
  std::vector<double> operator()(double b) const;

 private:
  std::vector<double> x_, z_, log_z_, tail_, product_;
};

}  // namespace lehr::math
