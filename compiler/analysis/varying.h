// Which scalars and arrays differ between iterations of a loop when several of them run together.
// This is the uniformity (divergence) analysis of vectorisers: values computed from the loop's index differ, and so
// does what is written under a condition that differs. The rest is the same for all iterations and is computed once.
#pragma once
#include <optional>
#include <vector>

#include "compiler/loops/facts.h"
#include "compiler/loops/loops.h"
#include "compiler/loops/small_id_set.h"

namespace lehr::loops {

/// The scalars and arrays whose contents may differ between iterations of a loop, the result of varying_in() or
/// formed_from(). The vectoriser gives these one element for each lane; the verifier sees which indices differ.
struct Varying {
  SmallIdSet<ScalarId> scalars;  // scalars that may have different values in different iterations
  SmallIdSet<BufferId> arrays;   // scratch arrays of which every iteration needs a private copy

  /// A cache of the answers of is_varying(). It is dropped when `scalars` or `arrays` have grown since.
  struct Memo {
    std::vector<signed char> found;  // by expression: 1 varies, 0 does not, -1 not determined yet
    std::size_t members = 0;         // the number of scalars and arrays for which `found` is valid
  };
  mutable Memo memo = {};  // the cache of is_varying(); valid only while nothing is removed from the sets

  /// Returns true if the value of the expression may differ between iterations: it or an operand reads one of these
  /// scalars or arrays.
  bool is_varying(const Program& program, ExprId expr) const;
};

/// Returns the scalars that Let and Local statements declare in the block and in all blocks inside it. Index variables
/// of loops are not among them.
SmallIdSet<ScalarId> declared_in(const Block& block);

/// Returns the scalars and scratch arrays that differ between iterations of the loop when a group of them runs in the
/// lanes of vectors: its index, what is computed from it, what is written in a branch or inner loop that not all
/// iterations execute equally often, and scalars declared outside the loop that iterations add to.
Varying varying_in(const Program& program, const For& loop);

/// Returns the scalars and scratch arrays that differ between executions of a block with different values of the
/// scalars `from`, such as the begin and end of a chunk of items. They are `from` itself, what is computed from it,
/// loaded at an index that differs, and the index of a loop with a bound that differs. Only data flow counts: a write
/// under a condition that differs is not enough. The verifier of parallel regions uses it.
Varying formed_from(const Program& program, const Block& block, SmallIdSet<ScalarId> from);

/// Returns the scalar that counts down to 0 while the loop counts up, if there is one: t of a backward pass
/// `for back in 0 .. T: let t = T - 1 - back; ...`. The Let must be the first statement of the body, and the loop must
/// begin at 0 and use its index for nothing else; otherwise returns nullopt. The vectoriser treats t as the loop's
/// index.
std::optional<ScalarId> countdown(const Program& program, const For& loop);

}  // namespace lehr::loops
