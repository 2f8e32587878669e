// Finds whether blocks depend on each other directly: they occur in one term of the log joint (Markov blanket).
#pragma once
#include <vector>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// Returns true if the block of latent variables depends directly on one of `others`: some term of the log joint has a
/// statistic of both, so that an update of one changes the conditional of the other. The block itself, if it is among
/// `others`, does not count.
bool share_a_term(const Conditionals& c, BlockId block, const std::vector<BlockId>& others);

}  // namespace lehr::conditionals
