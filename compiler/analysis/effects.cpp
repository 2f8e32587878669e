// Collection of the effects of statements by one walk over them.
#include "compiler/analysis/effects.h"

#include "compiler/loops/walk.h"

namespace lehr::loops {
namespace {

/// Returns what a walk meets: `go(walk)` makes it.
template <class Go>
Effects met(const Program& p, const Go& go) {
  Effects out;
  Walk walk{p, [](ExprId) {}, [&](BufferId b, bool stored) { (stored ? out.stores : out.loads).insert(b); },
            [&](ScalarId x, ScalarUse how) {
              (how == ScalarUse::read ? out.reads : how == ScalarUse::declared ? out.declares : out.assigns).insert(x);
            }};
  go(walk);
  return out;
}

}  // namespace

void Effects::add(const Effects& more) {
  loads.insert(more.loads.begin(), more.loads.end());
  stores.insert(more.stores.begin(), more.stores.end());
  reads.insert(more.reads.begin(), more.reads.end());
  declares.insert(more.declares.begin(), more.declares.end());
  assigns.insert(more.assigns.begin(), more.assigns.end());
}

Effects effects_of(const Program& p, const Stmt& s) { return effects_of(p, std::span(&s, 1)); }

Effects effects_of(const Program& p, std::span<const Stmt> statements) {
  return met(p, [&](auto& walk) {
    for (const Stmt& s : statements)
      std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  });
}

Effects effects_of(const Program& p, ExprId e) {
  return met(p, [&](auto& walk) { walk.expr(e); });
}

bool mentions(const Program& p, const Stmt& s, BufferId array) {
  const Effects x = effects_of(p, s);
  return x.loads.contains(array) || x.stores.contains(array);
}

int mentions(const Program& p, BufferId array, const Block& b, std::size_t from) {
  const auto in = [&](ExprId e) { return int{effects_of(p, e).loads.contains(array)}; };
  int out = 0;
  for (; from < b.size(); ++from) {
    if (const auto* loop = std::get_if<For>(&b[from].node))
      out += in(loop->begin) + in(loop->end) + mentions(p, array, loop->body);
    else if (const auto* branch = std::get_if<If>(&b[from].node))
      out += in(branch->condition) + mentions(p, array, branch->then_block) + mentions(p, array, branch->else_block);
    else out += int{mentions(p, b[from], array)};
  }
  return out;
}

bool has_break(const Stmt& s) {
  if (std::holds_alternative<BreakIf>(s.node)) return true;
  const auto* branch = std::get_if<If>(&s.node);
  return branch &&
         (std::ranges::any_of(branch->then_block, has_break) || std::ranges::any_of(branch->else_block, has_break));
}

}  // namespace lehr::loops
