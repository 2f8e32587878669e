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

/// Calls `visit(AccessKind, BufferId, const std::vector<ExprId>& indices)` for every access to an array in the
/// statements and in those inside them: first for all that write, in order, then for the loads. A load expression that
/// occurs several times is visited once. A fill has no indices. Reading the key of a random number is no access here.
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

/// How one index of an array access, such as `n` and `k` in a[n, k], depends on the iteration of a loop.
enum class Dependence {
  none,   // it is the same in all iterations
  index,  // it is exactly the index variable of the loop, n in a[n]
  data,   // it differs between iterations, and contains a load: a[w[n]]
  other   // it differs between iterations, and contains no load: a[n - 1]
};

/// Returns how the expression `e`, an index of an array access, depends on the iteration of a loop with the index
/// variable `index`. `varying`: the scalars and arrays that differ between iterations.
Dependence dependence_of(const Program& program, const Varying& varying, ScalarId index, ExprId e);

/// One access to an array (a load, store, addition or fill) in the body of a loop, with the way in which its indices
/// depend on the iteration. Accesses has them for each array.
struct IterationAccess {
  AccessKind kind = AccessKind::load;  // whether it loads, stores, adds or fills
  std::vector<Dependence> axes;        // for each axis, how its index depends on the iteration; empty for a fill

  /// Returns true if some index differs between iterations, so that they may access different elements. False for a
  /// fill, which has no indices.
  bool varies() const;
  /// Returns true if the access is a load.
  bool loads() const { return kind == AccessKind::load; }
};

/// The accesses to arrays in the body of a loop, listed for each array, with the way in which they depend on the
/// iteration. Passes and the verifier use it to decide whether iterations may run together, in another order or at the
/// same time.
class Accesses {
 public:
  /// Collects the accesses to arrays in the statements of a loop's body; reads and writes of scalars are left out.
  /// `varying`: the scalars and arrays that differ between iterations. It is varying_in() for iterations in lanes of
  /// vectors, formed_from() for chunks on several threads, or the index alone if only its direct occurrences count.
  /// `index`: the loop's index variable; if it is invalid, no access counts as Dependence::index.
  Accesses(const Program& program, std::span<const Stmt> statements, const Varying& varying, ScalarId index);
  /// Collects the accesses to arrays in a loop's body. Only an expression that contains the loop's index variable
  /// itself counts as different between iterations, not one that is computed from it through a scalar.
  Accesses(const Program& program, const For& loop) : Accesses(program, loop.body, {{loop.index}, {}}, loop.index) {}

  /// Returns all accesses, by array; arrays without an access are left out.
  const std::map<BufferId, std::vector<IterationAccess>>& all() const& { return all_; }
  const std::map<BufferId, std::vector<IterationAccess>>& all() const&& = delete;
  /// Returns true if every access to the array is at the index of the loop along this axis, so that no iteration meets
  /// an element of another. An array that is not accessed gives true, one that is filled as a whole false.
  bool is_own(BufferId array, std::size_t axis) const;
  /// Returns true if an index of some access to the array differs between iterations. False for an array that is not
  /// accessed or is only filled.
  bool varies(BufferId array) const;

 private:
  std::map<BufferId, std::vector<IterationAccess>> all_;  // the accesses to each array that has any
};

/// Why an access to an array forbids that iterations of a loop run at the same time.
enum class Race {
  filled,            // every iteration fills the whole array (Fill)
  stored_elsewhere,  // iterations store or add to an element whose indices are the same in all iterations
  sum_loaded,        // iterations add to the array as to a sum, and load it before the sum is complete
  loaded_elsewhere   // iterations store to elements that depend on the iteration, and load one that does not
};

/// Returns the arrays for which iterations of a loop race if they run at the same time, with the reason; empty if the
/// loop may be run in parallel. Scratch is private to an iteration. Arrays for which `may_be_sum` is true, scratch too,
/// may be added to at any index if they are not loaded: each iteration has a copy, and the copies are added up. Every
/// other array is shared: if it is stored to, each access must depend on the iteration.
std::vector<std::pair<BufferId, Race>> races_of(const Program& program, const Accesses& accesses,
                                                const std::function<bool(BufferId)>& may_be_sum);

/// Returns true if the loop runs from 0 to the extent of the axis in steps of 1, so that it visits every index of the
/// axis. The extent must be a constant; otherwise returns false.
bool runs_over(const Program& program, const For& loop, SizeId axis);

}  // namespace lehr::loops
