#include "compiler/passes/unread.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/passes/effects.h"
#include "compiler/passes/rewrite.h"

namespace lehr::loops {
namespace {

std::set<BufferId> unread(const Program& p) {
  std::set<BufferId> out;
  for (std::size_t k = 0; k < p.buffers.size(); ++k)
    if (p.buffers[k].rows) out.insert(BufferId(k));
  for (const Function& f : p.functions) {
    if (f.cold) continue;
    for (const Stmt& s : f.body)
      for (const BufferId b : effects_of(p, s).loads)
        out.erase(b);
  }
  return out;
}

class Unread {
 public:
  explicit Unread(Program& p) : p_(p), rows_(unread(p)) {}

  void run() {
    if (rows_.empty()) return;
    std::vector<BufferId> none;
    rewrite_bodies(p_, none, [&](Block& body) { block(body); });
  }

 private:
  /// Whether a statement does nothing but write such rows.
  bool only_writes(const Stmt& s) const {
    if (const auto* store = std::get_if<Store>(&s.node)) return rows_.contains(store->buffer);
    if (const auto* fill = std::get_if<Fill>(&s.node)) return rows_.contains(fill->buffer);
    const auto* loop = std::get_if<For>(&s.node);
    return loop && !loop->body.empty() &&
           std::ranges::all_of(loop->body, [&](const Stmt& x) { return only_writes(x); });
  }

  ExprId asked() {
    const ExprId at = make(p_, Type::i64, ConstI{p_.rows_asked.at});
    const ExprId flag = make(p_, Type::f64, Load{p_.rows_asked.buffer, {at}});
    return make(p_, Type::boolean, Binary{BinaryOp::less, make(p_, Type::f64, ConstF{0}), flag});
  }

  void block(Block& b) {
    for (Stmt& s : b) {
      if (only_writes(s)) {
        Block then;
        then.push_back(std::move(s));
        s = Stmt{If{asked(), std::move(then), {}}};
      } else if (auto* loop = std::get_if<For>(&s.node)) {
        block(loop->body);
      } else if (auto* branch = std::get_if<If>(&s.node)) {
        block(branch->then_block);
        block(branch->else_block);
      }
    }
  }

  Program& p_;
  std::set<BufferId> rows_;
};

}  // namespace

Program write_when_asked(Program program) {
  if (program.rows_asked.buffer.valid()) Unread(program).run();
  return program;
}

}  // namespace lehr::loops
