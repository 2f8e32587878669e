// Means, standard deviations and quantiles of the factors of a saved fit. The formulas come from the row of each family
// (math::FamilyRow); for a sampled fit the moments were stored with the fit.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/math/family.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// Mean and standard deviation of every number of a variable. Arrays are row-major over `elements`, then `event`. A
/// category of a variational fit has the probabilities of its values, along one event axis; one of a sampled fit has
/// the mean and the standard deviation of its position from 0.
struct Moments {
  std::vector<std::int64_t> elements;  // extents of the axes; a nested plate and its parent are one axis
  std::vector<std::int64_t> event;     // event axes: () of numbers, (d) of vectors, (d, d) of matrices
  std::vector<double> mean;            // mean of each number
  std::vector<double> sd;              // shaped as `mean`; empty where there is none, as for probabilities
  bool simplex = false;                // true if `mean` sums to 1 along the event axis; false for a sampled fit
  std::vector<double> total;           // sum of the concentrations of each element's Dirichlet factor; empty for others
};

/// The names of the arrays that a sampled fit stores for each variable: mean, standard deviation, Monte Carlo standard
/// error, bulk and tail effective sample sizes, and R-hat.
inline constexpr const char *kDrawnMean = "mean", *kDrawnSd = "sd", *kDrawnMcse = "mcse", *kDrawnEssBulk = "ess_bulk",
                            *kDrawnEssTail = "ess_tail", *kDrawnRHat = "r_hat";

/// Returns true if a sampler made the fit: it has draws and no factors.
bool is_sampled(const SavedFit& fit);

/// Computes the moments of a saved variable; of a sampled one they are those that were stored. `family` is the family
/// of its factor. `joint` is the other member of a joint factor of a mean and a precision, or null; without it, the sd
/// of the mean is empty.
///
/// Moments that do not exist are infinite. Returns nullopt if the saved parameters are not those of the family or of
/// its point factor, or if their shapes disagree.
std::optional<Moments> moments(const math::FamilyRow& family, const SavedVariable& v, const SavedVariable* joint);

/// Returns the standard deviations of a variable that the fit has in place of those of the factor (`--sds`), laid out
/// as Moments::sd; null if there are none. NaN where that of the factor is to be used.
const NamedArray* corrected_sds(const SavedFit& fit, const SavedVariable& v);

/// Computes the moments of a variable of a fit; finds the family and the other member of a joint factor in the fit.
/// Standard deviations are the corrected ones where there are some. Returns nullopt as moments() does, and for a family
/// that does not exist.
std::optional<Moments> moments_of(const SavedFit& fit, const SavedVariable& v);

/// Computes the `probability`-quantile of every number of a variable, laid out as Moments::mean. A number without a
/// closed form gets NaN. With a corrected standard deviation, it is that of the family with this mean and standard
/// deviation. Returns an empty list where no number has quantiles: categories, points, sampled variables, or
/// parameters of another family.
std::vector<double> quantiles_of(const SavedFit& fit, const SavedVariable& v, double probability);

/// Returns the concentrations of a Dirichlet factor, over the axes of `v` and the event axis: the mean is proportional
/// to them. Returns null for other factors.
const NamedArray* pseudo_counts(const math::FamilyRow& family, const SavedVariable& v);

}  // namespace lehr
