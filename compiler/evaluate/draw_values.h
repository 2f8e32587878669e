// Ancestral sampling: draws every missing value from its distribution given its parents. Parents are drawn before
// children. Values that are not missing stay; they change the draws of their children only.
#pragma once
#include <functional>
#include <optional>

#include "compiler/evaluate/forward.h"
#include "runtime/result.h"
#include "runtime/rng.h"

namespace lehr {

/// A function that returns the random generator with which draw_values() draws an element, so that each element can
/// have its own random numbers. The generator must outlive the call of draw_values().
using RngOf = std::function<Rng&(Element)>;

/// Draws every element of `forward` that contains a NaN from its distribution given its parents, and stores it there.
/// All entries of such a vector are drawn.
///
/// Parents come first; chains are drawn along their ordered plate. Auxiliary variables and potentials are ignored. A
/// latent variable with limits is drawn from the truncated Normal, an observed one is clamped to them (censored). The
/// result is a function of the generators' states.
///
/// It stops with an error if an element cannot be drawn; later elements stay NaN. ExitCode::model: a prior is improper,
/// or has constant parameters outside their domain. ExitCode::numerical: a parameter that is drawn or given is outside
/// its domain. ExitCode::data: neither model nor data give the total of a multinomial.
std::optional<Error> draw_values(ModelEvaluator& forward, const RngOf& rng_of);
/// Draws every element of `forward` that contains a NaN with one random generator, and stores it there. Order and
/// errors are those of draw_values() with a generator for each element.
std::optional<Error> draw_values(ModelEvaluator& forward, Rng& rng);

}  // namespace lehr
