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

/// The first axis of an observed variable, or one of a clamped variable that the data size: how many elements there are
/// is a matter of each data set.
bool is_item_plate(const Model& model, PlateId set);

}  // namespace lehr::model
