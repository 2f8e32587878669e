// Built objects whose posterior can become the prior (NAME_update): parameters of the prior are inputs of the program
// that live in the state, not in the caller's data.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// The inputs of a built model that hold its updatable prior: NAME_update of a built object writes the posterior into
/// them, as the prior for further data.
struct Priors {
  /// Two inputs, weights that are 1 or 0: whether the prior written in the model counts, and whether the earlier
  /// posterior does.
  model::GivenId model_prior_weight, posterior_weight;
  /// The inputs that hold the parameters of the earlier posterior, each with the name of its parameter in a posterior
  /// ("mu.mean").
  std::vector<std::pair<model::GivenId, std::string>> parameters;

  /// Returns true if the input `g` holds part of the updatable prior (a weight or a parameter), so that programs do not
  /// pass it as data.
  bool has(model::GivenId g) const;
};

/// Changes the tables of a built object so that the inputs of its updatable prior belong to the state, where
/// NAME_update writes them, and no longer to the data that the program passes.
void move_priors_to_state(const Priors& priors, const loops::Lowered& lowered, Tables& tables);

}  // namespace lehr
