// Indices and rows that a vectorised loop (vectorised.h) prepares before inner loops read them.
// An index that is loaded from memory, as in table[id[n], k], is evaluated once for each iteration before the loop over
// k. Rows of shared arrays are copied so that lanes read neighbouring elements.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vector_accesses.h"
#include "compiler/passes/vectoriser/vector_values.h"

namespace lehr::loops {

std::vector<ExprId> VectorValues::loaded_indices(const For& x, std::optional<ScalarId> index, bool all) const {
  std::vector<ExprId> out = loops::loaded_indices(p_, varying_, x, index, all);
  std::erase_if(out, [&](ExprId e) { return hoisted_indices_.contains(e); });
  return out;
}

std::vector<ExprId> VectorValues::hoist_indices(const For& x, const Mask& m, Block& out) {
  if (!has_iterations(p_, x)) return {};
  return store_indices(loaded_indices(x, std::nullopt, true), {}, {}, m, out);
}

std::vector<ExprId> VectorValues::store_indices(const std::vector<ExprId>& expressions, const std::vector<SizeId>& axes,
                                                const std::vector<ExprId>& at, const Mask& m, Block& out) {
  std::map<ExprId, HoistedIndex> hoisted;
  for_each_iteration(out, [&](Block& to) {
    for (const ExprId e : expressions) {
      const HoistedIndex& hoisted_index =
          hoisted.try_emplace(e, HoistedIndex{array("row", axes, Type::i64), at}).first->second;
      to.push_back(put(hoisted_index.array, at, clamped(e, m)));
    }
  });
  hoisted_indices_.insert(hoisted.begin(), hoisted.end());
  return expressions;
}

void VectorValues::forget_indices(const std::vector<ExprId>& expressions) {
  for (const ExprId e : expressions)
    hoisted_indices_.erase(e);
}

bool VectorValues::runs_along(const For& x, ExprId e) const {
  const auto* l = std::get_if<Load>(&p_[e].node);
  if (!l || l->indices.empty() || !varying_.arrays.contains(l->buffer)) return false;
  const auto* along = std::get_if<Get>(&p_[l->indices.back()].node);
  if (!along || along->scalar != x.index) return false;
  return std::none_of(l->indices.begin(), l->indices.end() - 1, [&](ExprId at) {
    bool mentioned = varies(at);
    Walk{p_, [](ExprId) {}, [](BufferId, bool) {},
         [&](ScalarId s, ScalarUse) { mentioned = mentioned || s == x.index; }}
        .expr(at);
    return mentioned;
  });
}

void VectorValues::privatise_row(const IterationRow& row, Block& out) {
  const std::vector<SizeId> axes(p_[row.array].axes.begin() + 1, p_[row.array].axes.end());
  row_copies_[row.array] = array(p_[row.array].name + ".row", axes, p_[row.array].element);
  if (row.copy_in) copy_row(row.array, false, out);
}

void VectorValues::copy_row(BufferId b, bool back, Block& out) {
  const std::vector<SizeId> axes(p_[b].axes.begin() + 1, p_[b].axes.end());
  const BufferId row = row_copies_.at(b);
  const Nest nest = over(axes);
  Block column;
  for_each_iteration(column, [&](Block& to) {
    std::vector<ExprId> at{translate(get(loop_.index), {})};
    at.insert(at.end(), nest.at.begin(), nest.at.end());
    to.push_back(back ? Stmt{Store{b, at, of_iteration(row, nest.at), false}} : put(row, nest.at, load(b, at)));
  });
  append(out, nested(nest, std::move(column)));
}

void VectorValues::make_rows_contiguous(const For& x, const Mask& m, Block& out) {
  std::vector<ExprId> row_loads;
  const auto on_expr = [&](ExprId e) {
    if (runs_along(x, e) && !std::ranges::count(row_loads, e)) row_loads.push_back(e);
  };
  Walk{p_, on_expr, [](BufferId, bool) {}}.block(x.body);
  for (const ExprId e : row_loads) {
    const BufferId from = std::get<Load>(p_[e].node).buffer;
    const BufferId rows = array_as_given(fmt::format("group.{}.rows.{}", p_[from].name, p_.buffers.size()),
                                         {group_size_, p_[from].axes.back()}, p_[from].element);
    Block column;
    for_each_iteration(column, [&](Block& to) {
      to.emplace_back().node = Store{rows, {iteration(), get(x.index)}, translate(e, m), false};
    });
    out.push_back(Stmt{For{x.index, x.begin, x.end, std::move(column), false, x.step}});
    contiguous_rows_[e] = rows;
  }
}

}  // namespace lehr::loops
