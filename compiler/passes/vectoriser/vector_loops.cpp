// Inner loops of a vectorised loop (vectorised.h).
// An inner loop remains one loop, executed for all iterations together. There are five forms:
// * equal length: the loop with its body translated,
// * different lengths: as long as the longest, with a mask of the iterations that are still inside,
// * sums of functions in the unrolled form: one iteration after another, since the loop itself fills vectors,
// * loops whose steps wait for functions: in lanes, even in the unrolled form,
// * stores to shared arrays in the lane form: one iteration after another, so that rows are written contiguously.
#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vector_accesses.h"
#include "compiler/passes/vectoriser/vector_statements.h"

namespace lehr::loops {
void VectorStatements::of(const For& x, const Mask& m, Block& out) {
  if (unrolled() && only_sums_functions(p_, varying_, x)) return loop_by_iteration(x, m, out);
  if (unrolled() && how_.width >= p_.thresholds[kFillsVector] && waits_for_functions(p_, x)) {
    if (const auto rows = item_rows(p_, varying_, loop_.index, x)) return run_in_lanes(x, *rows, m, out);
  }
  if (varies(x.end)) return masked_loop(x, m, out);
  const std::vector<ExprId> hoisted = how_.unrolled ? std::vector<ExprId>{} : hoist_indices(x, m, out);
  if (!how_.unrolled && has_iterations(p_, x) && only_stores_shared(x)) stores_by_iteration(x, m, out);
  else out.push_back(Stmt{For{x.index, x.begin, x.end, block(x.body, m), false, x.step}});
  forget_indices(hoisted);
}

//   end[l] = n[l]; longest = max over l
//   for t in 0 .. longest: inside[l] = t < end[l]; the body under the mask `inside`
// Indices that are loaded from memory are evaluated in a loop of their own before it.
void VectorStatements::masked_loop(const For& x, const Mask& m, Block& out) {
  const BufferId ends = array("end", {}, Type::i64);
  const ScalarId longest = scalar("longest", Type::i64);
  const std::optional<ScalarId> down = countdown(p_, x);
  const ScalarId index = down.value_or(x.index);
  Mask within{array("within", {}, Type::i64), m.ranges, m.by_branch};
  within.ranges.push_back(index);
  out.push_back(Stmt{Local{longest, x.begin}});
  for_each_iteration(
      out,
      [&](Block& to) {
        const ExprId end = translate(x.end, m);
        to.push_back(put(ends, {}, all_active(m) ? end : select(is_active(m), end, x.begin)));
        to.push_back(Stmt{Assign{longest, binary(BinaryOp::maximum, get(longest), of_iteration(ends))}});
      },
      false);
  Block body, rest = x.body;
  // A countdown runs from the longest length. An iteration with a shorter one joins when the counter is below its end.
  if (down) {
    const ExprId last = binary(BinaryOp::subtract, get(longest), i(1));
    body.push_back(Stmt{Let{*down, binary(BinaryOp::subtract, last, get(x.index))}});
    rest.erase(rest.begin());
  }
  for_each_iteration(body, [&](Block& to) {
    ExprId inside = less(get(index), of_iteration(ends));
    if (m.array.valid()) inside = both(is_active(m), inside);
    to.push_back(put(within.array, {}, select(inside, i(1), i(0))));
  });
  std::vector<ExprId> hoisted;
  if (const auto steps = axis_of(p_, varying_, x, index)) {
    // These loads are in a loop before it, so that they wait for memory and nothing else.
    if (const std::vector<ExprId> loaded = loaded_indices(x, index, false); !loaded.empty()) {
      Block finding = body;
      hoisted = store_indices(loaded, {*steps}, {get(index)}, within, finding);
      out.push_back(Stmt{For{x.index, x.begin, get(longest), std::move(finding), false, x.step}});
    }
  }
  append(body, block(rest, within));
  forget_indices(hoisted);
  out.push_back(Stmt{For{x.index, x.begin, get(longest), std::move(body), false, x.step}});
}

// The rest of the body is unrolled, with private arrays row[l, e]. For this loop they are transposed, so that the lanes
// of a vector wait together for each function:
//   for e: for l: lanes[e, l] = row[l, e]      if the old contents may be read
//   for r: for l: the body on lanes[., l]
//   for e: for l: row[l, e] = lanes[e, l]      if the loop stores to it
void VectorStatements::run_in_lanes(const For& x, const ItemRows& mentioned, const Mask& m, Block& out) {
  for (const BufferId b : mentioned.scratch)
    // This makes the private arrays while their axis over iterations is still the first.
    private_copy(b, of_array_);
  in_lanes_ = true;
  for (const auto* all : {&mentioned.rows, &mentioned.scratch}) {
    for (const BufferId b : *all) {
      transposed_[b] = array(p_[b].name + ".lanes", {p_[b].axes.back()}, p_[b].element);
      if (mentioned.live_in.contains(b)) transpose_rows(b, mentioned, false, m, out);
    }
  }
  out.push_back(Stmt{For{x.index, x.begin, x.end, block(x.body, m), false, x.step}});
  for (const BufferId b : mentioned.stored)
    transpose_rows(b, mentioned, true, m, out);
  transposed_.clear();
  in_lanes_ = false;
}

void VectorStatements::transpose_rows(BufferId b, const ItemRows& mentioned, bool back, const Mask& m, Block& out) {
  const ScalarId e = scalar("e", Type::i64);
  const BufferId row = transposed_.at(b);
  Block column;
  for_each_iteration(column, [&](Block& to) {
    const bool is_private = mentioned.scratch.contains(b);
    const BufferId of = is_private ? private_copy(b, of_array_) : b;
    const std::vector<ExprId> at =
        is_private ? with_iteration(of, {get(e)}) : std::vector<ExprId>{translate(get(loop_.index), m), get(e)};
    to.push_back(back ? Stmt{Store{of, at, of_iteration(row, {get(e)}), false}} : put(row, {get(e)}, load(of, at)));
  });
  out.push_back(Stmt{For{e, i(0), i(p_[p_[row].axes[0]].constant), std::move(column), false, 1}});
}

void VectorStatements::loop_by_iteration(const For& x, const Mask& m, Block& out) {
  in_loop(
      out,
      [&](Block& to) {
        Block body;
        for (const Stmt& s : x.body)
          body.push_back(*private_statement(s, m));
        to.push_back(Stmt{For{x.index, x.begin, x.end, std::move(body), x.independent, x.step}});
      },
      false);
}

bool VectorStatements::only_stores_shared(const For& x) const {
  SmallIdSet<BufferId> stored, loaded;
  const bool stores = std::ranges::all_of(x.body, [&](const Stmt& s) {
    const auto* store = std::get_if<Store>(&s.node);
    return store && !is_scratch(p_[store->buffer]) && !is_private(s) && !is_consecutive(store->indices);
  });
  Walk{p_, [](ExprId) {}, [&](BufferId b, bool is_stored) { (is_stored ? stored : loaded).insert(b); }}.block(x.body);
  return stores && std::ranges::none_of(loaded, [&](BufferId b) { return stored.contains(b); });
}

void VectorStatements::stores_by_iteration(const For& x, const Mask& m, Block& out) {
  make_rows_contiguous(x, m, out);
  for_each_iteration(
      out,
      [&](Block& to) {
        Block body;
        for (const Stmt& s : x.body) {
          const auto& store = std::get<Store>(s.node);
          body.push_back(
              Stmt{Store{store.buffer, indices(store.indices, m), translate(store.value, m), store.accumulate}});
        }
        if_active(m, Stmt{For{x.index, x.begin, x.end, std::move(body), x.independent, x.step}}, to);
      },
      false);
  forget_layout();
}

}  // namespace lehr::loops
