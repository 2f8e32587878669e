#include "compiler/passes/waiting.h"

#include <algorithm>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/effects.h"
#include "compiler/passes/independent_loops.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kLongest = 128;  // numbers of a row

class Rows {
 public:
  Rows(const Program& p, const Varying& varying, ScalarId item) : p_(p), varying_(varying), item_(item) {}

  std::optional<ItemRows> of(const For& loop) {
    each_statement(loop.body, [&](const Stmt& s) {
      const auto* inner = std::get_if<For>(&s.node);
      const bool leaves = std::holds_alternative<If>(s.node) || std::holds_alternative<Fail>(s.node) ||
                          std::holds_alternative<Fill>(s.node);
      good_ = good_ && !leaves && !(inner && (varies(inner->begin) || varies(inner->end)));
      if (const auto* x = std::get_if<Store>(&s.node)) place(x->buffer, x->indices, true);
    });
    const auto on_expr = [&](ExprId e) {
      const auto* x = std::get_if<Load>(&p_[e].node);
      if (x && varies(e)) place(x->buffer, x->indices, false);
    };
    Walk{p_, on_expr, [](BufferId, bool) {}}.block(loop.body);
    if (!good_) return std::nullopt;
    for (const auto* all : {&out_.rows, &out_.scratch}) {
      for (const BufferId b : *all)
        if (!fills(loop, b)) out_.there.insert(b);
    }
    return out_;
  }

 private:
  bool varies(ExprId e) const { return varying_.holds(p_, e); }

  void place(BufferId b, const std::vector<ExprId>& at, bool stored) {
    const std::size_t own = is_scratch(p_[b]) ? 0 : 1;
    const bool fits = at.size() <= own + 1 && at.size() >= own && (own == 0 || is_scalar(p_, at[0], item_));
    good_ = good_ && fits && (own == 1 || varying_.arrays.contains(b)) &&
            std::none_of(at.begin() + static_cast<std::ptrdiff_t>(std::min(own, at.size())), at.end(),
                         [&](ExprId e) { return varies(e); });
    if (!good_ || at.empty() || (at.size() == own && !stored)) return;  // numbers side by side as they are
    const std::int64_t length = at.size() > own ? p_[p_[b].axes.back()].constant : 0;
    good_ = length >= 1 && length <= kLongest;
    (own ? out_.rows : out_.scratch).insert(b);
    if (stored) out_.stored.insert(b);
  }

  /// Each turn stores its own element, first of all, and mentions no other.
  bool fills(const For& loop, BufferId b) const {
    const auto *begin = std::get_if<ConstI>(&p_[loop.begin].node), *end = std::get_if<ConstI>(&p_[loop.end].node);
    if (!begin || !end || begin->value != 0 || end->value != p_[p_[b].axes.back()].constant || loop.step != 1)
      return false;
    bool own = true;
    const auto at = [&](BufferId x, const std::vector<ExprId>& place) {
      own = own && (x != b || is_scalar(p_, place.back(), loop.index));
    };
    const auto on_expr = [&](ExprId e) {
      if (const auto* x = std::get_if<Load>(&p_[e].node)) at(x->buffer, x->indices);
    };
    Walk{p_, on_expr, [](BufferId, bool) {}}.block(loop.body);
    each_statement(loop.body, [&](const Stmt& s) {
      if (const auto* x = std::get_if<Store>(&s.node)) at(x->buffer, x->indices);
    });
    for (const Stmt& s : loop.body) {
      const Effects effects = effects_of(p_, s);
      if (effects.loads.contains(b)) return false;
      if (!effects.stores.contains(b)) continue;
      const auto* store = std::get_if<Store>(&s.node);
      return own && store && !store->accumulate;
    }
    return false;
  }

  const Program& p_;
  const Varying& varying_;
  const ScalarId item_;
  bool good_ = true;
  ItemRows out_;
};

}  // namespace

bool waits_for_functions(const Program& p, const Stmt& s) {
  const auto* loop = std::get_if<For>(&s.node);
  if (!loop || !has_loop(loop->body)) return false;
  return std::ranges::any_of(loop->body, [&](const Stmt& x) {
    return (value_of(x).valid() && calls_function(p, value_of(x))) || waits_for_functions(p, x);
  });
}

std::optional<ItemRows> item_rows(const Program& p, const Varying& varying, ScalarId item, const For& loop) {
  return Rows(p, varying, item).of(loop);
}

bool can_be_grouped(const Program& p, const Varying& varying, const Block& block) {
  return std::ranges::all_of(block, [&](const Stmt& s) {
    FewIds<ScalarId> declared, assigned;
    bool good = true;
    Walk walk{p, [](ExprId) {}, [](BufferId, bool) {},
              [&](ScalarId x, Mention how) {
                if (how == Mention::declared) declared.insert(x);
                if (how == Mention::assigned && !varying.scalars.contains(x)) assigned.insert(x);
              }};
    const Block one{s};
    walk.block(one);
    each_statement(one, [&](const Stmt& x) {
      const auto* store = std::get_if<Store>(&x.node);
      const auto* fill = std::get_if<Fill>(&x.node);
      const BufferId to = store ? store->buffer : fill ? fill->buffer : BufferId();
      if (to.valid() && is_scratch(p[to])) good = good && varying.arrays.contains(to);
    });
    return good && std::ranges::includes(declared, assigned);
  });
}

}  // namespace lehr::loops
