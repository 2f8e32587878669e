// Convergence diagnostics of Markov chains: R-hat, effective sample sizes and Monte Carlo errors. Source: Vehtari,
// Gelman, Simpson, Carpenter & Buerkner, Rank-normalization, folding, and localization: an improved R-hat (2021).
// Effective sample sizes use Geyer's initial monotone sequence, as in Stan.
#pragma once
#include <span>
#include <vector>

namespace lehr {

/// The summary of the draws of one scalar quantity over all Markov chains, with diagnostics of their convergence.
struct Diagnosis {
  double mean = 0,      // mean of all draws
      sd = 0;           // standard deviation of all draws
  double mcse = 0;      // Monte Carlo standard error of the mean
  double ess_bulk = 0,  // effective sample size for the centre of the distribution
      ess_tail = 0;     // effective sample size for its 5 % and 95 % quantiles, the smaller
  double r_hat = 0;     // R-hat of the split chains, by ranks or by folded ranks, the larger; 1: converged; NaN:
                        // all draws are equal
};

/// Returns the summary of the draws of one quantity, one span a chain. All chains must have the same length. With fewer
/// than 4 draws each, all but mean and sd are NaN; of one draw in all, sd is NaN, too; of none, all.
Diagnosis diagnose(const std::vector<std::span<const double>>& chains);

}  // namespace lehr
