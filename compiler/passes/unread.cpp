#include "compiler/passes/unread.h"

#include <algorithm>
#include <iterator>
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
  Unread(Program& p, const std::set<BufferId>& rows, Function& f)
      : p_(p), rows_(rows), all_(f.body), own_(f.local_arrays.begin(), f.local_arrays.end()) {
    block(f.body);
  }

 private:
  /// Whether a statement does nothing but write rows.
  bool only_writes(const Stmt& s) const {
    if (const auto* store = std::get_if<Store>(&s.node)) return rows_.contains(store->buffer);
    if (const auto* fill = std::get_if<Fill>(&s.node)) return rows_.contains(fill->buffer);
    if (const auto* loop = std::get_if<For>(&s.node)) return all_write(loop->body);
    const auto* branch = std::get_if<If>(&s.node);
    return branch && branch->else_block.empty() && all_write(branch->then_block);
  }
  bool all_write(const Block& b) const {
    return !b.empty() && std::ranges::all_of(b, [&](const Stmt& x) { return only_writes(x); });
  }

  /// Whether a loop fills arrays of the function for the statements after it alone, up to `last`.
  bool prepares(const Block& b, std::size_t at, std::size_t last) const {
    if (!std::holds_alternative<For>(b[at].node)) return false;
    const Effects effects = effects_of(p_, b[at]);
    return effects.assigns.empty() && !effects.stores.empty() &&
           std::ranges::all_of(effects.stores, [&](BufferId array) {
             const int here = mentions(p_, array, b, at) - mentions(p_, array, b, last + 1);
             return own_.contains(array) && mentions(p_, array, all_) == here;
           });
  }

  ExprId asked() {
    const ExprId at = make(p_, Type::i64, ConstI{p_.rows_asked.at});
    const ExprId flag = make(p_, Type::f64, Load{p_.rows_asked.buffer, {at}});
    return make(p_, Type::boolean, Binary{BinaryOp::less, make(p_, Type::f64, ConstF{0}), flag});
  }

  void block(Block& b) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (only_writes(b[k])) {
        std::size_t first = k;
        while (first > 0 && prepares(b, first - 1, k))
          --first;
        const auto from = b.begin() + static_cast<std::ptrdiff_t>(first),
                   past = b.begin() + static_cast<std::ptrdiff_t>(k + 1);
        Block then(std::make_move_iterator(from), std::make_move_iterator(past));
        *from = Stmt{If{asked(), std::move(then), {}}};
        b.erase(from + 1, past);
        k = first;
      } else if (auto* loop = std::get_if<For>(&b[k].node)) {
        block(loop->body);
      } else if (auto* branch = std::get_if<If>(&b[k].node)) {
        block(branch->then_block);
        block(branch->else_block);
      }
    }
  }

  Program& p_;
  const std::set<BufferId>& rows_;
  const Block& all_;
  std::set<BufferId> own_;
};

}  // namespace

Program write_when_asked(Program program) {
  if (!program.rows_asked.buffer.valid()) return program;
  const std::set<BufferId> rows = unread(program);
  for (Function& f : program.functions)
    if (!f.cold && !rows.empty()) Unread(program, rows, f);
  return program;
}

}  // namespace lehr::loops
