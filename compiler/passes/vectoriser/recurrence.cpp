// Detection of recurrences by the form of indices: an array is stored at [t] and loaded at an expression of t, like [t
// - 1].
// A loop that counts down (varying.h) has the scalar of its countdown as index.
#include "compiler/passes/vectoriser/recurrence.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vectorised.h"

namespace lehr::loops {
namespace {

/// Returns true if an iteration of the loop loads scratch that another iteration stores. `stored` and `elsewhere` are
/// axes of arrays: those that stores index by t, and those that loads index by another expression of t.
bool recurs(const Program& p, const For& loop) {
  const ScalarId index = countdown(p, loop).value_or(loop.index);
  const auto is_index = [&](ExprId e) { return is_scalar(p, e, index); };
  std::set<std::pair<BufferId, std::size_t>> stored, elsewhere;
  each_statement(loop.body, [&](const Stmt& s) {
    const auto* x = std::get_if<Store>(&s.node);
    for (std::size_t k = 0; x && k < x->indices.size(); ++k) {
      if (is_scratch(p[x->buffer]) && is_index(x->indices[k])) stored.emplace(x->buffer, k);
    }
  });
  const Varying with_index{{index}, {}};
  const auto on_expr = [&](ExprId e) {
    const auto* x = std::get_if<Load>(&p[e].node);
    for (std::size_t k = 0; x && k < x->indices.size(); ++k) {
      if (!is_index(x->indices[k]) && with_index.is_varying(p, x->indices[k])) elsewhere.emplace(x->buffer, k);
    }
  };
  Walk{p, on_expr, [](BufferId, bool) {}}.block(loop.body);
  return std::ranges::any_of(stored, [&](const auto& x) { return elsewhere.contains(x); });
}

}  // namespace

bool has_recurrence(const Program& p, const For& loop) {
  bool found = false;
  each_statement(loop.body, [&](const Stmt& s) {
    const auto* inner = std::get_if<For>(&s.node);
    if (inner && !std::holds_alternative<ConstI>(p[inner->end].node)) found = found || recurs(p, *inner);
  });
  return found;
}

}  // namespace lehr::loops
