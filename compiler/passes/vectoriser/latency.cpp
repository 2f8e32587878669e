// Loops whose steps wait for functions, and the arrays that such a loop of an item accesses.
#include "compiler/passes/vectoriser/latency.h"

#include <algorithm>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/effects.h"
#include "compiler/analysis/private_arrays.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/independent_loops.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The most elements of a row that is transposed for lanes.
constexpr Threshold<std::int64_t> kLongest("latency.longest", 128);

/// Collects the arrays that a loop of an item accesses, and tests whether it can run in lanes of items.
class RowFinder {
 public:
  RowFinder(const Program& p, const Varying& varying, ScalarId item) : p_(p), varying_(varying), item_(item) {}

  /// Returns the arrays; nullopt if the loop cannot run in lanes.
  std::optional<ItemRows> of(const For& loop) {
    each_statement(loop.body, [&](const Stmt& s) {
      const auto* inner = std::get_if<For>(&s.node);
      const bool leaves = std::holds_alternative<If>(s.node) || std::holds_alternative<Fail>(s.node) ||
                          std::holds_alternative<Fill>(s.node);
      good_ = good_ && !leaves && !(inner && (varies(inner->begin) || varies(inner->end)));
    });
    const Accesses of_item(p_, loop.body, varying_, item_);
    for (const auto& [array, all] : of_item.all())
      for (const IterationAccess& x : all)
        if (!x.loads() || x.varies() || varying_.arrays.contains(array)) add_access(array, x);
    if (!good_) return std::nullopt;
    for (const auto* all : {&out_.rows, &out_.scratch}) {
      for (const BufferId b : *all)
        if (!fills_rows(p_, loop, b)) out_.live_in.insert(b);
    }
    return out_;
  }

 private:
  bool varies(ExprId e) const { return varying_.is_varying(p_, e); }

  /// Adds an access. Clears good_ if its form is neither array[item, e], array[item], scratch[e] nor scratch[].
  void add_access(BufferId b, const IterationAccess& x) {
    const std::size_t own = is_scratch(p_[b]) ? 0 : 1, axes = x.axes.size();
    const bool fits = axes <= own + 1 && axes >= own && (own == 0 || x.axes[0] == Dependence::index);
    good_ = good_ && fits && (own == 1 || varying_.arrays.contains(b)) &&
            (axes == own || x.axes.back() == Dependence::none);
    // Single elements are read as they are: neighbouring items have neighbouring elements.
    if (!good_ || axes == 0 || (axes == own && x.loads())) return;
    const std::int64_t length = axes > own ? p_[p_[b].axes.back()].constant : 0;
    good_ = length >= 1 && length <= p_.thresholds[kLongest];
    (own ? out_.rows : out_.scratch).insert(b);
    if (!x.loads()) out_.stored.insert(b);
  }

  const Program& p_;
  const Varying& varying_;
  const ScalarId item_;  // index of the loop over items
  bool good_ = true;     // true while the loop can run in lanes
  ItemRows out_;
};

}  // namespace

bool waits_for_functions(const Program& p, const For& loop) {
  if (!has_loop(loop.body)) return false;
  return std::ranges::any_of(loop.body,
                             [&](const Stmt& x) { return calls_function(p, x) || waits_for_functions(p, x); });
}

bool waits_for_functions(const Program& p, const Stmt& s) {
  const auto* loop = std::get_if<For>(&s.node);
  return loop && waits_for_functions(p, *loop);
}

std::optional<ItemRows> item_rows(const Program& p, const Varying& varying, ScalarId item, const For& loop) {
  return RowFinder(p, varying, item).of(loop);
}

bool can_be_grouped(const Program& p, const Varying& varying, const Block& block) {
  return std::ranges::all_of(block, [&](const Stmt& s) {
    const Effects x = effects_of(p, s);
    const auto is_private = [&](BufferId b) { return !is_scratch(p[b]) || varying.arrays.contains(b); };
    const auto is_inside = [&](ScalarId v) { return varying.scalars.contains(v) || x.declares.contains(v); };
    return std::ranges::all_of(x.stores, is_private) && std::ranges::all_of(x.assigns, is_inside);
  });
}

}  // namespace lehr::loops
