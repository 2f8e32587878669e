// Posterior predictive checks: compares simple statistics of the data with those of data that the fitted model
// generates. Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized discrepancies.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/diagnose/restored_fit.h"

namespace lehr {

/// A posterior predictive check: one statistic of one observed variable, compared with its values for data sets that
/// the fitted model generates.
struct PredictiveCheck {
  std::string variable;  // name of the variable or column: "x", "x[2]"; columns are counted from 0
  /// "mean", "sd", "min", "max", "zeros" (the fraction of zeros) or "commonest" (the fraction of the commonest value).
  std::string statistic;
  double observed = 0;  // value of the statistic for the user's data
  /// Mean and standard deviation of the statistic's values for data sets that the fitted model generates.
  double mean = 0, sd = 0;
  /// Posterior predictive p-value, Pr(generated > observed) + Pr(generated = observed) / 2; near 0 or 1 if the model
  /// does not generate data like these.
  double p = 0;
};

/// The results of all posterior predictive checks of a fit, part of `lehr diagnose`.
struct PredictiveChecks {
  std::vector<PredictiveCheck> checks;  // in order of variable, column and statistic
  std::string why;                      // why there are no checks, in words; empty if they were made
};

/// Makes posterior predictive checks of a variational fit: generates `draws` data sets and compares simple statistics
/// of them with those of the data. Each data set draws all latent variables from their factors, and then the observed
/// ones, parents first. Values that are missing in the data are left out of both. The columns of an array
/// (ill_scaled_columns.h) are compared separately. An array with more than twenty columns, and one of categories, bits
/// or spins, is compared as a whole. Matrices are not compared. If data cannot be generated, PredictiveChecks::why says
/// so.
PredictiveChecks predictive_checks(const RestoredFit& solution, std::int64_t draws, std::uint64_t seed);

}  // namespace lehr
