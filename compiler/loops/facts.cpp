// Questions about single types, expressions, statements and blocks (facts.h). Those about whole expressions use Walk,
// which visits a shared subexpression once.
#include "compiler/loops/facts.h"

#include <algorithm>

#include "compiler/loops/walk.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {

std::optional<std::int64_t> literal(const Program& program, ExprId e) {
  const auto* constant = std::get_if<ConstI>(&program[e].node);
  return constant ? std::optional(constant->value) : std::nullopt;
}

bool is_scalar(const Program& program, ExprId e, ScalarId scalar) {
  const auto* get = std::get_if<Get>(&program[e].node);
  return get && get->scalar == scalar;
}

bool is_function_call(const Program& program, ExprId e) {
  const auto* call = std::get_if<Unary>(&program[e].node);
  return call && call->op >= UnaryOp::exp && call->op <= UnaryOp::lgamma;
}
bool calls_function(const Program& program, ExprId e) {
  bool out = false;
  const auto look = [&](ExprId x) { out = out || is_function_call(program, x); };
  Walk{program, look, [](BufferId, bool) {}}.expr(e);
  return out;
}

bool mentions(const Program& program, ExprId e, const std::set<ScalarId>& scalars) {
  bool out = false;
  Walk{program, [](ExprId) {}, [](BufferId, bool) {}, [&](ScalarId s, ScalarUse) { out = out || scalars.contains(s); }}
      .expr(e);
  return out;
}

bool loads(const Program& program, ExprId e) {
  bool out = false;
  Walk{program, [](ExprId) {}, [&](BufferId, bool) { out = true; }}.expr(e);
  return out;
}

ExprId value_of(const Stmt& s) {
  return std::visit(Overloaded{[](const Let& x) { return x.value; }, [](const Local& x) { return x.initial; },
                               [](const Assign& x) { return x.value; }, [](const Accumulate& x) { return x.value; },
                               [](const Store& x) { return x.value; }, [](const auto&) { return ExprId(); }},
                    s.node);
}

bool calls_function(const Program& program, const Stmt& s) {
  const ExprId value = value_of(s);
  return value.valid() && calls_function(program, value);
}

bool has_loop(const Stmt& s) {
  const auto* branch = std::get_if<If>(&s.node);
  return std::holds_alternative<For>(s.node) ||
         (branch && (has_loop(branch->then_block) || has_loop(branch->else_block)));
}
bool has_loop(const Block& b) {
  return std::ranges::any_of(b, [](const Stmt& s) { return has_loop(s); });
}

std::optional<ScalarId> declared(const Stmt& s) {
  if (const auto* let = std::get_if<Let>(&s.node)) return let->scalar;
  const auto* local = std::get_if<Local>(&s.node);
  return local ? std::optional(local->scalar) : std::nullopt;
}

std::set<BufferId> filled_nonzero(const Program& program, const Block& block) {
  std::set<BufferId> out;
  for (const Stmt& s : block) {
    if (const auto* loop = std::get_if<For>(&s.node)) out.merge(filled_nonzero(program, loop->body));
    if (const auto* branch = std::get_if<If>(&s.node)) {
      out.merge(filled_nonzero(program, branch->then_block));
      out.merge(filled_nonzero(program, branch->else_block));
    }
    const auto* fill = std::get_if<Fill>(&s.node);
    const auto* value = fill ? std::get_if<ConstF>(&program[fill->value].node) : nullptr;
    if (fill && !(value && value->value == 0)) out.insert(fill->buffer);
  }
  return out;
}

bool is_scratch(const Buffer& b) { return b.role == Role::scratch || b.role == Role::natural; }

std::vector<BufferId> scratch_of(const Program& p, const ParallelRegion& phase) {
  const Function& f = p.functions[phase.function];
  const std::set<BufferId> own(f.local_arrays.begin(), f.local_arrays.end());
  std::set<BufferId> out;
  const auto on_buffer = [&](BufferId b, bool) {
    if (!own.contains(b) && b != phase.sums && is_scratch(p[b])) out.insert(b);
  };
  Walk{p, [](ExprId) {}, on_buffer}.block(f.body);
  return {out.begin(), out.end()};
}

}  // namespace lehr::loops
