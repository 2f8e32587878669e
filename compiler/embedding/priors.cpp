// Moves the inputs of an updatable prior from the tables of data to those of the state.
#include "compiler/embedding/priors.h"

#include <algorithm>

namespace lehr {

bool Priors::has(model::GivenId g) const {
  return g == model_prior_weight || g == posterior_weight ||
         std::ranges::find(parameters, g, &std::pair<model::GivenId, std::string>::first) != parameters.end();
}

void move_priors_to_state(const Priors& priors, const loops::Lowered& lowered, Tables& tables) {
  const auto buffer = [&](model::GivenId g) {
    return static_cast<std::int64_t>(lowered.data.givens[g.index()].index());
  };
  tables.model.own_prior = buffer(priors.model_prior_weight);
  tables.model.carried_prior = buffer(priors.posterior_weight);
  const std::vector<loops::ParameterSlot>& slots = lowered.interface.parameters;
  for (const auto& [given, name] : priors.parameters) {
    const auto slot = std::ranges::find(slots, name, &loops::ParameterSlot::name);
    tables.priors.push_back({buffer(given), slot - slots.begin()});
  }
  for (std::size_t g = 0; g < lowered.data.givens.size(); ++g) {
    if (!priors.has(model::GivenId(g))) continue;
    const std::int64_t b = buffer(model::GivenId(g));
    const auto array = std::ranges::find(tables.arrays, b, &machine::ArrayRow::buffer);
    tables.array_names.erase(tables.array_names.begin() + (array - tables.arrays.begin()));
    tables.arrays.erase(array);
    tables.buffers[static_cast<std::size_t>(b)].role = machine::Role::prior;
  }
}

}  // namespace lehr
