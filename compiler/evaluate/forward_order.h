// The order in which the variables of a model can be drawn: a topological order of its statements. Chains that depend
// on each other form one group of it.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// Statements that are drawn together: a single one, or several chains that depend on each other's previous elements.
///
/// Example: `a[t] ~ f(b[t-1])` and `b[t] ~ g(a[t])` are one group. All its elements at position t of the ordered plate
/// are drawn, in the order of `statements`, before those at t + 1.
struct DrawGroup {
  std::vector<model::StatementId> statements;  // the statements, in the order of drawing at one position
  /// Of chains: the index variable of each statement that runs over the ordered plate. Empty for a single statement
  /// without a lag.
  std::vector<model::IndexVarId> ordered;
};

/// Returns the order in which the model's statements are drawn, as groups; every statement is in one group. Each comes
/// after the statements of the variables that it uses, except for those that it uses with a lag in its own group.
std::vector<DrawGroup> draw_order(const model::Model& model);

}  // namespace lehr
