// Accesses to arrays: which elements the iterations of a loop load and store, and so whether they may change their
// order, run together or at the same time. Passes, the verifier and code generation ask here.
//
// Each index of an access depends on the iteration in one of four ways (Dependence). In a loop over n,
//
//     a[n, k] = b[k]        a is accessed at the index of the loop along its first axis: rows of an iteration's own
//     s[w[n]] += x[n]       s is accessed through data: several iterations may meet in one element
//     t[k] += x[n]          t is the same for all iterations: a sum, if nothing loads it
#pragma once
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compiler/analysis/varying.h"
#include "compiler/loops/loops.h"
#include "compiler/loops/walk.h"

namespace lehr::loops {

/// What an access does: it loads an element, stores it, adds to it (+=), or fills the whole array.
enum class AccessKind { load, store, add, fill };

/// Calls `visit(AccessKind, BufferId, const std::vector<ExprId>& indices)` for every access in the statements and in
/// those inside them: first for all that write, in order, then for loads, an expression that occurs several times once.
/// A fill has no indices. Keys of random numbers do not count.
template <class Visit>
void each_access(const Program& program, std::span<const Stmt> statements, const Visit& visit) {
  const auto write = [&](const Stmt& s) {
    if (const auto* x = std::get_if<Store>(&s.node))
      visit(x->accumulate ? AccessKind::add : AccessKind::store, x->buffer, x->indices);
    if (const auto* x = std::get_if<Fill>(&s.node)) visit(AccessKind::fill, x->buffer, std::vector<ExprId>{});
  };
  const auto load = [&](ExprId e) {
    if (const auto* x = std::get_if<Load>(&program[e].node)) visit(AccessKind::load, x->buffer, x->indices);
  };
  each_statement(statements, write);
  Walk walk{program, load, [](BufferId, bool) {}};
  for (const Stmt& s : statements)
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
}

/// How an index of an access depends on the iteration.
enum class Dependence {
  none,   // it is the same in all iterations
  index,  // it is the index of the loop
  data,   // it differs, and the expression contains a load
  other   // it differs, and the expression contains no load
};

/// Returns how the expression depends on the iteration of a loop with the index variable `index`. `varying`: what
/// differs between iterations.
Dependence dependence_of(const Program& program, const Varying& varying, ScalarId index, ExprId e);

/// An access of the iterations of a loop.
struct IterationAccess {
  AccessKind kind = AccessKind::load;  // what it does
  std::vector<Dependence> axes;        // how each index depends on the iteration; empty for a fill

  /// Returns true if the access may be to different elements in different iterations.
  bool varies() const;
  /// Returns true if the access is a load.
  bool loads() const { return kind == AccessKind::load; }
};

/// The accesses of the iterations of a loop, by array.
class Accesses {
 public:
  /// Collects the accesses in the statements. `varying`: what differs between iterations. It is varying_in() for
  /// iterations that run together, formed_from() for those that run at the same time, or the index alone if only its
  /// direct occurrences count. `index`: the index of the loop, or invalid.
  Accesses(const Program& program, std::span<const Stmt> statements, const Varying& varying, ScalarId index);
  /// Collects the accesses in a loop's body; only expressions that contain its index count as different.
  Accesses(const Program& program, const For& loop) : Accesses(program, loop.body, {{loop.index}, {}}, loop.index) {}

  /// Returns the accesses to each array that is accessed.
  const std::map<BufferId, std::vector<IterationAccess>>& all() const& { return all_; }
  const std::map<BufferId, std::vector<IterationAccess>>& all() const&& = delete;
  /// Returns true if every access to the array is at the index of the loop along this axis, so that no iteration meets
  /// an element of another. An array that is not accessed gives true.
  bool is_own(BufferId array, std::size_t axis) const;
  /// Returns true if an access to the array may be to different elements in different iterations.
  bool varies(BufferId array) const;

 private:
  std::map<BufferId, std::vector<IterationAccess>> all_;
};

/// Why iterations may not run at the same time.
enum class Race {
  filled,            // they fill the array as a whole (Fill)
  stored_elsewhere,  // they store to elements that do not depend on the iteration
  sum_loaded,        // they add to the array as to a sum, and load it
  loaded_elsewhere   // they store to elements that depend on the iteration, and load others
};

/// Returns the arrays of the program for which iterations race, with the reason. Scratch is private to an iteration.
/// Arrays for which `may_be_sum` is true, scratch too, may be added to at any place: each iteration has a copy, and the
/// copies are added up. Every other array is shared: if it is stored to, each access must depend on the iteration.
std::vector<std::pair<BufferId, Race>> races_of(const Program& program, const Accesses& accesses,
                                                const std::function<bool(BufferId)>& may_be_sum);

/// Returns true if the loop runs over all of an axis of constant extent, from 0 and one element after another.
bool runs_over(const Program& program, const For& loop, SizeId axis);

}  // namespace lehr::loops
