// Tests for arrays that can be private to an iteration of a loop, because it fills them before it reads them.
// The tests are sufficient conditions on the syntax: an array may be private although they return false.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns true if the statement overwrites the whole array before it reads it: a Fill of any array, or, for an array
/// of one axis, a loop over all of the axis in which iteration i first stores element i. False is no proof of the
/// contrary.
bool fills(const Program& program, const Stmt& statement, BufferId array);

/// Returns true if the loop overwrites a whole row of the array before it reads it, as `for k: a[n, k] = f(k)`. It must
/// run over all of the last axis, of constant extent, without a `break`. In each iteration, the first access stores the
/// element at the loop's index, and all others are to that index, too. The indices of the other axes may be anything.
bool fills_rows(const Program& program, const For& loop, BufferId array);

/// Returns true if the block surely overwrites the whole array, in the sense of fills(), before any other access to it,
/// so that the array carries nothing from one execution of the block to the next and can be private to an iteration.
/// The statement that fills must stand in the same block as the access or in one around it. A block that never mentions
/// the array gives true.
bool is_filled_first(const Program& program, const Block& block, BufferId array);

/// Returns true for a loop or branch inside which the array is always filled before it is read: each of its blocks
/// overwrites the whole array before any other access (or never mentions it), and its bounds or condition do not read
/// it. Other statements give false.
bool is_filled_first_inside(const Program& program, const Stmt& statement, BufferId array);

}  // namespace lehr::loops
