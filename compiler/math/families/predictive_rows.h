// Predictive distributions of the families that are not Gaussian: the functions that the rows store in
// FamilyRow::predictive. Each takes the distribution of every canonical parameter (ScalarMarginal), in the order of
// density_parameters(). It returns the distribution of the value with the parameters integrated out, where that has a
// closed form. A constant parameter has kind `value`.
//
// Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), 5.13, 6.2.2; Johnson, Kotz & Balakrishnan, Continuous
// Univariate Distributions (1994), 20.1.
#pragma once
#include <optional>
#include <span>

#include "compiler/math/predictive.h"

namespace lehr::math {

/// Returns the distribution of a Poisson count whose rate has the distribution `p[0]`: Poisson for a constant, negative
/// binomial for a Gamma, else nothing.
std::optional<Predictive> predictive_poisson(std::span<const ScalarMarginal> p);
/// Returns the distribution of a Binomial count with n = `p[0]` trials, a constant, and a probability distributed as
/// `p[1]`. It is binomial for a constant probability, and beta-binomial for a Beta with n up to a million. Otherwise
/// returns nothing. It also serves one count of a Multinomial.
std::optional<Predictive> predictive_binomial(std::span<const ScalarMarginal> p);
/// Returns the distribution of a Geometric count whose probability has the distribution `p[0]`: geometric for a
/// constant, Waring for a Beta, else nothing.
std::optional<Predictive> predictive_geometric(std::span<const ScalarMarginal> p);
/// Returns the negative binomial distribution with the constants r = `p[0]` and p = `p[1]`; nothing if one of them is
/// random.
std::optional<Predictive> predictive_negative_binomial(std::span<const ScalarMarginal> p);
/// Returns the distribution of a Gamma number with a constant shape `p[0]` and a rate distributed as `p[1]`: Gamma for
/// a constant, a scaled beta prime for a Gamma, else nothing.
std::optional<Predictive> predictive_gamma(std::span<const ScalarMarginal> p);
/// Returns the InverseGamma distribution with the constants shape = `p[0]` and scale = `p[1]`; nothing if one of them
/// is random.
std::optional<Predictive> predictive_inverse_gamma(std::span<const ScalarMarginal> p);
/// Returns the distribution of an Exponential number whose rate has the distribution `p[0]`: exponential for a
/// constant, Lomax for a Gamma, else nothing.
std::optional<Predictive> predictive_exponential(std::span<const ScalarMarginal> p);

}  // namespace lehr::math
