// Questions that passes ask of a model: the children of an expression, the coordinates of a member.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

/// Direct subexpressions, in order; for a reference: the categories its indices look up.
std::vector<ExprId> children_of(const Expr& expr);

/// All nodes under the roots, each once, parents before children; lookups in indices included.
std::vector<ExprId> nodes_under(const Model& model, const std::vector<ExprId>& roots);

/// Its distributions: the main one, that of the start, the other parts of a mixture.
std::vector<const Distribution*> distributions_of(const Statement& statement);

/// The expressions of a statement: parameters of its distributions, which part of a mixture it is, and limits.
std::vector<ExprId> roots_of(const Statement& statement);

/// Whether it names the previous element of an ordered plate.
bool is_lagged(const VariableRef& ref);

/// The plates whose elements number the coordinates that one element of the joint variable has of the member; a nested
/// plate stands for its parent too.
std::vector<PlateId> coordinate_plates(const Model& model, const Member& member);

/// Whether it stands in the place of its members (Auxiliary::joint).
inline bool is_joint(const Variable& v) { return v.auxiliary && v.auxiliary->kind == Auxiliary::Kind::joint; }

}  // namespace lehr::model
