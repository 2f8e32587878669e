// Analyses of loads and stores of a vectorised loop, by walks over its statements.
#include "compiler/passes/vectoriser/vector_accesses.h"

#include <algorithm>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vectorised.h"

namespace lehr::loops {
namespace {

/// Calls `body` for each statement that is executed in any case: outside of branches, and in loops with constant bounds
/// and at least one iteration.
template <class Body>
void each_of_constant_loops(const Program& p, const Block& b, const Body& body) {
  for (const Stmt& s : b) {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      if (has_iterations(p, *loop)) each_of_constant_loops(p, loop->body, body);
    } else if (!std::holds_alternative<If>(s.node)) {
      body(s);
    }
  }
}

/// Returns true if each iteration accesses only its own row of a shared array, and the row is short.
bool is_row(const Program& p, BufferId array, const std::vector<IterationAccess>& accesses) {
  const std::vector<SizeId>& axes = p[array].axes;
  const auto of_row = [](const IterationAccess& x) {
    return x.axes.size() > 1 && x.axes[0] == Dependence::index &&
           std::all_of(x.axes.begin() + 1, x.axes.end(), [](Dependence d) { return d == Dependence::none; });
  };
  return !is_scratch(p[array]) && std::ranges::all_of(accesses, of_row) &&
         std::all_of(axes.begin() + 1, axes.end(), [&](SizeId s) { return p[s].constant > 0; }) &&
         row_elements(p, array) <= p.thresholds[kCopiedElements];
}

/// Returns true if the statement stores every element of the row of array `b`. `loops`: the loops around it.
bool covers(const Program& p, const Stmt& s, BufferId b, std::vector<const For*> loops) {
  if (const auto* loop = std::get_if<For>(&s.node)) {
    loops.push_back(loop);
    return std::ranges::any_of(loop->body, [&](const Stmt& x) { return covers(p, x, b, loops); });
  }
  const auto* store = std::get_if<Store>(&s.node);
  if (!store || store->buffer != b || store->accumulate || loops.size() + 1 != store->indices.size()) return false;
  for (std::size_t k = 1; k < store->indices.size(); ++k) {
    const auto along = [&](const For* loop) {
      return is_scalar(p, store->indices[k], loop->index) && runs_over(p, *loop, p[b].axes[k]);
    };
    if (std::erase_if(loops, along) == 0) return false;
  }
  return true;
}

}  // namespace

bool has_iterations(const Program& p, const For& x) {
  const auto *begin = std::get_if<ConstI>(&p[x.begin].node), *end = std::get_if<ConstI>(&p[x.end].node);
  return begin && end && begin->value < end->value;
}

std::vector<ExprId> loaded_indices(const Program& p, const Varying& varying, const For& x,
                                   std::optional<ScalarId> index, bool all) {
  SmallIdSet<ScalarId> inner;
  SmallIdSet<BufferId> stored;
  std::vector<ExprId> out;
  // Returns true if an index changes within the loop, other than with `index`.
  const auto changes = [&](ExprId e) {
    bool yes = false;
    Walk walk{p, [](ExprId) {}, [&](BufferId b, bool) { yes = yes || stored.contains(b); },
              [&](ScalarId s, ScalarUse) { yes = yes || inner.contains(s); }};
    walk.expr(e);
    return yes;
  };
  const auto add_indices = [&](const std::vector<ExprId>& at) {
    for (const ExprId e : at) {
      if (varying.is_varying(p, e) && loads(p, e) && !changes(e) && !std::ranges::count(out, e)) out.push_back(e);
    }
  };
  Walk effects{p, [](ExprId) {},
               [&](BufferId b, bool is_stored) {
                 if (is_stored) stored.insert(b);
               },
               [&](ScalarId s, ScalarUse how) {
                 if (how != ScalarUse::read) inner.insert(s);
               }};
  effects.block(x.body);
  inner.insert(x.index);
  if (index) inner.erase(*index);
  each_of_constant_loops(p, x.body, [&](const Stmt& s) {
    each_access(p, {&s, 1}, [&](AccessKind kind, BufferId, const std::vector<ExprId>& at) {
      if (all || kind == AccessKind::load) add_indices(at);
    });
  });
  return out;
}

std::optional<std::int64_t> trip_count_of_region(const Program& p, const For& loop) {
  for (const Function& f : p.functions) {
    for (const ParallelRegion& phase : f.regions) {
      if (is_scalar(p, loop.end, p.functions[phase.function].parameters[1])) return literal(p, phase.trip_count);
    }
  }
  return std::nullopt;
}

std::int64_t row_elements(const Program& p, BufferId array) {
  std::int64_t out = 1;
  for (std::size_t k = 1; k < p[array].axes.size(); ++k)
    out *= p[p[array].axes[k]].constant;
  return out;
}

std::vector<IterationRow> iteration_rows(const Program& p, const Varying& varying, const For& loop) {
  std::vector<Effects> effects;
  for (const Stmt& s : loop.body)
    effects.push_back(effects_of(p, s));
  const bool of_phase = trip_count_of_region(p, loop).has_value();
  std::vector<IterationRow> out;
  const Accesses accesses(p, loop.body, varying, loop.index);
  for (const auto& [b, all] : accesses.all()) {
    if (!is_row(p, b, all)) continue;
    const auto first = std::ranges::find_if(effects, [&](const Effects& x) { return x.stores.contains(b); });
    const bool is_stored = first != effects.end();
    const auto number = static_cast<std::size_t>(first - effects.begin());
    const bool is_covered = is_stored && !first->loads.contains(b) && covers(p, loop.body[number], b, {});
    if (is_stored && !is_covered && !of_phase) continue;
    out.push_back({b, is_covered ? number : 0, !is_covered, is_stored});
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

bool only_sums_functions(const Program& p, const Varying& varying, const For& x) {
  bool calls = false, alone = true;
  for (const Stmt& s : x.body) {
    const auto* sum = std::get_if<Accumulate>(&s.node);
    alone = alone && sum && varying.scalars.contains(sum->scalar);
    calls = calls || (sum && varying.is_varying(p, sum->value) && calls_function(p, sum->value));
  }
  const auto on_expr = [&](ExprId e) {
    const auto* from = std::get_if<Load>(&p[e].node);
    alone = alone && !(from && (!varying.is_varying(p, e) || varying.arrays.contains(from->buffer)));
  };
  Walk{p, on_expr, [](BufferId, bool) {}}.block(x.body);
  return calls && alone;
}

}  // namespace lehr::loops
