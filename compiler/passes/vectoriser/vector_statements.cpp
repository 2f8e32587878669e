// Statements of a vectorised loop (vectorised.h), branches included.
// A store under a mask keeps the old value where the mask is 0; an addition adds 0 there.
#include "compiler/passes/vectoriser/vector_statements.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/loops/facts.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {

Block VectorStatements::block(const Block& b, const Mask& m) {
  Block out;
  std::vector<const Stmt*> together;  // consecutive private statements, which share one loop over the iterations
  const auto flush = [&] {
    for_each_iteration(out, [&](Block& to) {
      for (const Stmt* s : together)
        to.push_back(*private_statement(*s, m));
    });
    together.clear();
  };
  // In the unrolled form, functions are evaluated in a loop over the iterations, which LLVM vectorises.
  const bool separates_calls = unrolled() && has_loop(b);
  for (const Stmt& s : b) {
    if (const std::optional<ExprId> call = separates_calls ? called(s) : std::nullopt) {
      flush();
      evaluate_calls(*call, m, out);
    }
    if (is_private(s)) {
      together.push_back(&s);
      if (!call_results_.empty()) flush();
    } else {
      // A let that all iterations share depends on shared values only, so it needs no flush.
      if (!std::holds_alternative<Let>(s.node)) flush();
      std::visit([&](const auto& node) { of(node, m, out); }, s.node);
    }
    call_results_.clear();
  }
  flush();
  return out;
}

// ---- private scalars, arrays and sums ----

std::optional<ExprId> VectorStatements::called(const Stmt& s) const {
  const ExprId value = value_of(s);
  const bool is_separate = value.valid() && p_[value].type == Type::f64 && varies(value) && calls_function(p_, value);
  return is_separate ? std::optional(value) : std::nullopt;
}

void VectorStatements::evaluate_calls(ExprId call, const Mask& m, Block& out) {
  const BufferId values = array("called", {}, Type::f64);
  in_loop(
      out, [&](Block& to) { to.push_back(put(values, {}, translate(call, m))); }, true);
  call_results_[call] = values;
}

bool VectorStatements::is_private(const Stmt& s) const {
  return std::visit(Overloaded{[&](const Store& x) { return is_row(x.buffer) || is_sum(x); },
                               [&](const Let& x) { return varying_.scalars.contains(x.scalar); },
                               [&](const Local& x) { return varying_.scalars.contains(x.scalar); },
                               [&](const Assign& x) { return varying_.scalars.contains(x.scalar); },
                               [&](const Accumulate& x) { return varying_.scalars.contains(x.scalar); },
                               [](const auto&) { return false; }},
                    s.node);
}

bool VectorStatements::is_sum(const Store& x) const {
  return x.accumulate && p_[x.buffer].role == Role::statistic && has_constant_extents(p_, p_[x.buffer]) &&
         (how_.unrolled || constant_extents(p_, x.buffer) <= p_.thresholds[kCopiedElements]) &&
         std::ranges::none_of(x.indices, [&](ExprId e) { return varies(e); });
}

std::optional<Stmt> VectorStatements::private_statement(const Stmt& s, const Mask& m) {
  using Made = std::optional<Stmt>;
  return std::visit(
      Overloaded{[&](const Let& x) -> Made { return put(private_copy(x.scalar), {}, translate(x.value, m)); },
                 [&](const Local& x) -> Made {
                   declared_[x.scalar] = m.array;
                   return put(private_copy(x.scalar), {}, translate(x.initial, m));
                 },
                 [&](const Assign& x) -> Made { return changed(x.scalar, x.value, false, m); },
                 [&](const Accumulate& x) -> Made { return changed(x.scalar, x.value, true, m); },
                 [&](const Store& x) -> Made { return stored(x, m); }, [](const auto&) -> Made { return {}; }},
      s.node);
}

Stmt VectorStatements::changed(ScalarId s, ExprId to, bool accumulate, const Mask& m) {
  // A scalar that is declared under this mask is never read outside of it.
  const bool always = declared_.contains(s) && declared_.at(s) == m.array;
  return masked(private_copy(s), {}, translate(to, m), accumulate, always, m);
}

Stmt VectorStatements::stored(const Store& x, const Mask& m) {
  if (const auto row = transposed_.find(x.buffer); row != transposed_.end())
    return put(row->second, {x.indices.back()}, translate(x.value, m), x.accumulate);
  if (const auto row = row_copies_.find(x.buffer); row != row_copies_.end()) {
    const std::vector<ExprId> at(x.indices.begin() + 1, x.indices.end());
    return masked(row->second, at, translate(x.value, m), x.accumulate, all_active(m), m);
  }
  if (varying_.arrays.contains(x.buffer)) {
    return masked(private_copy(x.buffer, of_array_), indices(x.indices, m), translate(x.value, m), x.accumulate,
                  is_never_read(x, m), m);
  }
  // Sums: the unrolled form adds to the array directly, the lane form to a private copy.
  if (how_.unrolled && all_active(m)) return Stmt{Store{x.buffer, x.indices, translate(x.value, m), true}};
  if (!how_.unrolled) return masked(private_copy(x.buffer, sums_), x.indices, translate(x.value, m), true, false, m);
  return Stmt{
      Store{x.buffer, x.indices, select(is_active(m), translate(x.value, m), zero(p_[x.buffer].element)), true}};
}

Stmt VectorStatements::masked(BufferId b, std::vector<ExprId> at, ExprId to, bool accumulate, bool always,
                              const Mask& m) {
  if (!always && m.array.valid()) to = select(is_active(m), to, accumulate ? zero(p_[b].element) : of_iteration(b, at));
  return put(b, std::move(at), to, accumulate);
}

bool VectorStatements::is_never_read(const Store& x, const Mask& m) const {
  return !m.by_branch && std::ranges::all_of(m.ranges, [&](ScalarId index) {
    return std::ranges::any_of(x.indices, [&](ExprId e) {
      const auto* n = std::get_if<Get>(&p_[e].node);
      return n && n->scalar == index;
    });
  });
}

Block VectorStatements::added_up(BufferId sum, BufferId copies) {
  const Nest nest = over(p_[sum].axes);
  const ScalarId all = scalar("all", Type::f64);
  Block inner{Stmt{Local{all, f(0)}}};
  for_each_iteration(
      inner,
      [&](Block& to) {
        to.push_back(Stmt{Accumulate{all, of_iteration(copies, nest.at)}});
      },
      false);
  inner.push_back(Stmt{Store{sum, nest.at, get(all), true}});
  return nested(nest, std::move(inner));
}

// ---- branches, and what iterations share ----

void VectorStatements::of(const If& x, const Mask& m, Block& out) {
  if (!varies(x.condition)) {
    Block then_block = block(x.then_block, m), else_block = block(x.else_block, m);
    return out.push_back(Stmt{If{x.condition, std::move(then_block), std::move(else_block), x.rare}});
  }
  // If-conversion: each side is executed under a mask of the iterations that take it.
  for (const bool side : {true, false}) {
    const Block& branch = side ? x.then_block : x.else_block;
    if (branch.empty()) continue;
    const Mask chosen{array("chosen", {}, Type::i64), m.ranges, true};
    for_each_iteration(out, [&](Block& to) {
      ExprId here = translate(x.condition, m);
      if (!side) here = make(Type::boolean, Unary{UnaryOp::logical_not, here});
      if (m.array.valid()) here = both(is_active(m), here);
      to.push_back(put(chosen.array, {}, select(here, i(1), i(0))));
    });
    Block inside = block(branch, chosen);
    // Loops are skipped if no iteration takes this side; other statements cost less than the test.
    if (has_loop(branch)) if_any(chosen, std::move(inside), out, x.rare);
    else append(out, std::move(inside));
  }
}

void VectorStatements::if_any(const Mask& m, Block then, Block& out, bool rare) {
  const ScalarId any = scalar("any", Type::i64);
  out.push_back(Stmt{Local{any, i(0)}});
  for_each_iteration(
      out,
      [&](Block& to) {
        to.push_back(Stmt{Assign{any, binary(BinaryOp::maximum, get(any), of_iteration(m.array))}});
      },
      false);
  out.push_back(Stmt{If{less(i(0), get(any)), std::move(then), {}, rare}});
}

void VectorStatements::if_active(const Mask& m, Stmt s, Block& to) {
  if (!m.array.valid()) to.push_back(std::move(s));
  else to.push_back(Stmt{If{is_active(m), {std::move(s)}, {}}});
}

void VectorStatements::of(const Store& x, const Mask& m, Block& out) {
  if (is_scratch(p_[x.buffer])) return out.push_back(Stmt{x});
  for_each_iteration(
      out,
      [&](Block& to) {
        if_active(m, Stmt{Store{x.buffer, indices(x.indices, m), translate(x.value, m), x.accumulate}}, to);
      },
      // Iterations may store in any order if none is masked and no two add to the same element.
      are_full() && (!x.accumulate || is_consecutive(x.indices)));
}

void VectorStatements::of(const Fill& x, const Mask& m, Block& out) {
  if (!varying_.arrays.contains(x.buffer)) return out.push_back(Stmt{x});
  const Nest nest = over(p_[x.buffer].axes);
  Block inner;
  for_each_iteration(inner, [&](Block& to) {
    to.push_back(masked(private_copy(x.buffer, of_array_), nest.at, translate(x.value, m), false, all_active(m), m));
  });
  append(out, nested(nest, std::move(inner)));
}

void VectorStatements::of(const Fail& x, const Mask& m, Block& out) {
  if (m.array.valid()) if_any(m, {Stmt{x}}, out, true);
  else out.push_back(Stmt{x});
}

}  // namespace lehr::loops
