// Translation of expressions for one iteration of a vectorised loop (side_by_side.h).
// An expression that is the same for all iterations stays as it is. Translations are cached by expression, mask and
// iteration.
#include "compiler/passes/turn_values.h"

#include <utility>
#include <variant>

#include "compiler/support/overloaded.h"

namespace lehr::loops {

BufferId TurnValues::copies(ScalarId s) {
  const auto [it, made] = of_scalar_.try_emplace(s);
  if (made) it->second = array(p_[s].name, {}, p_[s].type);
  return it->second;
}

BufferId TurnValues::copies(BufferId b, std::map<BufferId, BufferId>& all) {
  const auto [it, made] = all.try_emplace(b);
  if (made) it->second = array(p_[b].name, p_[b].axes, p_[b].element);
  return it->second;
}

std::vector<ExprId> TurnValues::place(const std::vector<ExprId>& at, const Mask& m) {
  std::vector<ExprId> out;
  for (const ExprId e : at) {
    if (const auto row = rows_.find(e); row != rows_.end()) out.push_back(of_turn(row->second.array, row->second.at));
    else out.push_back(clamped(e, m));
  }
  return out;
}

ExprId TurnValues::clamped(ExprId e, const Mask& m) {
  return !varies(e) || all_come(m) ? value(e, m) : select(in(m), value(e, m), i(0));
}

ExprId TurnValues::value(const Get& x) {
  // Without masked lanes the index is the first one of the group plus the number of the iteration.
  if (are_full() && x.scalar == loop_.index) return binary(BinaryOp::add, get(first_), turn());
  return of_turn(copies(x.scalar));
}

ExprId TurnValues::value(const Load& x, const Mask& m) {
  if (const auto row = turned_.find(x.buffer); row != turned_.end()) return of_turn(row->second, {x.indices.back()});
  if (const auto row = of_item_.find(x.buffer); row != of_item_.end())
    return of_turn(row->second, {x.indices.begin() + 1, x.indices.end()});
  std::vector<ExprId> at = place(x.indices, m);
  if (varying_.arrays.contains(x.buffer)) return of_turn(copies(x.buffer, of_array_), std::move(at));
  return load(x.buffer, std::move(at));
}

ExprId TurnValues::value(ExprId e, const Mask& m) {
  if (!varies(e)) return e;
  if (const auto all = called_.find(e); all != called_.end()) return of_turn(all->second);
  if (const auto row = laid_out_.find(e); row != laid_out_.end())
    return load(row->second, {turn(), std::get<Load>(p_[e].node).indices.back()});
  const auto key = std::tuple(e, m.array, turn_key());
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  const Expr x = p_[e];
  const auto sub = [&](ExprId of) { return value(of, m); };
  const ExprId out = std::visit(
      Overloaded{
          [&](const Get& n) { return value(n); }, [&](const Load& n) { return value(n, m); },
          [&](const Unary& n) {
            return make(x.type, Unary{n.op, sub(n.operand)});
          },
          [&](const Binary& n) {
            return make(x.type, Binary{n.op, sub(n.left), sub(n.right)});
          },
          [&](const Select& n) {
            return make(x.type, Select{sub(n.condition), sub(n.if_true), sub(n.if_false)});
          },
          [&](const Random& n) {
            return make(x.type, Random{n.noise, n.key, n.site, sub(n.element), sub(n.component), sub(n.a), sub(n.b)});
          },
          [&](const auto&) { return e; }},
      x.node);
  return made_[key] = out;
}

}  // namespace lehr::loops
