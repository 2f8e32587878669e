// Blocks that stand in one term of the log joint.
#pragma once
#include <vector>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// Whether a term has atoms of `block` and of one of the others.
bool share_a_term(const Conditionals& c, BlockId block, const std::vector<BlockId>& others);

}  // namespace lehr::conditionals
