// Evaluates ratios Gamma(x + b) / Gamma(x) for many x at once: the moments of Gamma and Dirichlet factors. What depends
// on x alone is computed once, so another b costs a few array operations.
#pragma once
#include <span>
#include <vector>

namespace lehr::math {

/// The ratios Gamma(x + b) / Gamma(x) for fixed arguments x, as a function of b. The moments E[p^b] of a Dirichlet
/// vector consist of them, with b = 1 / T at each temperature T of tempering.
class GammaRatios {
 public:
  /// Copies the arguments x, which must all be > 0, and computes what depends on them alone.
  explicit GammaRatios(std::span<const double> x);
  /// Returns the number of arguments.
  std::size_t size() const { return z_.size(); }
  /// Returns the ratios for this b, one for each x, where 0 < b <= 1. The relative error is below 1e-14 for x up to
  /// 1e4, and below 1e-15 x^(1/4) above.
  std::vector<double> operator()(double b) const;

 private:
  /// By argument: x itself; z = x + n; log z; the tail of Stirling's series at z; the product x (x + 1) ... (x + n -
  /// 1). See gamma_ratios.cpp.
  std::vector<double> x_, z_, log_z_, tail_, product_;
};

}  // namespace lehr::math
