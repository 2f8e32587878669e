// Means, standard deviations and quantiles of the factors of a saved fit. The formulas come from the row of each family
// (math::FamilyRow); for a sampled fit the moments were stored with the fit.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/math/family.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// Posterior mean and standard deviation of every number of a variable of a saved fit. Arrays are row-major over
/// `elements`, then `event`. A category of a variational fit has the probabilities of its values, along one event axis;
/// one of a sampled fit has the mean and the standard deviation of its position from 0.
struct Moments {
  std::vector<std::int64_t> elements;  // extents of the axes; a nested plate and its parent are one axis
  std::vector<std::int64_t> event;     // event axes: () of numbers, (d) of vectors, (d, d) of matrices
  std::vector<double> mean;  // mean of each number of the variable; of a category, probabilities of its values
  /// Standard deviation of each number. Empty where the factor has none: points, categories, bits, spins, and a mean
  /// without the precision that shares its factor.
  std::vector<double> sd;
  bool simplex = false;       // true for probabilities, which sum to 1 along the event axis; false for a sampled fit
  std::vector<double> total;  // sum of the concentrations of each element's Dirichlet factor; empty for others
};

/// The names of the arrays that a sampled fit stores for each variable: mean, standard deviation, Monte Carlo standard
/// error, bulk and tail effective sample sizes, and R-hat.
inline constexpr const char *kDrawnMean = "mean", *kDrawnSd = "sd", *kDrawnMcse = "mcse", *kDrawnEssBulk = "ess_bulk",
                            *kDrawnEssTail = "ess_tail", *kDrawnRHat = "r_hat";

/// Returns true if a sampling method made the fit, so that it has stored draws and no factors; false for a variational
/// fit.
bool is_sampled(const SavedFit& fit);

/// Computes mean and standard deviation of every number of a saved variable from its factor; of a sampled variable they
/// are those that were stored. `family` is the family of its factor. `joint` is the other variable of a factor of a
/// mean and its precision, or null; without it, the sd of the mean is empty. Corrected standard deviations are ignored:
/// moments_of() uses them.
///
/// Moments that do not exist are infinite. Returns nullopt if the saved parameters are not those of the family or of
/// its point factor, or if their shapes disagree.
std::optional<Moments> moments(const math::FamilyRow& family, const SavedVariable& v, const SavedVariable* joint);

/// Returns the standard deviations by linear response (`lehr fit --sds linear-response`) that the fit stores for a
/// variable, laid out as Moments::sd; they replace those of the factor, which are often too small. NaN for a number
/// that has none, where that of the factor holds. Null if the fit has none for the variable.
const NamedArray* corrected_sds(const SavedFit& fit, const SavedVariable& v);

/// Computes mean and standard deviation of every number of a variable of a fit, as reports and tables show them. It is
/// moments() with the family named in the fit, then with corrected standard deviations (`--sds`) where there are some.
/// Returns nullopt if the family does not exist, or if the saved parameters are not its own or have contradictory
/// shapes.
std::optional<Moments> moments_of(const SavedFit& fit, const SavedVariable& v);

/// Computes the `probability`-quantile of every number of a variable of a variational fit, laid out as Moments::mean. A
/// number without a closed form gets NaN. Where the fit has a corrected standard deviation (`--sds`), it is the
/// quantile of the distribution of the same kind with the factor's mean and the corrected standard deviation. Returns
/// an empty list where no number has quantiles: categories, points, sampled variables, or parameters of another family.
std::vector<double> quantiles_of(const SavedFit& fit, const SavedVariable& v, double probability);

/// Returns the saved concentrations of a Dirichlet factor, over the axes of `v` and the event axis: the mean is
/// proportional to them. Returns null for factors of other families, and if they were not saved.
const NamedArray* pseudo_counts(const math::FamilyRow& family, const SavedVariable& v);

}  // namespace lehr
