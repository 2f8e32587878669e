// A temperature for every item.
#pragma once
#include <string>
#include <variant>

#include "compiler/conditionals/conditionals.h"

namespace lehr::schedule {

/// A model whose tempered terms are multiplied by 1 / T of their item, an array like the data.
struct TemperedItems {
  model::Model model;  // with `inverse` as its last given
  conditionals::Conditionals conditionals;
  model::GivenId inverse;  // 1 / T, over [item]
  model::PlateId item;
};

/// `tempered` is Schedule::tempered of the same model. The text says why its items have no temperature of their own.
std::variant<TemperedItems, std::string> temper_items(const model::Model& model,
                                                      const conditionals::Conditionals& conditionals,
                                                      const std::vector<bool>& tempered);

}  // namespace lehr::schedule
