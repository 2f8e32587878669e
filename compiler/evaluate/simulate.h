// Draws a complete data set from the generative model.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/evaluate/draw_values.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// Draws every variable of the model once, parents first.
///
/// `model` is that of resolve(), without auxiliary variables. Inputs and sizes come from `dataset` and `settings`. A
/// latent variable with data under its name keeps them, and its missing elements are drawn. An observed variable with
/// data lends only its sizes, and the totals that the model leaves out; it is drawn anew.
///
/// Returns what bind() accepts: all variables, inputs, lengths of nested plates, multiplicities (1), and constants that
/// the model leaves open. Nested plates are packed with their parents into one axis. The result is a function of
/// `seed`. `warnings` gets one if a fit sees another model: limits of a number have a random probability (limits.h).
/// Another one is of observed numbers whose distribution has infinite parameters: each is the mean of the limit, maybe
/// infinite (draw_values()). Without `warnings`, such a number is an error.
///
/// Errors: ExitCode::model for potentials; ExitCode::data for multiplicities other than 1, for vectors of which only
/// some entries are given, and for sizes that exceed the memory; otherwise those of draw_values() and bind_givens().
Result<std::vector<NamedArray>> simulate(const model::Model& model, const Dataset& dataset, const Settings& settings,
                                         std::uint64_t seed, std::vector<Diagnostic>* warnings = nullptr);

}  // namespace lehr
