// Finds whether blocks depend on each other directly: they occur in one term of the log joint (Markov blanket).
#pragma once
#include <vector>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// Returns true if some term has an atom of `block` and an atom of another block among `others`.
bool share_a_term(const Conditionals& c, BlockId block, const std::vector<BlockId>& others);

}  // namespace lehr::conditionals
