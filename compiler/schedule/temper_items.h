// Gives every item a temperature of its own, as data of the model.
#pragma once
#include <string>
#include <variant>

#include "compiler/conditionals/conditionals.h"

namespace lehr::schedule {

/// A model whose tempered terms are multiplied by 1 / T of their item.
struct TemperedItems {
  /// The model, with `inverse` as its last given.
  model::Model model;
  /// The conditionals, with the factor 1 / T in the terms.
  conditionals::Conditionals conditionals;
  /// The data array of 1 / T, over the items.
  model::GivenId inverse;
  /// The plate of the items.
  model::PlateId item;
};

/// Multiplies each term of a tempered origin by 1 / T of its item. `tempered` is Schedule::tempered of the same model.
/// If some tempered term does not belong to exactly one item, it returns a text that says why.
std::variant<TemperedItems, std::string> temper_items(const model::Model& model,
                                                      const conditionals::Conditionals& conditionals,
                                                      const std::vector<bool>& tempered);

}  // namespace lehr::schedule
