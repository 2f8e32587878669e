// Walks over expressions of a Model and answers questions about statements and joint variables. Passes use these
// instead of visiting the kinds of nodes themselves.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

/// Returns the operands of an expression, in order: its direct subexpressions. Those of a use of a name are the
/// categories in its indices (the z[n] of mu[z[n]]).
std::vector<ExprId> children_of(const Expr& expr);

/// Returns the expressions at `roots` and all their subexpressions at any depth, each once. The order is depth-first,
/// an expression before its operands.
std::vector<ExprId> nodes_under(const Model& model, const std::vector<ExprId>& roots);

/// Returns the uses of random variables in the expressions at `roots` and their subexpressions at any depth,
/// depth-first. The pointers are valid until an expression is added to the model.
std::vector<const VariableRef*> references_under(const Model& model, const std::vector<ExprId>& roots);

/// Returns the distributions of a statement: the main one, that of `start`, and the other parts of a mixture.
std::vector<const Distribution*> distributions_of(const Statement& statement);

/// Returns all top expressions of a statement: parameters of its distributions, the selector of a mixture's part, and
/// limits. Walks over the statement begin with them.
std::vector<ExprId> roots_of(const Statement& statement);

/// Returns true if a use of a variable names an earlier element of a chain, such as `x[t-1]`.
bool is_lagged(const VariableRef& ref);

/// Returns the plates that number the coordinates which a member contributes to one element of its joint variable. A
/// nested plate stands for its parent too, which is left out.
std::vector<PlateId> coordinate_plates(const Model& model, const Member& member);

/// Returns true if the variable is a joint one, which replaces several variables that share a factor
/// (Auxiliary::joint).
inline bool is_joint(const Variable& v) { return v.auxiliary && v.auxiliary->kind == Auxiliary::Kind::joint; }

}  // namespace lehr::model
