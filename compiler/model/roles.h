// What variables are to the data and to each other.
#pragma once
#include <string>

#include "compiler/model/model.h"

namespace lehr::model {

/// Whether the model uses the variable elsewhere than as the value of its own statement.
bool has_children(const Model& model, VariableId variable);

/// Why a variable cannot have values for some of its elements alone (Variable::clamped); empty: it can.
std::string not_clamped(const Model& model, VariableId variable);

/// How many elements before its own the statement of a chain reaches back to; that many are drawn by its `start`.
std::int64_t lag_of(const Model& model, const Statement& statement);

/// A point where a bound touches.
bool is_bound(const Variable& variable);

/// The share of a count that each summand of its rate has.
bool is_source(const Variable& variable);

/// Whether entries of the vector are independent of each other given the parameters: an MvNormal whose precision or
/// variance is a number, or whose precision is a diagonal.
bool has_independent_entries(const Model& model, const Variable& variable);

/// The data array that is 1 for the elements (of independent entries: the entries) of the variable on which data depend
/// and 0 for the others, which are integrated out; nothing where there are no others.
std::optional<GivenId> mask_of(const Model& model, const Variable& variable);
/// Its declaration: the name is none of the language.
Given mask(const Model& model, const Variable& variable);
/// The model without such arrays, which are its last ones.
Model without_masks(Model model);

/// The first axis of an observed variable, or one of a clamped variable that the data size: how many elements there are
/// is a matter of each data set.
bool is_item_plate(const Model& model, PlateId set);

}  // namespace lehr::model
