#include "compiler/loops/facts.h"

namespace lehr::loops {

std::optional<std::int64_t> literal(const Program& program, ExprId e) {
  const auto* constant = std::get_if<ConstI>(&program[e].node);
  return constant ? std::optional(constant->value) : std::nullopt;
}

bool is_scalar(const Program& program, ExprId e, ScalarId scalar) {
  const auto* get = std::get_if<Get>(&program[e].node);
  return get && get->scalar == scalar;
}

std::set<BufferId> filled_with_numbers(const Program& program, const Block& block) {
  std::set<BufferId> out;
  for (const Stmt& s : block) {
    if (const auto* loop = std::get_if<For>(&s.node)) out.merge(filled_with_numbers(program, loop->body));
    if (const auto* branch = std::get_if<If>(&s.node)) {
      out.merge(filled_with_numbers(program, branch->then_block));
      out.merge(filled_with_numbers(program, branch->else_block));
    }
    const auto* fill = std::get_if<Fill>(&s.node);
    const auto* value = fill ? std::get_if<ConstF>(&program[fill->value].node) : nullptr;
    if (fill && !(value && value->value == 0)) out.insert(fill->buffer);
  }
  return out;
}

}  // namespace lehr::loops
