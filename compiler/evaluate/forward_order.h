// The order in which values of a model can be drawn.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// Statements that are drawn together: one, or several whose chains depend on each other's previous elements; those
/// are drawn position by position of the ordered plate. Within a position the order is that of the list.
struct ForwardGroup {
  std::vector<model::StatementId> statements;
  std::vector<model::BoundId> ordered;  // chains: the bound of the ordered plate, one a statement; otherwise empty
};

/// Every statement once, those of the variables that it uses before it.
std::vector<ForwardGroup> forward_order(const model::Model& model);

}  // namespace lehr
