#include "compiler/passes/turn_places.h"

#include <algorithm>
#include <map>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/side_by_side.h"

namespace lehr::loops {
namespace {

/// Statements that are executed in any case.
template <class Body>
void each_of_constant_loops(const Program& p, const Block& b, const Body& body) {
  for (const Stmt& s : b) {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      if (has_turns(p, *loop)) each_of_constant_loops(p, loop->body, body);
    } else if (!std::holds_alternative<If>(s.node)) {
      body(s);
    }
  }
}

}  // namespace

bool has_turns(const Program& p, const For& x) {
  const auto *begin = std::get_if<ConstI>(&p[x.begin].node), *end = std::get_if<ConstI>(&p[x.end].node);
  return begin && end && begin->value < end->value;
}

std::vector<ExprId> loaded_places(const Program& p, const Varying& varying, const For& x, std::optional<ScalarId> index,
                                  bool all) {
  FewIds<ScalarId> inner;
  FewIds<BufferId> stored;
  std::vector<ExprId> found;
  const auto changes = [&](ExprId e) {
    bool yes = false;
    Walk walk{p, [](ExprId) {}, [&](BufferId b, bool) { yes = yes || stored.contains(b); },
              [&](ScalarId s, Mention) { yes = yes || inner.contains(s); }};
    walk.expr(e);
    return yes;
  };
  const auto places = [&](const std::vector<ExprId>& at) {
    for (const ExprId e : at) {
      if (varying.holds(p, e) && loads(p, e) && !changes(e) && !std::ranges::count(found, e)) found.push_back(e);
    }
  };
  Walk effects{p, [](ExprId) {},
               [&](BufferId b, bool is_stored) {
                 if (is_stored) stored.insert(b);
               },
               [&](ScalarId s, Mention how) {
                 if (how != Mention::read) inner.insert(s);
               }};
  effects.block(x.body);
  inner.insert(x.index);
  if (index) inner.erase(*index);
  each_of_constant_loops(p, x.body, [&](const Stmt& s) {
    if (const auto* store = std::get_if<Store>(&s.node); store && all) places(store->indices);
    Walk walk{p,
              [&](ExprId e) {
                if (const auto* l = std::get_if<Load>(&p[e].node)) places(l->indices);
              },
              [](BufferId, bool) {}};
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  });
  return found;
}

std::vector<BufferId> rows_of_items(const Program& p, const Varying& varying, const For& loop) {
  constexpr std::int64_t kWidest = 256;  // numbers
  std::map<BufferId, bool> found;
  const auto on_expr = [&](ExprId e) {
    const auto* x = std::get_if<Load>(&p[e].node);
    if (!x || x->indices.size() < 2 || is_scratch(p[x->buffer])) return;
    const std::vector<SizeId>& axes = p[x->buffer].axes;
    const bool fits =
        is_scalar(p, x->indices[0], loop.index) &&
        std::none_of(x->indices.begin() + 1, x->indices.end(), [&](ExprId at) { return varying.holds(p, at); }) &&
        std::all_of(axes.begin() + 1, axes.end(), [&](SizeId s) { return p[s].constant > 0; }) &&
        constant_extents(p, x->buffer) <= kWidest;
    const auto [it, is_new] = found.try_emplace(x->buffer, fits);
    it->second = it->second && fits;
  };
  Walk{p, on_expr,
       [&](BufferId b, bool stored) {
         if (stored) found[b] = false;
       }}
      .block(loop.body);
  std::vector<BufferId> out;
  for (const auto& [b, fits] : found) {
    if (fits) out.push_back(b);
  }
  return out;
}

std::optional<SizeId> axis_of(const Program& p, const Varying& varying, const For& x, ScalarId index) {
  std::optional<SizeId> out;
  each_of_constant_loops(p, x.body, [&](const Stmt& s) {
    const auto* store = std::get_if<Store>(&s.node);
    for (std::size_t k = 0; store && k < store->indices.size(); ++k) {
      const auto* at = std::get_if<Get>(&p[store->indices[k]].node);
      if (at && at->scalar == index && varying.arrays.contains(store->buffer)) out = p[store->buffer].axes[k];
    }
  });
  return out;
}

bool adds_functions_up(const Program& p, const Varying& varying, const For& x) {
  bool calls = false, alone = true;
  for (const Stmt& s : x.body) {
    const auto* sum = std::get_if<Accumulate>(&s.node);
    alone = alone && sum && varying.scalars.contains(sum->scalar);
    calls = calls || (sum && varying.holds(p, sum->value) && calls_function(p, sum->value));
  }
  const auto on_expr = [&](ExprId e) {
    const auto* from = std::get_if<Load>(&p[e].node);
    alone = alone && !(from && (!varying.holds(p, e) || varying.arrays.contains(from->buffer)));
  };
  Walk{p, on_expr, [](BufferId, bool) {}}.block(x.body);
  return calls && alone;
}

}  // namespace lehr::loops
