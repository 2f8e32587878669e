// What the densities of a model depend on.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// By VariableId: the variables that a statement's density depends on, directly or not, up to observed ones.
std::vector<bool> ancestors(const model::Model& model, const model::Statement& statement);

/// By VariableId: latent variables on which one observed variable alone depends, each of its elements on another one.
std::vector<bool> own_variables(const model::Model& model);

}  // namespace lehr
