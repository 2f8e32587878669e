// Quantiles of factors, of each component of a value by itself.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/math/family.h"

namespace lehr::math {

/// The `probability`-quantile (in (0, 1)) of each component of a value with these parameters, which are those of
/// Factor::moments; of joint families of the mean, then of the precision. NaN: this component has none here.
using Quantiles =
    std::function<std::vector<double>(std::span<const double> parameters, std::size_t extent, double probability)>;

/// Of the factor of a row; null where its values are no numbers.
const Quantiles* find_quantiles(const FamilyRow& row);

/// A row's quantiles, which stand beside it.
struct QuantileRow {
  std::string family;
  Quantiles quantiles;
};

// By Boost.Math; NaN outside of their domain.
double normal_quantile(double mean, double sd, double probability);
double gamma_quantile(double shape, double rate, double probability);
double inverse_gamma_quantile(double shape, double scale, double probability);
double beta_quantile(double a, double b, double probability);
/// Of Student's t at `freedom`, moved and stretched.
double student_quantile(double freedom, double location, double scale, double probability);

}  // namespace lehr::math
