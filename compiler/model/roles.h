// Answers questions about the part that a variable plays. Do others depend on it, may the data give some of its values,
// is it auxiliary, does its plate number items?
#pragma once
#include <string>

#include "compiler/model/model.h"

namespace lehr::model {

/// Returns true if a distribution, a limit, a mixture's selector or a potential of the model mentions the variable, so
/// that its missing values cannot just be left out. A chain, whose own distribution mentions x[t-1], counts.
bool has_children(const Model& model, VariableId variable);

/// Returns an error message that says why the data may not give some values of a latent variable (Variable::clamped);
/// an empty string if they may. They may for reals, vectors, categories, bits and spins, unless the variable shares a
/// factor with one that is not Normal.
std::string why_not_clamped(const Model& model, VariableId variable);

/// Returns how many elements back the statement of a chain refers to: 2 if it mentions `t-2`, and at least 1. That many
/// first elements are drawn by its `start`.
std::int64_t lag_of(const Model& model, const Statement& statement);

/// Returns true if the variable is an auxiliary point at which a local bound, or a tangent plane of an expectation,
/// touches its function (Auxiliary::Kind::bound).
bool is_tangent_point(const Variable& variable);

/// Returns true if the variable is an auxiliary category that says from which summand of a rate each count came
/// (Auxiliary::Kind::source).
bool is_source(const Variable& variable);

/// Returns true if the entries of a vector are independent given its parameters. That holds for an MvNormal whose
/// precision or covariance is a number, or whose precision is `diag(...)`. The result is false for chains, mixtures and
/// other variables.
bool has_independent_entries(const Model& model, const Variable& variable);

/// Returns the mask of a variable: a data array that is 1 for its elements on which observed data depend, else 0.
/// Elements with 0 are integrated out. If the entries of a vector are independent, the mask has one number per entry.
/// Returns nothing if there is no mask.
std::optional<GivenId> mask_of(const Model& model, const Variable& variable);
/// Makes the mask of a variable as a new given, for the model to which it is added; its values come later. Its name is
/// that of the variable with a suffix that cannot occur in a model file.
Given mask(const Model& model, const Variable& variable);
/// Returns a copy of the model without its masks (mask_of), which are the last givens.
Model without_masks(Model model);

/// Returns the first plate of the variable whose elements stand for several copies (`times`), or null if there is none.
const Plate* times_plate(const Model& model, const Variable& variable);

/// Returns true if the plate numbers items, so that its size is that of the data set: it is the first axis of an
/// observed variable, or of a clamped or limited one if the model does not fix the plate's size. `set` is no alias.
bool is_item_plate(const Model& model, PlateId set);

}  // namespace lehr::model
