// Ancestral sampling: draws every value that is missing, given the values that are there. Parents are drawn
// before children.
#pragma once
#include <functional>
#include <optional>

#include "compiler/evaluate/forward.h"
#include "runtime/result.h"
#include "runtime/rng.h"

namespace lehr {

/// Returns the random generator with which an element is drawn; it must outlive the call.
using RngOf = std::function<Rng&(Element)>;

/// Draws every element of `forward` that contains a NaN from its distribution given its parents, and stores it there.
///
/// Parents come first; chains are drawn along their ordered plate. Auxiliary variables and potentials are ignored. The
/// result is a function of the generators' states. It stops with an error if an element cannot be drawn; later
/// elements stay NaN. ExitCode::model: a prior is improper whatever the data. ExitCode::numerical: a parameter is
/// outside its domain. ExitCode::data: neither model nor data give the total of a multinomial.
std::optional<Error> draw_values(ModelEvaluator& forward, const RngOf& rng_of);
/// Draws all missing elements of `forward` from the model with one random generator; otherwise as the function above.
std::optional<Error> draw_values(ModelEvaluator& forward, Rng& rng);

}  // namespace lehr
