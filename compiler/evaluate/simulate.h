// Draws from the generative model.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// One draw of every variable, parents first, chains along their ordered plate, by the rows of the families.
/// `model` is that of resolve(), without auxiliary variables. Givens and sizes come from `dataset` and `settings`:
/// a latent variable that the data have under its name keeps that value (missing elements of it are drawn); an
/// observed one lends its sizes, and totals that the model leaves out, and is drawn anew.
///
/// Returned are all variables, givens, lengths of nested plates, multiplicities (1) and constants that the model leaves
/// open: what bind() takes. Nested plates are packed with their parents into one axis. Deterministic in `seed`.
///
/// ExitCode::model for potentials and for priors that are improper whatever the data, ExitCode::numerical for
/// parameters that came out of their domain, otherwise what bind_givens() says.
Result<std::vector<NamedArray>> simulate(const model::Model& model, const Dataset& dataset, const Settings& settings,
                                         std::uint64_t seed);

}  // namespace lehr
