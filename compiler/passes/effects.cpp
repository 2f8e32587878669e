#include "compiler/passes/effects.h"

#include "compiler/loops/walk.h"

namespace lehr::loops {

void Effects::add(const Effects& more) {
  loads.insert(more.loads.begin(), more.loads.end());
  stores.insert(more.stores.begin(), more.stores.end());
  reads.insert(more.reads.begin(), more.reads.end());
  declares.insert(more.declares.begin(), more.declares.end());
  assigns.insert(more.assigns.begin(), more.assigns.end());
}

Effects effects_of(const Program& p, const Stmt& s) {
  Effects out;
  Walk walk{p, [](ExprId) {}, [&](BufferId b, bool stored) { (stored ? out.stores : out.loads).insert(b); },
            [&](ScalarId x, Mention how) {
              (how == Mention::read ? out.reads : how == Mention::declared ? out.declares : out.assigns).insert(x);
            }};
  std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  return out;
}

bool leaves(const Stmt& s) {
  if (std::holds_alternative<BreakIf>(s.node)) return true;
  const auto* branch = std::get_if<If>(&s.node);
  return branch && (std::ranges::any_of(branch->then_block, leaves) || std::ranges::any_of(branch->else_block, leaves));
}

}  // namespace lehr::loops
