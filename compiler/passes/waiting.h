// Loops in which a turn forms one function after another, and the next may wait for it.
#pragma once
#include <optional>

#include "compiler/loops/loops.h"
#include "compiler/passes/varying.h"

namespace lehr::loops {

/// A loop with others in it forms a function in each of its turns: the next turn may wait for it.
bool waits_for_functions(const Program& program, const For& loop);
bool waits_for_functions(const Program& program, const Stmt& statement);

/// What a loop mentions of an item: rows of arrays (`array[item, e]`), and scratch with an axis; it may read numbers
/// (`array[item]`) too. What it stores to, and what of all that has to be there before: not where each turn stores its
/// own element, and reads that alone after it.
struct ItemRows {
  FewIds<BufferId> rows, scratch, stored, there;
};
/// Of a loop of an item in which neither ranges, nor places beside the item, nor what is done differ between items, and
/// that adds to nothing that items share; if its rows have constant lengths.
std::optional<ItemRows> item_rows(const Program& program, const Varying& varying, ScalarId item, const For& loop);

/// Whether turns may go in groups, each doing the statements of a block before the next: what all share are lets and
/// scalars, and no statement assigns to a scalar of all that another has declared.
bool can_be_grouped(const Program& program, const Varying& varying, const Block& block);

}  // namespace lehr::loops
