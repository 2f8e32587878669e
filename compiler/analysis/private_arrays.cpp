// Tests for arrays that are filled before they are read; see the header for their exact meaning.
#include "compiler/analysis/private_arrays.h"

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/effects.h"
#include "compiler/loops/facts.h"

namespace lehr::loops {
bool fills(const Program& p, const Stmt& s, BufferId b) {
  if (const auto* fill = std::get_if<Fill>(&s.node)) return fill->buffer == b;
  const auto* loop = std::get_if<For>(&s.node);
  return loop && p[b].axes.size() == 1 && fills_rows(p, *loop, b);
}

bool fills_rows(const Program& p, const For& loop, BufferId b) {
  const bool stops_early = std::ranges::any_of(loop.body, has_break);
  if (stops_early || !runs_over(p, loop, p[b].axes.back()) || !Accesses(p, loop).is_own(b, p[b].axes.size() - 1))
    return false;
  for (const Stmt& x : loop.body) {
    const auto* store = std::get_if<Store>(&x.node);
    // The first mention of the array in the body must be the store of the element at the loop's index.
    const bool whole =
        store && store->buffer == b && !store->accumulate && is_scalar(p, store->indices.back(), loop.index);
    if (whole) return !effects_of(p, store->value).loads.contains(b);
    if (mentions(p, x, b)) return false;
  }
  return false;
}

bool is_filled_first(const Program& p, const Block& block, BufferId b) {
  for (const Stmt& s : block) {
    if (!mentions(p, s, b)) continue;
    if (fills(p, s, b)) return true;
    if (!is_filled_first_inside(p, s, b)) return false;
  }
  return true;
}

bool is_filled_first_inside(const Program& p, const Stmt& s, BufferId b) {
  const auto reads = [&](ExprId e) { return effects_of(p, e).loads.contains(b); };
  if (const auto* loop = std::get_if<For>(&s.node))
    return !reads(loop->begin) && !reads(loop->end) && is_filled_first(p, loop->body, b);
  const auto* branch = std::get_if<If>(&s.node);
  return branch && !reads(branch->condition) && is_filled_first(p, branch->then_block, b) &&
         is_filled_first(p, branch->else_block, b);
}

}  // namespace lehr::loops
