// Latency hiding: loops in which each step evaluates a function (exp, log) whose result the next step needs.
// A processor idles while it waits for the function. If items run together, others work in the meantime. Example:
//   for r: s = 0; for k: s += w[r, k] * m[k]      m[r] = exp(s)        m[r] is an input of the next r
// The pass `block-registers` runs such loops for sixteen items in lanes.
#pragma once
#include <optional>

#include "compiler/analysis/varying.h"
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns true if steps of the loop may wait for results of functions (exp, log): its body has an inner loop and a
/// statement that calls a function, or contains a loop of this kind.
bool waits_for_functions(const Program& program, const For& loop);
/// Returns true if the statement is a loop whose steps may wait for results of functions (exp, log); false for other
/// statements.
bool waits_for_functions(const Program& program, const Stmt& statement);

/// The arrays that a loop of an item accesses, if it can run in lanes of several items.
struct ItemRows {
  SmallIdSet<BufferId> rows,  // shared arrays accessed as array[item, e]
      scratch,                // private scratch accessed as array[e]
      stored,                 // those of both that the loop stores to
      live_in;                // those of both whose old contents may be read, so that they must be copied in first
};

/// Returns the arrays that `loop` of item `item` accesses, if the loop can run in lanes of items; nullopt otherwise.
/// The loop must contain no branches, failures or fills. Lengths of loops, and indices beside the item's, must be the
/// same for all items. It stores to nothing that items share. Rows have constant lengths of at most 128 elements.
std::optional<ItemRows> item_rows(const Program& program, const Varying& varying, ScalarId item, const For& loop);

/// Returns true if the block can be executed statement by statement for one small group of iterations after another, as
/// VectorForm::unroll says. Each statement must store only to private scratch or to arrays other than scratch, and
/// assign only private scalars or scalars that it declares itself.
bool can_be_grouped(const Program& program, const Varying& varying, const Block& block);

}  // namespace lehr::loops
