// Tests for arrays that can be private to an iteration of a loop, because it fills them before it reads them.
// The tests are sufficient conditions on the syntax: an array may be private although they return false.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns true if the statement overwrites the whole array: a Fill, or a loop for which fills_rows() is true over an
/// array of one axis.
bool fills(const Program& program, const Stmt& statement, BufferId array);

/// Returns true if the loop overwrites the whole last axis of the array: it runs over that axis, and the first access
/// of each iteration stores the element of the loop's index. The indices of other axes may be anything. What follows
/// that store in the body is not examined.
bool fills_rows(const Program& program, const For& loop, BufferId array);

/// Returns true if the block fills the array before it reads it or stores to single elements of it. The filling
/// statement is in the block of the access, or in a block around it within this one. A block that never mentions the
/// array gives true. Conditions of branches and bounds of loops are not examined.
bool is_filled_first(const Program& program, const Block& block, BufferId array);

}  // namespace lehr::loops
