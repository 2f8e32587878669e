// Draws of what has no value, given what has one.
#pragma once
#include <functional>
#include <optional>

#include "compiler/evaluate/forward.h"
#include "runtime/result.h"
#include "runtime/rng.h"

namespace lehr {

/// The random numbers that an element is drawn with.
using RngOf = std::function<Rng&(Element)>;

/// Draws every element of a variable, some number of which is NaN, by its distribution given its parents: parents
/// first, chains along their ordered plate, by the rows of the families. Auxiliary variables and potentials play no
/// part. Deterministic in the state of the random numbers. At the first element that cannot be drawn it ends with
/// ExitCode::model for priors that are improper whatever the data, ExitCode::numerical for parameters that are out of
/// their domain, ExitCode::data for a total that neither model nor data have; what follows it stays NaN.
std::optional<Error> draw_values(Forward& forward, const RngOf& rng_of);
std::optional<Error> draw_values(Forward& forward, Rng& rng);

}  // namespace lehr
