// Walks over expressions of a Model and answers questions about statements and joint variables. Passes use these
// instead of visiting the kinds of nodes themselves.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

/// Returns the direct subexpressions of an expression, in order. Those of a reference are the categories in its
/// indices.
std::vector<ExprId> children_of(const Expr& expr);

/// Returns all expressions below the roots, roots included, each once. The order is depth-first, an expression before
/// its operands.
std::vector<ExprId> nodes_under(const Model& model, const std::vector<ExprId>& roots);

/// Returns the references to variables among nodes_under(), in that order. They are valid until an expression is added
/// to the model.
std::vector<const VariableRef*> references_under(const Model& model, const std::vector<ExprId>& roots);

/// Returns the distributions of a statement: the main one, that of `start`, and the other parts of a mixture.
std::vector<const Distribution*> distributions_of(const Statement& statement);

/// Returns the top expressions of a statement: parameters of its distributions, the selector of a mixture's part, and
/// limits.
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
