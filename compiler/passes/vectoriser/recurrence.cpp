// Detection of recurrences by the form of indices: an array is stored at [t] and loaded at an expression of t, like [t
// - 1].
// A loop that counts down (varying.h) has the scalar of its countdown as index.
#include "compiler/passes/vectoriser/recurrence.h"

#include <algorithm>

#include "compiler/analysis/accesses.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vectorised.h"

namespace lehr::loops {
namespace {

/// Returns true if an iteration of the loop loads scratch that another iteration stores: stores are at its index along
/// an axis, and a load is at another expression of it.
bool recurs(const Program& p, const For& loop) {
  const ScalarId index = countdown(p, loop).value_or(loop.index);
  const Accesses accesses(p, loop.body, {{index}, {}}, index);
  return std::ranges::any_of(accesses.all(), [&](const auto& of_array) {
    const auto& [array, all] = of_array;
    if (!is_scratch(p[array])) return false;
    for (std::size_t axis = 0; axis < p[array].axes.size(); ++axis) {
      bool stored = false, elsewhere = false;
      for (const IterationAccess& x : all) {
        if (x.kind == AccessKind::fill) continue;
        if (x.loads()) elsewhere = elsewhere || x.axes[axis] > Dependence::index;
        else stored = stored || x.axes[axis] == Dependence::index;
      }
      if (stored && elsewhere) return true;
    }
    return false;
  });
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
