// What differs between the turns of a loop, when several of them run side by side.
#pragma once
#include <optional>

#include "compiler/loops/facts.h"
#include "compiler/loops/few_ids.h"
#include "compiler/loops/loops.h"

namespace lehr::loops {

struct Varying {
  FewIds<ScalarId> scalars;
  FewIds<BufferId> arrays;  // scratch that every turn needs for itself

  bool holds(const Program& program, ExprId expr) const;
};

/// Scalars that statements of a block, and of those in it, declare, but for indices of loops.
FewIds<ScalarId> declared_in(const Block& block);

/// Of the loop's body, beside the index itself: what is computed from it, or where not all turns come to, and scalars
/// outside that turns add to.
Varying varying_in(const Program& program, const For& loop);

/// The let at the beginning of a loop's body that counts down to 0, `end - 1 - index`, if the index has no other use.
std::optional<ScalarId> countdown(const Program& program, const For& loop);

}  // namespace lehr::loops
