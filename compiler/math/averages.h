// FamilyRow::predictive of the rows that are not Gaussian: what becomes of a distribution whose parameter is itself
// Gamma or Beta. Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), 5.13, 6.2.2; Johnson, Kotz &
// Balakrishnan, Continuous Univariate Distributions (1994), 20.1.
#pragma once
#include <optional>
#include <span>

#include "compiler/math/predictive.h"

namespace lehr::math {

std::optional<Predictive> averaged_poisson(std::span<const Margin> p);            // rate: negative binomial
std::optional<Predictive> averaged_binomial(std::span<const Margin> p);           // n, p: beta-binomial
std::optional<Predictive> averaged_geometric(std::span<const Margin> p);          // p: Waring
std::optional<Predictive> averaged_negative_binomial(std::span<const Margin> p);  // r, p: known
std::optional<Predictive> averaged_gamma(std::span<const Margin> p);              // shape, rate: beta prime
std::optional<Predictive> averaged_inverse_gamma(std::span<const Margin> p);      // shape, scale: known
std::optional<Predictive> averaged_exponential(std::span<const Margin> p);        // rate: Lomax

}  // namespace lehr::math
