#include "compiler/passes/independent_loops.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/loops/walk.h"
#include "compiler/passes/rewrite.h"

namespace lehr::loops {
namespace {

/// Whether turns declare the scalars that they assign, keep nothing but their own rows and sums, which they do not
/// read, and neither leave a loop early nor begin it at different numbers. `outside`: arrays that the function mentions
/// elsewhere.
bool can_be_side_by_side(const Program& p, const For& loop, const Varying& varying, const FewIds<BufferId>& outside) {
  FewIds<ScalarId> declared, assigned;
  FewIds<BufferId> loaded, added;
  Walk walk{p, [](ExprId) {},
            [&](BufferId b, bool stored) {
              if (!stored) loaded.insert(b);
            },
            [&](ScalarId s, Mention how) {
              if (how == Mention::declared) declared.insert(s);
              if (how == Mention::assigned) assigned.insert(s);
            }};
  walk.block(loop.body);
  bool good = true;
  each_statement(loop.body, [&](const Stmt& s) {
    if (std::holds_alternative<BreakIf>(s.node)) good = false;
    if (const auto* x = std::get_if<For>(&s.node)) good = good && !varying.holds(p, x->begin);
    if (const auto* x = std::get_if<Fill>(&s.node)) good = good && is_scratch(p[x->buffer]);
    const auto* x = std::get_if<Store>(&s.node);
    if (!x || is_scratch(p[x->buffer])) return;
    if (x->accumulate && p[x->buffer].role == Role::statistic) added.insert(x->buffer);
    else good = good && std::ranges::any_of(x->indices, [&](ExprId e) { return varying.holds(p, e); });
  });
  return good && std::ranges::includes(declared, assigned) &&
         std::ranges::none_of(added, [&](BufferId b) { return loaded.contains(b); }) &&
         std::ranges::none_of(varying.scalars, [&](ScalarId s) { return p[s].type == Type::boolean; }) &&
         std::ranges::none_of(varying.arrays, [&](BufferId b) { return outside.contains(b); });
}

class Functions {
 public:
  Functions(Program& p, const Choice& choice) : p_(p), choice_(choice) {}

  void run() {
    rewrite_bodies(p_, arrays_, [&](Block& b) { block(b, b); });
  }

 private:
  void block(Block& b, const Block& all) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (auto* branch = std::get_if<If>(&b[k].node)) {
        block(branch->then_block, all);
        block(branch->else_block, all);
      }
      auto* loop = std::get_if<For>(&b[k].node);
      if (loop && loop->step > 1 && !loop->side_by_side) block(loop->body, all);
      if (!loop || !loop->independent || loop->step != 1 || !choice_.is_candidate(p_, *loop)) continue;
      const For taken = std::get<For>(std::exchange(b[k], Stmt{Comment{}}).node);
      FewIds<BufferId> outside;
      Walk{p_, [](ExprId) {}, [&](BufferId x, bool) { outside.insert(x); }}.block(all);
      const Varying varying = varying_in(p_, taken);
      const std::optional<Arrangement> how = choice_.arrange(p_, taken, varying);
      if (!how || !can_be_side_by_side(p_, taken, varying, outside)) {
        b[k] = Stmt{taken};
        continue;
      }
      Block made = side_by_side(p_, taken, varying, *how, arrays_);
      const auto at = b.erase(b.begin() + static_cast<std::ptrdiff_t>(k));
      k += made.size() - 1;
      b.insert(at, std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    }
  }

  Program& p_;
  const Choice& choice_;
  std::vector<BufferId> arrays_;
};

}  // namespace

Program put_side_by_side(Program program, const Choice& choice) {
  Functions(program, choice).run();
  return program;
}

}  // namespace lehr::loops
