#include "compiler/passes/own_arrays.h"

#include "compiler/loops/facts.h"
#include "compiler/passes/effects.h"

namespace lehr::loops {
bool fills(const Program& p, const Stmt& s, BufferId b) {
  if (const auto* fill = std::get_if<Fill>(&s.node)) return fill->buffer == b;
  const auto* loop = std::get_if<For>(&s.node);
  if (!loop || p[b].axes.size() != 1) return false;
  if (literal(p, loop->begin) != 0 || literal(p, loop->end) != p[p[b].axes[0]].constant) return false;
  for (const Stmt& x : loop->body) {
    const auto* store = std::get_if<Store>(&x.node);
    const bool whole =
        store && store->buffer == b && !store->accumulate && is_scalar(p, store->indices[0], loop->index);
    if (whole) return !effects_of(p, Stmt{Let{loop->index, store->value}}).loads.contains(b);
    if (mentions(p, x, b)) return false;
  }
  return false;
}

bool is_filled_first(const Program& p, const Block& block, BufferId b) {
  for (const Stmt& s : block) {
    if (!mentions(p, s, b)) continue;
    if (fills(p, s, b)) return true;
    const auto* loop = std::get_if<For>(&s.node);
    const auto* branch = std::get_if<If>(&s.node);
    if (loop && is_filled_first(p, loop->body, b)) continue;
    if (branch && is_filled_first(p, branch->then_block, b) && is_filled_first(p, branch->else_block, b)) continue;
    return false;
  }
  return true;
}

}  // namespace lehr::loops
