// Evaluates smooth functions of the temperature at many temperatures from few evaluations, by Chebyshev interpolation.
#pragma once
#include <functional>
#include <vector>

namespace lehr {

/// The values of several functions at several temperatures: [function][temperature].
using FunctionsOfTemperature = std::vector<std::vector<double>>;

/// Returns the values of smooth functions at ascending `temperatures`. `evaluate` computes all functions at any
/// temperatures.
///
/// The functions are interpolated in log T at Chebyshev points. The number of points doubles until the last
/// coefficients are below 1e-13 of the largest. Normalisers of single items are analytic in 1/T off the negative reals,
/// so 17 points serve 100 levels up to T = 10. Those of spins change fast near a critical temperature: 16 x 16 take 65.
/// If fewer points than temperatures do not serve, `evaluate` is called with all temperatures.
FunctionsOfTemperature interpolate_over_temperatures(
    const std::vector<double>& temperatures,
    const std::function<FunctionsOfTemperature(const std::vector<double>&)>& evaluate);

}  // namespace lehr
