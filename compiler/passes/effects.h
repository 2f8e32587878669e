// What statements read and write.
#pragma once
#include <algorithm>

#include "compiler/loops/few_ids.h"
#include "compiler/loops/loops.h"

namespace lehr::loops {

struct Effects {
  FewIds<BufferId> loads, stores;
  FewIds<ScalarId> reads, declares, assigns;

  void add(const Effects& more);
};

Effects effects_of(const Program& program, const Stmt& statement);

/// Whether a statement has to do with an array.
bool mentions(const Program& program, const Stmt& statement, BufferId array);

/// How many statements, conditions and bounds of loops, from one of a block on, have to do with an array.
int mentions(const Program& program, BufferId array, const Block& block, std::size_t from = 0);

/// A `break` out of the loop that the statement is in.
bool leaves(const Stmt& statement);

template <class Set>
bool meet(const Set& a, const Set& b) {
  return std::ranges::any_of(a, [&](const auto& x) { return b.contains(x); });
}

}  // namespace lehr::loops
