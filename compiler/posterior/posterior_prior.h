// Bayesian updating, the numbers: the posterior of a fit becomes the prior of the next. For a conjugate model with one
// factor this is exact: batches one after another give the posterior of all data at once. posterior_prior_model.h
// changes the model.
#pragma once
#include "compiler/posterior/posterior_prior_model.h"
#include "runtime/files/dataset.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// A model whose priors are the factors of an earlier fit, ready to be fitted to further data (`lehr update`).
struct PosteriorAsPrior {
  model::Model model;  // the model with the factors' families as priors, and their parameters as givens
  Dataset parameters;  // the values of these givens, to be bound with the data
};

/// Makes the model whose prior is the posterior of `fit`. `complete` is the analysis of `resolved`. `forget`, in (0,
/// 1], is the power to which the posterior is raised: below 1, older data count less. Fails, without a location in the
/// error, for a factor that cannot be a prior, that the fit does not have, or whose power is improper.
Result<PosteriorAsPrior> make_posterior_prior(const model::Model& resolved, const Analysed& complete,
                                              const SavedFit& fit, double forget);

/// Adds to `data` the array constants of the model (`const a0[topic];`) that it lacks, with the values that the fit
/// stores, so that predictions, scores and updates need only the new data. Constants that the fit does not store are
/// left out.
void add_constants(const model::Model& resolved, const SavedFit& fit, Dataset& data);

}  // namespace lehr
