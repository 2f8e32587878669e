// Priors that the state of an object has in place of its code.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// Among the givens of a model: weights of its own priors and of the other ones, and the parameters of the latter with
/// the names that a posterior has for them.
struct Priors {
  model::GivenId own, carried;
  std::vector<std::pair<model::GivenId, std::string>> parameters;

  bool has(model::GivenId g) const;
};

/// They are no data then.
void keep_in_state(const Priors& priors, const loops::Lowered& lowered, Tables& tables);

}  // namespace lehr
