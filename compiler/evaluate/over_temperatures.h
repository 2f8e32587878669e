// Evaluates smooth functions of the temperature at many temperatures from few evaluations, by Chebyshev interpolation.
#pragma once
#include <functional>
#include <vector>

namespace lehr {

/// The values of several functions at several temperatures: [function][temperature].
using FunctionsOfTemperature = std::vector<std::vector<double>>;

/// Returns the values of smooth functions at ascending `temperatures` from evaluations at fewer of them, because each
/// is costly (a tempered normaliser). `evaluate` computes all functions at any temperatures.
///
/// The functions are interpolated in log T at Chebyshev points. The number of points doubles until the last three
/// coefficients of every function are below 1e-13 of its largest. Normalisers of single items are analytic in 1/T off
/// the negative reals, so 17 points suffice for 100 temperatures up to 10. That of a lattice of spins changes fast near
/// a critical temperature: 16 x 16 spins take 65 points. If fewer points than temperatures do not suffice, `evaluate`
/// is called with all temperatures.
FunctionsOfTemperature interpolate_over_temperatures(
    const std::vector<double>& temperatures,
    const std::function<FunctionsOfTemperature(const std::vector<double>&)>& evaluate);

}  // namespace lehr
