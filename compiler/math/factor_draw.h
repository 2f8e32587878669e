// Draws from a factor, by its parameters.
#pragma once
#include <functional>
#include <vector>

#include "compiler/math/evaluate.h"

namespace lehr::math {

/// One draw: a number, a vector or a row-major matrix; of joint families the mean, then the precision.
using Draw = std::function<std::vector<double>(Rng& rng)>;

/// The draws of a factor of the row (or the value of a point) with these exported parameters, whose extent is that of
/// the event axis or the number of values: by the row's own draw where all of them are spellings of its density,
/// otherwise by the steps of the factor's. Empty where there are none.
Draw factor_draw(const FamilyRow& row, const Factor& factor, const Environment& parameters);

}  // namespace lehr::math
