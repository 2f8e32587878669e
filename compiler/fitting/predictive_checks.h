// Posterior predictive checks: are simple statistics of the data those of data that the fitted model makes (Gelman,
// Meng & Stern 1996, Posterior predictive assessment of model fitness)?
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/fitting/solution.h"

namespace lehr {

struct PredictiveCheck {
  std::string variable;   // "x", "x[2]" of columns
  std::string statistic;  // "mean", "sd", "min", "max", "zeros" (a share), "commonest" (the share of that value)
  double observed = 0;
  double mean = 0, sd = 0;  // of replicated data
  double p = 0;             // Pr(replicated > observed) + Pr(replicated = observed) / 2
};

struct PredictiveChecks {
  std::vector<PredictiveCheck> checks;
  std::string why;  // there are none
};

/// Each draw takes every latent variable from its own factor, local ones too, and draws the observed ones anew, parents
/// first; what is missing in the data is left out of both. Columns are those of far_columns.h, up to twenty of them.
PredictiveChecks predictive_checks(const Solution& solution, std::int64_t draws, std::uint64_t seed);

}  // namespace lehr
