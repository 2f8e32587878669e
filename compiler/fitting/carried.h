// The posterior of a fit as the prior of the next, in numbers. For a conjugate model of one factor that is exact:
// batches one after another are all of them at once.
#pragma once
#include "compiler/fitting/carried_model.h"
#include "runtime/files/dataset.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

struct Carried {
  model::Model model;
  Dataset parameters;  // of the factors, for givens that the model has now
};

/// `complete` is what was analysed of `resolved`. `forget`: the power, in (0, 1], of the posterior that is kept. An
/// Error, without a place, says which factor is no prior.
Result<Carried> carry(const model::Model& resolved, const Analysed& complete, const SavedFit& fit, double forget);

/// Arrays of constants that the data do not have are those of the fit.
void add_constants(const model::Model& resolved, const SavedFit& fit, Dataset& data);

}  // namespace lehr
