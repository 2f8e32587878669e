// Joint variables: how their members are laid out, and how a statistic of a member becomes one of theirs.
#pragma once
#include <functional>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// The members, the axes that every one has (in the order of the first), and those that it has alone.
std::vector<model::Member> laid_out(const model::Model& m, const std::vector<model::VariableId>& members);

/// Adds the joint variable, on the shared axes of `members`; its event is the caller's to set.
model::VariableId add_joint(model::Model& m, math::Support support, std::vector<model::Member> members);

/// Adds a plate of `size` elements.
model::PlateId add_plate(model::Model& m, const std::string& name, Span span, model::ExprId size);

/// Adds an expression.
template <class Node>
model::ExprId add_expr(model::Model& m, Node node, Span span) {
  m.exprs.push_back({std::move(node), {}, std::nullopt, span});
  return model::ExprId(m.exprs.size() - 1);
}

/// "a, b", or "'a', 'b'".
std::string named(const model::Model& m, const std::vector<model::VariableId>& members, std::string_view quote = "");

/// An atom of a member in the terms of the joint variable; it may add bounds to the term. Nothing where the statistic
/// has no counterpart.
using Counterpart = std::function<std::optional<density::Atom>(density::Term& t, const density::Atom& x)>;

bool is_normal(const model::Model& m, model::VariableId v);
bool are_normal(const model::Model& m, const std::vector<model::VariableId>& members);
model::VariableId add_one_normal(model::Model& m, std::vector<model::VariableId> members);
Counterpart in_vector(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Adds the plate of the coordinates of the Normal members, which come before others.
model::PlateId add_coordinates(model::Model& m, model::VariableId joint);
/// Why they cannot number the coordinates of one vector, in words.
std::optional<std::string> why_not_coordinates(const model::Model& m, const std::vector<model::VariableId>& members);

/// Normal variables and one positive one, in any order; a number and a precision on the same plates have a factor of
/// their own.
bool are_scaled(const model::Model& m, const std::vector<model::VariableId>& members);
std::optional<std::string> why_not_scaled(const model::Model& m, const std::vector<model::VariableId>& members);
model::VariableId add_scaled(model::Model& m, std::vector<model::VariableId> members);
Counterpart in_scaled(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// A category or bit, and a number, in either order.
bool are_switched(const model::Model& m, const std::vector<model::VariableId>& members);
std::optional<std::string> why_not_switched(const model::Model& m, const std::vector<model::VariableId>& members);
model::VariableId add_switched(model::Model& m, std::vector<model::VariableId> members);
Counterpart in_components(density::Algebra& a, const model::Model& m, model::VariableId joint);

/// Puts a joint prior in the place of the terms of the members' statements, once the joint variable is there and before
/// its members' terms are rewritten.
void put_joint_prior(model::Model& m, density::Density& d, model::VariableId joint, const model::JointPrior& prior);

}  // namespace lehr::conditionals
