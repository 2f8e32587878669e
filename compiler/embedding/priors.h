// Built objects whose posterior can become the prior (NAME_update): parameters of the prior are inputs of the program
// that live in the state, not in the caller's data.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// The inputs of the model that hold its updatable prior: a built object can write its posterior into them, as the
/// prior for further data.
struct Priors {
  /// Inputs with the weight, 1 or 0, of the prior that is written in the model, and of the earlier posterior.
  model::GivenId model_prior_weight, posterior_weight;
  /// Inputs with parameters of the earlier posterior, and their names in a posterior ("mu.mean").
  std::vector<std::pair<model::GivenId, std::string>> parameters;

  /// Returns true if the input is part of the prior.
  bool has(model::GivenId g) const;
};

/// Changes the tables so that these inputs belong to the state and no longer to the data.
void move_priors_to_state(const Priors& priors, const loops::Lowered& lowered, Tables& tables);

}  // namespace lehr
