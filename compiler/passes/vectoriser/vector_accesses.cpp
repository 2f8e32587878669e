// Analyses of loads and stores of a vectorised loop, by walks over its statements.
#include "compiler/passes/vectoriser/vector_accesses.h"

#include <algorithm>
#include <map>

#include "compiler/analysis/cost_model.h"
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

/// What the iterations of a loop load from and store to arrays, statement by statement.
class Accesses {
 public:
  /// What is known of an array.
  struct RowAccesses {
    bool fits = true;                        // true while every access is to the row of the iteration's index
    std::optional<std::size_t> first_store;  // number of the first statement that stores to the array
    bool is_covered = false;                 // true if that statement stores the whole row and loads nothing of it
  };

  Accesses(const Program& p, const Varying& varying, ScalarId index) : p_(p), varying_(varying), index_(index) {}

  /// Adds the accesses of statement `number` of the body.
  void note(const Stmt& s, std::size_t number) {
    SmallIdSet<BufferId> loaded, stored;
    const auto on_expr = [&](ExprId e) {
      const auto* x = std::get_if<Load>(&p_[e].node);
      if (!x) return;
      loaded.insert(x->buffer);
      access(x->buffer, x->indices);
    };
    const auto on_buffer = [&](BufferId b, bool is_stored) {
      if (is_stored) stored.insert(b);
    };
    Walk walk{p_, on_expr, on_buffer};
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
    each_statement({s}, [&](const Stmt& inner) {
      if (const auto* x = std::get_if<Store>(&inner.node)) access(x->buffer, x->indices);
      if (const auto* x = std::get_if<Fill>(&inner.node)) rows_[x->buffer].fits = false;
    });
    for (const BufferId b : stored) {
      RowAccesses& row = rows_[b];
      if (row.first_store) continue;
      row.first_store = number;
      row.is_covered = !loaded.contains(b) && covers(s, b, {});
    }
  }

  /// Returns the arrays that were accessed.
  const std::map<BufferId, RowAccesses>& rows() const { return rows_; }

 private:
  /// Adds an access of array `b` at the indices `at`.
  void access(BufferId b, const std::vector<ExprId>& at) {
    const std::vector<SizeId>& axes = p_[b].axes;
    const bool fits = at.size() > 1 && !is_scratch(p_[b]) && is_scalar(p_, at[0], index_) &&
                      std::none_of(at.begin() + 1, at.end(), [&](ExprId e) { return varying_.is_varying(p_, e); }) &&
                      std::all_of(axes.begin() + 1, axes.end(), [&](SizeId s) { return p_[s].constant > 0; }) &&
                      row_elements(p_, b) <= p_.thresholds[kCopiedElements];
    RowAccesses& row = rows_[b];
    row.fits = row.fits && fits;
  }

  /// Returns true if the statement stores every element of the row of array `b`. `loops`: the loops around it.
  bool covers(const Stmt& s, BufferId b, std::vector<const For*> loops) const {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      loops.push_back(loop);
      return loop->step == 1 && literal(p_, loop->begin) == 0 &&
             std::ranges::any_of(loop->body, [&](const Stmt& x) { return covers(x, b, loops); });
    }
    const auto* store = std::get_if<Store>(&s.node);
    if (!store || store->buffer != b || store->accumulate || loops.size() + 1 != store->indices.size()) return false;
    for (std::size_t k = 1; k < store->indices.size(); ++k) {
      const auto along = [&](const For* loop) { return is_scalar(p_, store->indices[k], loop->index); };
      const auto loop = std::ranges::find_if(loops, along);
      if (loop == loops.end() || literal(p_, (*loop)->end) != p_[p_[b].axes[k]].constant) return false;
    }
    return true;
  }

  const Program& p_;
  const Varying& varying_;
  const ScalarId index_;
  std::map<BufferId, RowAccesses> rows_;
};

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
    if (const auto* store = std::get_if<Store>(&s.node); store && all) add_indices(store->indices);
    Walk walk{p,
              [&](ExprId e) {
                if (const auto* l = std::get_if<Load>(&p[e].node)) add_indices(l->indices);
              },
              [](BufferId, bool) {}};
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
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
  Accesses all(p, varying, loop.index);
  std::vector<IterationRow> out;
  for (std::size_t k = 0; k < loop.body.size(); ++k)
    all.note(loop.body[k], k);
  const bool of_phase = trip_count_of_region(p, loop).has_value();
  for (const auto& [b, row] : all.rows()) {
    if (!row.fits || (row.first_store && !row.is_covered && !of_phase)) continue;
    out.push_back({b, row.is_covered ? *row.first_store : 0, !row.is_covered, row.first_store.has_value()});
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
