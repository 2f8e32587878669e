// The pass `contract-arrays`: array contraction for expected statistics that are private to an iteration over items.
// An array with a row for each item goes through memory. One row is enough if every loop over items fills its row
// before it reads it, and nothing else reads the array. That row stays in the cache.
//   for n: for k: E[n, k] = f(k)   for k: s += E[n, k]
//   becomes   for n: for k: row[k] = f(k)   for k: s += row[k]
//
// Array contraction.
// First all arrays of expected statistics with a row for each item are candidates. Those with an access that is not to
// a row of a loop (slices.h) are dropped, function by function. In each function the others become one local row.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/analysis/rewrite.h"

namespace lehr::loops {
namespace {

/// Returns the arrays of expected statistics with a first axis of run-time size and rows of constant extents.
SmallIdSet<BufferId> candidates_in(const Program& p) {
  SmallIdSet<BufferId> out;
  for (std::size_t k = 0; k < p.buffers.size(); ++k) {
    const Buffer& b = p.buffers[k];
    if (b.role != Role::expectation || b.element != Type::f64 || b.axes.empty() || p[b.axes[0]].constant >= 0) continue;
    std::int64_t elements = 1;
    for (std::size_t axis = 1; axis < b.axes.size(); ++axis)
      elements = std::min(p.thresholds[kCopiedElements] + 1,
                          elements * std::max<std::int64_t>(p[b.axes[axis]].constant, -p.thresholds[kCopiedElements]));
    if (elements > 0 && elements <= p.thresholds[kCopiedElements]) out.insert(BufferId(k));
  }
  return out;
}

/// Returns the slices of the loop (slices.h) that are rows of candidates.
Slices rows_of(const Program& p, const For& loop, const SmallIdSet<BufferId>& candidates) {
  Slices out;
  for (const auto& [b, slice] : slices_of(p, loop))
    if (slice.axis == 0 && candidates.contains(b)) out[b] = slice;
  return out;
}

/// Removes the arrays that are mentioned from the candidates.
void forget(const Effects& mentioned, SmallIdSet<BufferId>& candidates) {
  for (const auto* all : {&mentioned.loads, &mentioned.stores})
    for (const BufferId b : *all)
      candidates.erase(b);
}

/// Removes candidates that the block mentions in another way than as rows of loops. `rows`: candidates that are rows of
/// the loops around.
void keep_rows(const Program& p, const Block& block, const SmallIdSet<BufferId>& rows,
               SmallIdSet<BufferId>& candidates) {
  const auto elsewhere = [&](Effects x) {
    for (const BufferId b : rows) {
      x.loads.erase(b);
      x.stores.erase(b);
    }
    forget(x, candidates);
  };
  for (const Stmt& s : block) {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      SmallIdSet<BufferId> inside = rows;
      for (const auto& [b, slice] : rows_of(p, *loop, candidates))
        inside.insert(b);
      keep_rows(p, loop->body, inside, candidates);
    } else if (const auto* branch = std::get_if<If>(&s.node)) {
      elsewhere(effects_of(p, branch->condition));
      keep_rows(p, branch->then_block, rows, candidates);
      keep_rows(p, branch->else_block, rows, candidates);
    } else {
      elsewhere(effects_of(p, s));
    }
  }
}

/// Contracts the arrays of a program.
class ArrayContraction {
 public:
  explicit ArrayContraction(Program& p) : p_(p), arrays_(candidates_in(p)) {}

  void run() {
    for (const Function& f : p_.functions)
      keep_rows(p_, f.body, {}, arrays_);
    if (arrays_.empty()) return;
    for (std::size_t k = 0; k < p_.functions.size(); ++k) {
      Block body = std::move(p_.functions[k].body);
      own_ = {};
      block(body);
      p_.functions[k].body = std::move(body);
      for (const auto& [b, row] : own_)
        p_.functions[k].local_arrays.push_back(row);
    }
    for (const BufferId b : arrays_) {
      p_.buffers[b.index()].axes.clear();
      p_.buffers[b.index()].role = Role::scratch;
    }
  }

 private:
  /// Replaces the rows in a block by the local arrays of the function.
  void block(Block& b) {
    for (Stmt& s : b) {
      if (auto* branch = std::get_if<If>(&s.node)) {
        block(branch->then_block);
        block(branch->else_block);
      }
      auto* loop = std::get_if<For>(&s.node);
      if (!loop) continue;
      Slices rows = rows_of(p_, *loop, arrays_);
      if (rows.empty()) {
        block(loop->body);
        continue;
      }
      for (auto& [array, slice] : rows)
        slice.replacement = row_of(array);
      for (Stmt& x : loop->body)
        x = with_slices(p_, rows, x);
    }
  }

  /// Returns the function's local array for a row; it is made on first use.
  BufferId row_of(BufferId of) {
    BufferId& out = own_[of];
    if (out.valid()) return out;
    out = BufferId(p_.buffers.size());
    const std::vector<SizeId> axes(p_[of].axes.begin() + 1, p_[of].axes.end());
    p_.buffers.push_back({fmt::format("row.{}.{}", p_[of].name, out.index()), Type::f64, Role::scratch, axes});
    return out;
  }

  Program& p_;
  SmallIdSet<BufferId> arrays_;       // the arrays that are contracted
  std::map<BufferId, BufferId> own_;  // local arrays of the function for rows
};

}  // namespace

/// Returns the program in which such arrays have become one row, local to each function that uses it.
/// An array qualifies if it holds expected statistics and its first axis has a run-time size. Every access must be to
/// the row of a loop's index, which one statement of that loop fills first. Rows have constant extents and at most
/// kCopiedElements elements.
Program contract_arrays(Program program) {
  ArrayContraction(program).run();
  return program;
}

}  // namespace lehr::loops
