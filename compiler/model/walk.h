// The children of an expression, for passes that visit a whole tree.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

/// Direct subexpressions, in order; for a reference: the categories its indices look up.
std::vector<ExprId> children_of(const Expr& expr);

/// All nodes under the roots, each once, parents before children; lookups in indices included.
std::vector<ExprId> nodes_under(const Model& model, const std::vector<ExprId>& roots);

/// The expressions of a statement: parameters of the main and the start distribution.
std::vector<ExprId> roots_of(const Statement& statement);

}  // namespace lehr::model
