// The largest ELBO that a model can have. Probabilities of discrete data are at most 1, and so is the evidence, which
// the ELBO bounds from below. A higher ELBO has lost its digits: where terms are huge, little but rounding is left of
// sums.
#pragma once
#include "compiler/density/density.h"
#include "compiler/model/model.h"

namespace lehr {

/// Returns the largest ELBO that rounding leaves possible: a nat above 0 if all data are discrete, all priors proper
/// and all latent numbers have distributions; else infinity, since densities have no limit.
double largest_elbo(const model::Model& m, const density::Density& density);

}  // namespace lehr
