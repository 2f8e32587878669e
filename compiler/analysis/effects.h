// Effects of statements: which arrays and scalars they read and write.
// Passes compare effects to find out whether statements may be moved, dropped or run together. An effect concerns a
// whole array; which of its elements are accessed is the subject of accesses.h and slices.h.
#pragma once
#include <algorithm>
#include <span>

#include "compiler/loops/loops.h"
#include "compiler/loops/small_id_set.h"

namespace lehr::loops {

/// The arrays and scalars that a statement, with all statements inside it, reads and writes. Passes compare the effects
/// of statements to decide whether these may be moved, dropped or run in parallel.
struct Effects {
  SmallIdSet<BufferId> loads,  // arrays that are loaded from, keys of random numbers included; += is no load
      stores;                  // arrays that are stored to, added to (+=) or filled
  SmallIdSet<ScalarId> reads,  // scalars whose values are used
      declares,                // scalars that are declared: lets, locals and indices of loops
      assigns;                 // scalars that are assigned or added to

  /// Adds the members of `more` to these sets.
  void add(const Effects& more);
};

/// Returns the effects of a statement and of all statements in it.
Effects effects_of(const Program& program, const Stmt& statement);
/// Returns the effects of several statements, in a block say, and of all statements in them.
Effects effects_of(const Program& program, std::span<const Stmt> statements);
/// Returns the effects of an evaluation of an expression: what it reads.
Effects effects_of(const Program& program, ExprId expression);

/// Returns true if the statement loads from the array or stores to it.
bool mentions(const Program& program, const Stmt& statement, BufferId array);

/// Counts the places in a block that load from the array or store to it, so that a pass can see whether all of them lie
/// in one loop. A place is a single statement, a condition of a branch or a bound of a loop; those inside loops and
/// branches count one by one. Statements of the block before position `from` do not count.
int mentions(const Program& program, BufferId array, const Block& block, std::size_t from = 0);

/// Returns true if the statement is or contains a `break` that leaves the loop around the statement. A `break` in a
/// loop inside the statement leaves that loop alone, and does not count.
bool has_break(const Stmt& statement);

/// Returns true if the two sets have a member in common.
template <class Set>
bool intersect(const Set& a, const Set& b) {
  return std::ranges::any_of(a, [&](const auto& x) { return b.contains(x); });
}

}  // namespace lehr::loops
