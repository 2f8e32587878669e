// Means and standard deviations of posterior factors, by the row of their family.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/math/family.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

/// Row-major over `elements`, then `event`.
struct Moments {
  std::vector<std::int64_t> elements;  // extents of the axes (a nested plate and its parent are one)
  std::vector<std::int64_t> event;     // () number, (d) vector, (d, d) matrix
  std::vector<double> mean;
  std::vector<double> sd;     // as `mean`, or empty: probabilities of single outcomes have none worth showing
  bool simplex = false;       // the mean is one along the event
  std::vector<double> total;  // of a simplex with pseudo-counts: their sum, by element; otherwise empty
};

/// What the posterior of a sampler has of every variable, whatever its family.
inline constexpr const char *kDrawnMean = "mean", *kDrawnSd = "sd", *kDrawnMcse = "mcse", *kDrawnEssBulk = "ess_bulk",
                            *kDrawnEssTail = "ess_tail", *kDrawnRHat = "r_hat";

/// Whether a sampler made the fit: it has draws, and no factors.
bool is_sampled(const SavedFit& fit);

/// `joint`: the other member of a joint factor or null, which leaves the sd of a mean empty. Moments that do
/// not exist are infinite. Nothing when the parameters are not those of the family or of its points, or their
/// shapes do not belong together.
std::optional<Moments> moments(const math::FamilyRow& family, const SavedVariable& v, const SavedVariable* joint);

/// The same of a variable of a fit, with the other member that it was saved with.
std::optional<Moments> moments_of(const SavedFit& fit, const SavedVariable& v);

/// The quantiles of all numbers of a variable, laid out as its moments. NaN where a number has none in closed form;
/// empty where no number has: categories, points, drawn variables, parameters that are not those of the family.
std::vector<double> quantiles_of(const SavedFit& fit, const SavedVariable& v, double probability);

/// The numbers that a simplex is proportional to the mean of, over the axes of `v` and the event; null where
/// there are none.
const NamedArray* pseudo_counts(const math::FamilyRow& family, const SavedVariable& v);

}  // namespace lehr
