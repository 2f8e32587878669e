// Ancestral sampling: draws every missing value from its distribution given its parents. Parents are drawn before
// children. Values that are not missing stay; they change the draws of their children only.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "runtime/result.h"
#include "runtime/rng.h"

namespace lehr {

/// A function that returns the random generator with which draw_values() draws an element, so that each element can
/// have its own random numbers. The generator must outlive the call of draw_values().
using RngOf = std::function<Rng&(Element)>;

/// Returns a draw of one element of a statement, whose family must have FamilyRow::draw, given the parameters of its
/// distribution. A latent variable with limits is drawn from the truncated Normal. The draw of an observed one is
/// clamped to its limits (censored).
std::vector<double> draw_once(const ModelEvaluator& forward, const model::Statement& s, const IndexValues& at,
                              math::Environment parameters, Rng& rng);

/// Draws every element of `forward` that contains a NaN from its distribution given its parents, and stores it there.
/// All entries of such a vector are drawn.
///
/// Parents come first; chains are drawn along their ordered plate. Auxiliary variables and potentials are ignored. A
/// latent variable with limits is drawn from its truncated distribution, together with a hidden variable of its own
/// (limits.h); an observed one is clamped to them (censored). The result is a function of the generators' states.
///
/// It stops with an error if an element cannot be drawn; later elements stay NaN. ExitCode::model: a prior is improper,
/// or has constant parameters outside their domain. ExitCode::numerical: a parameter that is drawn or given is outside
/// its domain. ExitCode::data: neither model nor data give the total of a multinomial.
std::optional<Error> draw_values(ModelEvaluator& forward, const RngOf& rng_of);
/// A function that draw_values() calls for an observed number whose distribution has a parameter that is infinite or 0,
/// since exp(...) leaves the range of doubles; it makes a note for the user. `drawn_from` says what the number is drawn
/// from: "y[2] ~ Poisson(rate = inf)".
using OnOverflow = std::function<void(Element, const std::string& drawn_from)>;
/// Draws every element of `forward` that contains a NaN from its distribution given its parents, with the generators of
/// `rng_of`, and stores it there. An observed number whose distribution has a parameter that is infinite or 0, since
/// exp(...) leaves the range of doubles, is no error if the distribution has a mean there, maybe an infinite one: it
/// gets this mean, and `overflowed` is called. Other errors are those of draw_values() without this callback.
std::optional<Error> draw_values(ModelEvaluator& forward, const RngOf& rng_of, const OnOverflow& overflowed);
/// Returns the text that `count` elements are such numbers, the first of them as OnOverflow has it.
std::string out_of_range(const std::string& drawn_from, std::size_t count);
/// Draws every element of `forward` that contains a NaN with one random generator, and stores it there. Order and
/// errors are those of draw_values() with a generator for each element.
std::optional<Error> draw_values(ModelEvaluator& forward, Rng& rng);

}  // namespace lehr
