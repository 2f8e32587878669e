// The pass `hoist-invariants`: loop-invariant code motion for nests of loops and the arrays that they fill.
// LLVM's LICM moves single scalars only; this pass moves whole loop nests. In a Gaussian model without missing values,
// the precision of each item, its Cholesky factor and its inverse are the same for all items. So they move out of the
// loop.
//   for i: for k: a[i, k] = f(k)      becomes      for k: all[k] = f(k)      for i: for k: a[i, k] = all[k]
//
// Loop-invariant code motion of statements, by elimination.
// At first every statement that does not depend on the loop's index is a candidate. Then candidates that interact with
// a statement that stays are dropped, until nothing changes.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/facts.h"

namespace lehr::loops {
namespace {

/// Finds the statements of a loop's body that do the same in every iteration.
class Invariants {
 public:
  /// `around`: arrays that the function mentions outside of the loop.
  Invariants(const Program& p, const For& loop, const SmallIdSet<BufferId>& around)
      : p_(p), loop_(loop), around_(around), slices_(slices_of(p, loop)) {
    for (const Stmt& s : loop.body)
      effects_.push_back(effects_of(p, s));
    for (const Effects& x : effects_)
      inside_.insert(x.declares.begin(), x.declares.end());
  }

  /// Returns the slices of the loop's index (slices.h).
  Slices slices() const { return slices_; }

  /// Returns for each statement of the body whether it moves; empty if no nest of loops does.
  std::vector<bool> find() {
    const std::size_t n = loop_.body.size();
    for (std::size_t k = 0; k < n; ++k)
      moves_.push_back(may_move(k));
    while (drop_dependent()) {
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (moves_[k] && std::holds_alternative<For>(loop_.body[k].node)) return moves_;
    }
    return {};
  }

 private:
  /// Returns true if nothing in the statement itself keeps it in the loop: it does not depend on the index, and what it
  /// writes is private to the loop.
  bool may_move(std::size_t k) const {
    const Effects& x = effects_[k];
    // The contents of scratch before the first iteration mean nothing, so every iteration fills what it reads.
    const auto is_private = [&](BufferId b) {
      const bool scratch = is_scratch(p_[b]);
      return slices_.contains(b) || (scratch && !around_.contains(b));
    };
    return std::ranges::all_of(x.stores, is_private) &&
           std::ranges::all_of(x.assigns, [&](ScalarId s) { return inside_.contains(s); }) &&
           !depends_on_index(p_, loop_, slices_, loop_.body[k]);
  }

  /// Drops candidates that read or write what a statement that stays writes, or write what one before them reads.
  /// Returns true if any was dropped. A statement that stays reads what is there after all moves, so nothing may move
  /// that is written after it.
  bool drop_dependent() {
    // `rest`: what all statements that stay write; `before`: what those before statement k read.
    Effects rest, before;
    for (std::size_t k = 0; k < moves_.size(); ++k) {
      if (moves_[k]) continue;
      rest.stores.insert(effects_[k].stores.begin(), effects_[k].stores.end());
      for (const auto* written : {&effects_[k].declares, &effects_[k].assigns})
        rest.assigns.insert(written->begin(), written->end());
    }
    bool changed = false;
    for (std::size_t k = 0; k < moves_.size(); ++k) {
      const Effects& x = effects_[k];
      if (!moves_[k]) {
        before.loads.insert(x.loads.begin(), x.loads.end());
        before.reads.insert(x.reads.begin(), x.reads.end());
        continue;
      }
      const bool reads = intersect(x.loads, rest.stores) || intersect(x.reads, rest.assigns);
      const bool writes = intersect(x.stores, rest.stores) || intersect(x.declares, rest.assigns) ||
                          intersect(x.assigns, rest.assigns) || intersect(x.stores, before.loads) ||
                          intersect(x.assigns, before.reads);
      if (!reads && !writes) continue;
      moves_[k] = false;
      changed = true;
    }
    return changed;
  }

  const Program& p_;
  const For& loop_;
  const SmallIdSet<BufferId>& around_;
  const Slices slices_;
  std::vector<Effects> effects_;
  SmallIdSet<ScalarId> inside_;  // scalars declared in the body
  std::vector<bool> moves_;      // by statement: whether it is a candidate still
};

/// Rewrites the loops of all functions of a program, from the innermost outwards.
class Hoist {
 public:
  explicit Hoist(Program& p) : p_(p) {}

  void run() {
    rewrite_bodies(p_, arrays_, [&](Block& b) { block(b, {}); });
  }

 private:
  /// Rewrites the loops of a block. `around`: arrays that the function mentions outside of the block.
  void block(Block& b, const SmallIdSet<BufferId>& around) {
    // An array that two statements of the block mention is outside of each of them.
    SmallIdSet<BufferId> once, outside = around;
    for (const Stmt& s : b) {
      const Effects x = effects_of(p_, s);
      SmallIdSet<BufferId> mentioned = x.loads;
      mentioned.insert(x.stores.begin(), x.stores.end());
      for (const BufferId array : mentioned) {
        if (!once.insert(array).second) outside.insert(array);
      }
    }
    for (Stmt& s : b) {
      if (auto* branch = std::get_if<If>(&s.node)) {
        block(branch->then_block, outside);
        block(branch->else_block, outside);
      }
      auto* loop = std::get_if<For>(&s.node);
      if (!loop) continue;
      block(loop->body, outside);
      Block before = hoisted_from(*loop, outside);
      if (before.empty()) continue;
      // The statements ran only if the loop had an iteration, so they are guarded by that condition.
      const ExprId is_entered = make(p_, Type::boolean, Binary{BinaryOp::less, loop->begin, loop->end});
      before.push_back(std::move(s));
      s = Stmt{If{is_entered, std::move(before), {}}};
    }
  }

  /// Removes the invariant statements from the loop and returns them. A slice that they fill gets an array of its own,
  /// and a copy from it stays in the loop.
  Block hoisted_from(For& loop, const SmallIdSet<BufferId>& around) {
    if (std::ranges::any_of(loop.body, has_break)) return {};
    Invariants invariants(p_, loop, around);
    const std::vector<bool> moves = invariants.find();
    Slices slices = invariants.slices();
    Block before, rest;
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (!moves[k]) {
        rest.push_back(std::move(loop.body[k]));
        continue;
      }
      for (auto& [array, slice] : slices) {
        if (slice.filled != k) continue;
        slice.replacement = array_of(array, slice.axis);
        rest.push_back(copy_slice(p_, array, slice, loop.index));
      }
      before.push_back(with_slices(p_, slices, loop.body[k]));
    }
    if (!moves.empty()) loop.body = std::move(rest);
    return before;
  }

  /// Makes a local array for a slice of array `of`, without the sliced axis.
  BufferId array_of(BufferId of, std::size_t axis) {
    Buffer out{"", Type::f64, Role::scratch, p_[of].axes};
    out.axes.erase(out.axes.begin() + static_cast<std::ptrdiff_t>(axis));
    for (int k = 1; out.name.empty() || is_used(out.name); ++k)
      out.name = fmt::format("all.{}.{}", p_[of].name, k);
    p_.buffers.push_back(std::move(out));
    arrays_.emplace_back(p_.buffers.size() - 1);
    return arrays_.back();
  }
  /// Returns true if an array of the program has this name.
  bool is_used(const std::string& name) const {
    return std::ranges::find(p_.buffers, name, &Buffer::name) != p_.buffers.end();
  }

  Program& p_;
  std::vector<BufferId> arrays_;
};

}  // namespace

/// Returns the program with invariant statements moved before their loops. A statement moves if it neither uses the
/// loop's index nor reads what depends on it. Something moves only if a nest of loops is among it.
/// The moved statements write scratch, or a slice (slices.h) of an array. The slice is then computed once, in an array
/// of its own, and copied in every iteration. Cold functions stay as they are.
Program hoist_invariants(Program program) {
  Hoist(program).run();
  return program;
}

}  // namespace lehr::loops
