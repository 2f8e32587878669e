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

/// What differs between the iterations of a loop.
struct Varying {
  SmallIdSet<ScalarId> scalars;  // scalars that may have different values in different iterations
  SmallIdSet<BufferId> arrays;   // scratch arrays of which every iteration needs a private copy

  /// What is_varying() has found, by expression, for sets of `members` members: 1 yes, 0 no, -1 nothing yet.
  struct Memo {
    std::vector<signed char> found;
    std::size_t members = 0;
  };
  mutable Memo memo = {};  // members are only ever added

  /// Returns true if the expression may differ between iterations: it reads one of these scalars or arrays.
  bool is_varying(const Program& program, ExprId expr) const;
};

/// Returns the scalars that lets and locals declare in the block and in all blocks inside it, without indices of loops.
SmallIdSet<ScalarId> declared_in(const Block& block);

/// Returns what differs between the iterations of the loop: its index, what is computed from it, what is written in a
/// branch or inner loop that not all iterations execute equally often, and scalars declared outside that iterations add
/// to.
Varying varying_in(const Program& program, const For& loop);

/// Returns what differs between executions of a block that begin with other values of the scalars `from`. These differ,
/// and what is computed from them, counted up to them, or loaded at an index that differs: data flow alone. The block
/// need not be a loop's body.
Varying formed_from(const Program& program, const Block& block, SmallIdSet<ScalarId> from);

/// Returns the scalar of a let `end - 1 - index` that begins the loop's body, so that it counts down to 0: the step t
/// of a backward pass `for back in 0 .. T: let t = T - 1 - back; ...`. The loop must begin at 0 and use its index for
/// nothing else; otherwise returns nullopt.
std::optional<ScalarId> countdown(const Program& program, const For& loop);

}  // namespace lehr::loops
