// Statements that fill whole arrays.
#pragma once
#include <set>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// The arrays that statements of the block, and of those in it, fill with something that is not the constant 0.
std::set<BufferId> filled_with_numbers(const Program& program, const Block& block);

}  // namespace lehr::loops
