// Which variables the densities of a model depend on, from its graph alone.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// Returns, by VariableId, the ancestors of a statement: true for every variable that its density depends on, directly
/// or through latent variables. Scores and most probable paths find by it which observations depend on a chain or
/// category. Observed variables are included, but their ancestors are not. The statement's own variable is included
/// only if it is a chain, which depends on its previous elements.
std::vector<bool> ancestors(const model::Model& model, const model::Statement& statement);

/// Returns, by VariableId, true for the latent variables of which every element serves one observation alone, such as
/// z[n] of x[n]. A discrete one can be summed out for each observation separately. The condition: exactly one observed
/// variable depends on it, directly or through latent variables, and all axes of that one are among its own.
std::vector<bool> single_observation_variables(const model::Model& model);

}  // namespace lehr
