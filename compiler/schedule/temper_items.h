// Gives every item a temperature of its own, as data of the model.
#pragma once
#include <string>
#include <variant>

#include "compiler/conditionals/conditionals.h"

namespace lehr::schedule {

/// A model in which each item has a temperature T of its own, given as data: its tempered terms are multiplied by 1 / T
/// of their item.
struct TemperedItems {
  /// The model with a data array more, `inverse`, as its last given.
  model::Model model;
  /// The conditionals, with the factor 1 / T in the terms.
  conditionals::Conditionals conditionals;
  /// The data array that has 1 / T (the inverse temperature) of each item.
  model::GivenId inverse;
  /// The plate of the items that have temperatures.
  model::PlateId item;
};

/// Gives each item a temperature T of its own, for tempering by item: multiplies each term of a tempered origin by 1 /
/// T of its item. `tempered` is Schedule::tempered of the same model. If no origin is tempered, or some tempered term
/// does not belong to exactly one item of one plate, it returns a text that says why.
std::variant<TemperedItems, std::string> temper_items(const model::Model& model,
                                                      const conditionals::Conditionals& conditionals,
                                                      const std::vector<bool>& tempered);

}  // namespace lehr::schedule
