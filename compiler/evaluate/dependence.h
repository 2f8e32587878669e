// Which variables the densities of a model depend on, from its graph alone.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// Returns, by VariableId, the ancestors of a statement: true for every variable that its density depends on, directly
/// or through latent variables. Observed variables are included, but their ancestors are not.
std::vector<bool> ancestors(const model::Model& model, const model::Statement& statement);

/// Returns, by VariableId, true for the latent variables that belong to single observations. Only one observed variable
/// depends on such a variable, and has all its axes among the variable's; so every element serves one observation
/// alone.
std::vector<bool> single_observation_variables(const model::Model& model);

}  // namespace lehr
