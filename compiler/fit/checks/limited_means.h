// Detects means that values within limits hold back. A value within limits (a latent number with `above` or `below`,
// the value behind a probit link) has a factor of its own, about the mean of its distribution and as wide as that.
// Where the mean itself is uncertain by more, the two factors move each other little, and both stay near the prior:
// means are wrong there, and not only standard deviations.
//
//   u[n] ~ Normal(mean = 0, sd = 1); d[n] ~ Normal(mean = u[n], sd = 0.1) above 0;
//
// E[u] is 0.79, and that of independent factors 0.24.
#pragma once
#include <string>

#include "compiler/pipeline.h"

namespace lehr {

/// Returns the text of a warning if the factors hold back means, empty if not: for a tenth or more of the values within
/// limits of one variable, the variance that the mean of the value has under the factors is more than 0.8 times the
/// variance of the value about its mean. With one value about one number that is the share of the number's precision
/// that comes from the value, and from 0.8 on means are off by a quarter and more. At most 200 values of each variable
/// are tested. `posterior` are the factors of a converged fit, measured from the references of the data
/// (LocationOrigin::reference).
std::string held_by_limits(const Analysed& analysed, const BoundData& data, const std::vector<NamedArray>& posterior);

}  // namespace lehr
