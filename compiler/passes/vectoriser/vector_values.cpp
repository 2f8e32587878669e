// Translation of expressions for one iteration of a vectorised loop (vectorised.h).
// An expression that is the same for all iterations stays as it is. Translations are cached by expression, mask and
// iteration.
#include "compiler/passes/vectoriser/vector_values.h"

#include <utility>
#include <variant>

#include "compiler/loops/walk.h"

namespace lehr::loops {

BufferId VectorValues::private_copy(ScalarId s) {
  const auto [it, made] = of_scalar_.try_emplace(s);
  if (made) it->second = array(p_[s].name, {}, p_[s].type);
  return it->second;
}

BufferId VectorValues::private_copy(BufferId b, std::map<BufferId, BufferId>& all) {
  const auto [it, made] = all.try_emplace(b);
  if (made) it->second = array(p_[b].name, p_[b].axes, p_[b].element);
  return it->second;
}

std::vector<ExprId> VectorValues::indices(const std::vector<ExprId>& at, const Mask& m) {
  std::vector<ExprId> out;
  for (const ExprId e : at) {
    if (const auto hoisted_index = hoisted_indices_.find(e); hoisted_index != hoisted_indices_.end())
      out.push_back(of_iteration(hoisted_index->second.array, hoisted_index->second.at));
    else out.push_back(clamped(e, m));
  }
  return out;
}

ExprId VectorValues::clamped(ExprId e, const Mask& m) {
  return !varies(e) || all_active(m) ? translate(e, m) : select(is_active(m), translate(e, m), i(0));
}

ExprId VectorValues::translate(const Get& x) {
  // Without masked lanes the index is the first one of the group plus the number of the iteration.
  if (are_full() && x.scalar == loop_.index) return binary(BinaryOp::add, get(first_), iteration());
  return of_iteration(private_copy(x.scalar));
}

ExprId VectorValues::translate(const Load& x, const Mask& m) {
  if (const auto row = transposed_.find(x.buffer); row != transposed_.end())
    return of_iteration(row->second, {x.indices.back()});
  if (const auto row = row_copies_.find(x.buffer); row != row_copies_.end())
    return of_iteration(row->second, {x.indices.begin() + 1, x.indices.end()});
  std::vector<ExprId> at = indices(x.indices, m);
  if (varying_.arrays.contains(x.buffer)) return of_iteration(private_copy(x.buffer, of_array_), std::move(at));
  return load(x.buffer, std::move(at));
}

ExprId VectorValues::translate(ExprId e, const Mask& m) {
  if (!varies(e)) return e;
  if (const auto all = call_results_.find(e); all != call_results_.end()) return of_iteration(all->second);
  if (const auto row = contiguous_rows_.find(e); row != contiguous_rows_.end())
    return load(row->second, {iteration(), std::get<Load>(p_[e].node).indices.back()});
  const auto key = std::tuple(e, m.array, iteration_key());
  if (const auto translated = made_.find(key); translated != made_.end()) return translated->second;
  Expr x = p_[e];
  const auto* get = std::get_if<Get>(&x.node);
  const auto* array_load = std::get_if<Load>(&x.node);
  if (!get && !array_load) each_operand(x.node, [&](ExprId& operand) { operand = translate(operand, m); });
  const ExprId out = get ? translate(*get) : array_load ? translate(*array_load, m) : make(x.type, std::move(x.node));
  return made_[key] = out;
}

}  // namespace lehr::loops
