#include "compiler/passes/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/loops/facts.h"
#include "compiler/passes/effects.h"
#include "compiler/passes/rewrite.h"

namespace lehr::loops {
namespace {

/// The statements of one loop's body that are the same in every turn.
class Invariants {
 public:
  /// `around`: arrays that the function mentions outside the loop.
  Invariants(const Program& p, const For& loop, const FewIds<BufferId>& around)
      : p_(p), loop_(loop), around_(around), slices_(slices_of(p, loop)) {
    for (const Stmt& s : loop.body)
      effects_.push_back(effects_of(p, s));
    for (const Effects& x : effects_)
      inside_.insert(x.declares.begin(), x.declares.end());
  }

  Slices slices() const { return slices_; }

  /// By statement; empty: nothing is worth it.
  std::vector<bool> find() {
    const std::size_t n = loop_.body.size();
    for (std::size_t k = 0; k < n; ++k)
      moves_.push_back(may_move(k));
    while (settle()) {
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (moves_[k] && std::holds_alternative<For>(loop_.body[k].node)) return moves_;
    }
    return {};
  }

 private:
  /// As far as the statement alone tells.
  bool may_move(std::size_t k) const {
    const Effects& x = effects_[k];
    // What scratch holds when the first turn begins means nothing, so every turn fills what it reads.
    const auto is_own = [&](BufferId b) {
      const bool scratch = is_scratch(p_[b]);
      return slices_.contains(b) || (scratch && !around_.contains(b));
    };
    return std::ranges::all_of(x.stores, is_own) &&
           std::ranges::all_of(x.assigns, [&](ScalarId s) { return inside_.contains(s); }) &&
           !depends_on_index(p_, loop_, slices_, loop_.body[k]);
  }

  /// What has to do with a statement that stays, stays: whether there was any. A statement that stays reads what there
  /// is after all that moved, so nothing may move that is written after it.
  bool settle() {
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
      const bool reads = meet(x.loads, rest.stores) || meet(x.reads, rest.assigns);
      const bool writes = meet(x.stores, rest.stores) || meet(x.declares, rest.assigns) ||
                          meet(x.assigns, rest.assigns) || meet(x.stores, before.loads) ||
                          meet(x.assigns, before.reads);
      if (!reads && !writes) continue;
      moves_[k] = false;
      changed = true;
    }
    return changed;
  }

  const Program& p_;
  const For& loop_;
  const FewIds<BufferId>& around_;
  const Slices slices_;
  std::vector<Effects> effects_;
  FewIds<ScalarId> inside_;  // declared in the body
  std::vector<bool> moves_;
};

class Hoist {
 public:
  explicit Hoist(Program& p) : p_(p) {}

  void run() {
    rewrite_bodies(p_, arrays_, [&](Block& b) { block(b, {}); });
  }

 private:
  /// `around`: arrays that the function mentions outside the block.
  void block(Block& b, const FewIds<BufferId>& around) {
    FewIds<BufferId> once, outside = around;
    for (const Stmt& s : b) {
      const Effects x = effects_of(p_, s);
      FewIds<BufferId> mentioned = x.loads;
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
      Block before = taken_out_of(*loop, outside);
      if (before.empty()) continue;
      // The loop may have no turn at all.
      const ExprId turns = make(p_, Type::boolean, Binary{BinaryOp::less, loop->begin, loop->end});
      before.push_back(std::move(s));
      s = Stmt{If{turns, std::move(before), {}}};
    }
  }

  Block taken_out_of(For& loop, const FewIds<BufferId>& around) {
    if (std::ranges::any_of(loop.body, leaves)) return {};
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
        slice.once = array_of(array, slice.axis);
        rest.push_back(copy_slice(p_, array, slice, loop.index));
      }
      before.push_back(with_slices(p_, slices, loop.body[k]));
    }
    if (!moves.empty()) loop.body = std::move(rest);
    return before;
  }

  /// An array of the function for a slice.
  BufferId array_of(BufferId of, std::size_t axis) {
    Buffer out{"", Type::f64, Role::scratch, p_[of].axes};
    out.axes.erase(out.axes.begin() + static_cast<std::ptrdiff_t>(axis));
    for (int k = 1; out.name.empty() || is_taken(out.name); ++k)
      out.name = fmt::format("all.{}.{}", p_[of].name, k);
    p_.buffers.push_back(std::move(out));
    arrays_.emplace_back(p_.buffers.size() - 1);
    return arrays_.back();
  }
  bool is_taken(const std::string& name) const {
    return std::ranges::find(p_.buffers, name, &Buffer::name) != p_.buffers.end();
  }

  Program& p_;
  std::vector<BufferId> arrays_;
};

}  // namespace

Program hoist_invariants(Program program) {
  Hoist(program).run();
  return program;
}

}  // namespace lehr::loops
