// Posterior predictive checks: compares simple statistics of the data with those of data that the fitted model
// generates. Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized discrepancies.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/diagnose/restored_fit.h"

namespace lehr {

/// The comparison of one statistic of one variable.
struct PredictiveCheck {
  std::string variable;  // name of the variable or column: "x", "x[2]"; columns are counted from 0
  /// "mean", "sd", "min", "max", "zeros" (the fraction of zeros) or "commonest" (the fraction of the commonest value).
  std::string statistic;
  double observed = 0;  // value of the statistic for the data
  /// Mean and standard deviation of its values for generated data.
  double mean = 0, sd = 0;
  double p = 0;  // Pr(generated > observed) + Pr(generated = observed) / 2
};

/// The results of all checks.
struct PredictiveChecks {
  std::vector<PredictiveCheck> checks;  // by variable, column and statistic
  std::string why;                      // if there are none: the reason
};

/// Generates `draws` data sets and compares them with the data. Each draws all latent variables from their factors, and
/// then the observed ones, parents first. Values that are missing in the data are left out of both. The columns of an
/// array (ill_scaled_columns.h) are compared separately. An array with more than twenty columns, and one of categories,
/// bits or spins, is compared as a whole. Matrices are not compared.
PredictiveChecks predictive_checks(const RestoredFit& solution, std::int64_t draws, std::uint64_t seed);

}  // namespace lehr
