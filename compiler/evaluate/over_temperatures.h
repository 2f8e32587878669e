// Smooth functions of the temperature at many temperatures, from few evaluations.
#pragma once
#include <functional>
#include <vector>

namespace lehr {

/// By function, by temperature.
using OverTemperatures = std::vector<std::vector<double>>;

/// The functions that `evaluate` finds at any temperatures, at these ascending ones: interpolated in log T at Chebyshev
/// points, twice as many until their last coefficients are 1e-13 of the largest. Normalisers are analytic in 1/T off
/// the negative reals, so that 17 points serve 100 levels up to T = 10. Where that many would be needed, `evaluate`
/// gets all.
OverTemperatures over_temperatures(const std::vector<double>& temperatures,
                                   const std::function<OverTemperatures(const std::vector<double>&)>& evaluate);

}  // namespace lehr
