// How well chains of draws have mixed, and what they are worth. Vehtari, Gelman, Simpson, Carpenter & Buerkner,
// Rank-normalization, folding, and localization: an improved R-hat (2021); effective sizes by Geyer's initial monotone
// sequence, as in Stan.
#pragma once
#include <span>
#include <vector>

namespace lehr {

struct Diagnosis {
  double mean = 0, sd = 0;
  double mcse = 0;  // of the mean: its Monte Carlo standard error
  double ess_bulk = 0, ess_tail = 0;
  double r_hat = 0;  // of the split chains, ranks and folded ranks: the larger
};

/// Of one number: the draws of chains of equal length, at least 4 each; otherwise all but mean and sd are NaN.
Diagnosis diagnose(const std::vector<std::span<const double>>& chains);

}  // namespace lehr
