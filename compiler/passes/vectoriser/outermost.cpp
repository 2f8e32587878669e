// Loop interchange of a nest around one sum.
// The innermost index must select rows: x[k, ...]. As the outermost index it makes each iteration read its rows
// contiguously. The nest is rotated by one loop; the others keep their order.
#include "compiler/passes/vectoriser/outermost.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/cost_model.h"
#include "compiler/loops/facts.h"
#include "compiler/passes/vectoriser/vector_accesses.h"
#include "compiler/passes/vectoriser/vectorised.h"

namespace lehr::loops {
namespace {

/// Counts the positions of an index among the indices of accesses.
struct IndexPositions {
  int rows = 0, columns = 0;  // arrays with the index first, and with it last or with rows that are too long
  bool elsewhere = false;     // true if it is in another position, in several, or part of an expression

  /// Counts an access to an array.
  void note(const Program& p, BufferId b, const IterationAccess& x) {
    const auto mentioned = std::ranges::count_if(x.axes, [](Dependence d) { return d != Dependence::none; });
    if (mentioned == 0) return;
    const bool first = x.axes.front() == Dependence::index, last = x.axes.back() == Dependence::index;
    if (mentioned > 1 || !(first || last)) elsewhere = true;
    else if (x.axes.size() > 1 && last) ++columns;
    else if (x.axes.size() > 1) is_row(p, b) ? ++rows : ++columns;
  }

 private:
  /// Returns true if the rows of the array are short enough for private copies in all iterations.
  static bool is_row(const Program& p, BufferId b) {
    return has_constant_extents(p, p[b]) && row_elements(p, b) <= p.thresholds[kCopiedElements];
  }
};

/// Returns the positions of the index in the accesses of a statement.
IndexPositions positions_of(const Program& p, const Stmt& sum, ScalarId index) {
  IndexPositions out;
  const Accesses accesses(p, {&sum, 1}, {{index}, {}}, index);
  for (const auto& [array, all] : accesses.all())
    for (const IterationAccess& x : all)
      out.note(p, array, x);
  return out;
}

/// Returns true if the statement adds to a scalar or to an element of an array.
bool is_sum(const Stmt& s) {
  const auto* store = std::get_if<Store>(&s.node);
  return std::holds_alternative<Accumulate>(s.node) || (store && store->accumulate);
}

}  // namespace

std::optional<Stmt> interchanged(const Program& p, const Stmt& nest) {
  std::vector<const For*> loops;
  const Stmt* inner = &nest;
  while (const auto* loop = std::get_if<For>(&inner->node)) {
    if (loop->step != 1 || literal(p, loop->begin) != 0 || !literal(p, loop->end) || loop->body.size() != 1) return {};
    loops.push_back(loop);
    inner = &loop->body[0];
  }
  if (loops.size() < 2 || !is_sum(*inner) || *literal(p, loops.back()->end) < p.thresholds[kFillsVector]) return {};
  const IndexPositions positions = positions_of(p, *inner, loops.back()->index);
  if (positions.elsewhere || positions.rows == 0 || positions.rows < positions.columns) return {};
  std::ranges::rotate(loops, loops.end() - 1);
  Stmt out = *inner;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    For around{(*loop)->index, (*loop)->begin, (*loop)->end, {}, (*loop)->independent};
    around.body.push_back(std::move(out));
    out.node = std::move(around);
  }
  return out;
}

}  // namespace lehr::loops
