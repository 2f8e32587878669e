#include "compiler/passes/unread.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/effects.h"
#include "compiler/passes/rewrite.h"

namespace lehr::loops {
namespace {

FewIds<BufferId> needed_when_asked(const Program& p, Needed what) {
  FewIds<BufferId> out;
  for (std::size_t k = 0; k < p.buffers.size(); ++k)
    if (p.buffers[k].needed == what) out.insert(BufferId(k));
  if (what != Needed::rows) return out;
  for (const Function& f : p.functions) {
    if (f.cold) continue;
    for (const Stmt& s : f.body)
      for (const BufferId b : effects_of(p, s).loads)
        out.erase(b);
  }
  return out;
}

/// Which statements of a function do something where nobody asks for some arrays.
class Liveness {
 public:
  Liveness(const Program& p, const Function& f, const FewIds<BufferId>& unasked)
      : p_(p), unasked_(unasked), own_(f.local_arrays.begin(), f.local_arrays.end()) {
    std::size_t before = 0;
    do {
      before = scalars_.size() + arrays_.size();
      mark(f.body);
    } while (scalars_.size() + arrays_.size() > before);
  }

  bool operator()(const Block& b) const {
    return std::ranges::any_of(b, [&](const Stmt& s) { return (*this)(s); });
  }
  bool operator()(const Stmt& s) const {
    return std::visit([&](const auto& x) { return is_live(x); }, s.node);
  }

 private:
  bool is_live(const For& x) const { return (*this)(x.body); }
  bool is_live(const If& x) const { return (*this)(x.then_block) || (*this)(x.else_block); }
  bool is_live(const Let& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Local& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Assign& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Accumulate& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Store& x) const { return is_live(x.buffer); }
  bool is_live(const Fill& x) const { return is_live(x.buffer); }
  bool is_live(BufferId b) const { return own_.contains(b) ? arrays_.contains(b) : !unasked_.contains(b); }
  bool is_live(const BreakIf&) const { return true; }
  bool is_live(const Fail&) const { return true; }
  bool is_live(const Comment&) const { return false; }

  auto walk() {
    const auto load = [this](BufferId b, bool stored) {
      if (!stored) arrays_.insert(b);
    };
    const auto read = [this](ScalarId x, Mention how) {
      if (how == Mention::read) scalars_.insert(x);
    };
    return Walk{p_, [](ExprId) {}, load, read};
  }
  bool reads(ExprId e) {
    walk().expr(e);
    return true;
  }
  bool reads(const Stmt& s) {
    auto through = walk();
    std::visit([&](const auto& node) { through.statement(node); }, s.node);
    return true;
  }

  /// Marks what live statements read; whether there are any. What is read comes from before, so backwards.
  bool mark(const Block& b) {
    bool out = false;
    for (auto s = b.rbegin(); s != b.rend(); ++s)
      out = mark(*s) || out;
    return out;
  }
  bool mark(const Stmt& s) {
    if (const auto* loop = std::get_if<For>(&s.node)) return mark(loop->body) && reads(loop->begin) && reads(loop->end);
    if (const auto* branch = std::get_if<If>(&s.node)) {
      const bool in_then = mark(branch->then_block), in_else = mark(branch->else_block);
      return (in_then || in_else) && reads(branch->condition);
    }
    return (*this)(s) && reads(s);
  }

  const Program& p_;
  const FewIds<BufferId>& unasked_;
  FewIds<BufferId> own_;
  std::unordered_set<ScalarId> scalars_;  // that live statements read
  std::unordered_set<BufferId> arrays_;
};

/// Takes longer than to ask.
bool is_costly(const Program& p, const Stmt& s) {
  bool out = has_loop(s) || std::holds_alternative<Fill>(s.node);
  const auto look = [&](ExprId e) { out = out || is_function_call(p, e); };
  Walk walk{p, look, [](BufferId, bool) {}};
  std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  return out;
}

class Unread {
 public:
  Unread(Program& p, const Place& flag, const FewIds<BufferId>& unasked, Function& f)
      : p_(p), flag_(flag), is_live_(p, f, unasked) {
    block(f.body);
  }

 private:
  using Last = std::unordered_map<ScalarId, std::size_t>;

  ExprId asked() {
    const ExprId at = make(p_, Type::i64, ConstI{flag_.at});
    const ExprId flag = make(p_, Type::f64, Load{flag_.buffer, {at}});
    return make(p_, Type::boolean, Binary{BinaryOp::less, make(p_, Type::f64, ConstF{0}), flag});
  }

  /// Where a block mentions a scalar for the last time.
  Last last_mentions(const Block& b) const {
    Last out;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const Effects effects = effects_of(p_, b[k]);
      for (const auto* set : {&effects.reads, &effects.assigns, &effects.declares})
        for (const ScalarId s : *set)
          out[s] = k;
    }
    return out;
  }

  /// The end of what from..past-1 has before a scalar that is mentioned after it is declared.
  static std::size_t end_of_run(const Block& b, const Last& last, std::size_t from, std::size_t past) {
    for (std::size_t end = past;;) {
      std::size_t k = from;
      while (k < end && (!declared(b[k]) || last.at(*declared(b[k])) < end))
        ++k;
      if (k == end) return end;
      end = k;
    }
  }

  /// Statements from..past-1 do nothing unless asked.
  void put(Block& b, const Last& last, std::size_t from, std::size_t past, Block& out) {
    for (std::size_t end = from; from < past; from = end + 1) {
      end = end_of_run(b, last, from, past);
      const auto begin = b.begin() + static_cast<std::ptrdiff_t>(from),
                 stop = b.begin() + static_cast<std::ptrdiff_t>(end);
      const bool asks = std::any_of(begin, stop, [&](const Stmt& s) { return is_costly(p_, s); });
      Block then(std::make_move_iterator(begin), std::make_move_iterator(stop));
      if (asks) out.emplace_back().node = If{asked(), std::move(then), {}};
      else std::ranges::move(then, std::back_inserter(out));
      if (end < past) out.push_back(std::move(b[end]));
    }
  }

  /// What is left of a block, of branches and loops in it too.
  Block without_dead(const Block& b) const {
    Block out;
    for (const Stmt& s : b) {
      if (!is_live_(s)) continue;
      Stmt& kept = out.emplace_back(s);
      if (auto* loop = std::get_if<For>(&kept.node)) loop->body = without_dead(loop->body);
      if (auto* branch = std::get_if<If>(&kept.node)) {
        branch->then_block = without_dead(branch->then_block);
        branch->else_block = without_dead(branch->else_block);
      }
    }
    return out;
  }

  /// A branch in an innermost loop would take turn by turn what goes several at a time, so that there are two loops.
  bool is_worth_two(const For& loop) const {
    return !std::holds_alternative<ConstI>(p_[loop.end].node) &&
           std::ranges::any_of(loop.body, [&](const Stmt& s) { return !is_live_(s) && is_costly(p_, s); });
  }
  Stmt in_two(For loop) {
    For without = loop;
    without.body = without_dead(loop.body);
    return Stmt{If{asked(), {Stmt{std::move(loop)}}, {Stmt{std::move(without)}}}};
  }

  void block(Block& b) {
    const bool is_left = std::ranges::all_of(b, [&](const Stmt& s) { return is_live_(s); });
    const Last last = is_left ? Last{} : last_mentions(b);
    Block out;
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (is_live_(b[k])) {
        if (auto* loop = std::get_if<For>(&b[k].node)) {
          if (has_loop(loop->body)) {
            block(loop->body);
          } else if (is_worth_two(*loop)) {
            out.push_back(in_two(std::move(*loop)));
            continue;
          }
        } else if (auto* branch = std::get_if<If>(&b[k].node)) {
          block(branch->then_block);
          block(branch->else_block);
        }
        out.push_back(std::move(b[k]));
        continue;
      }
      std::size_t past = k + 1;
      while (past < b.size() && !is_live_(b[past]))
        ++past;
      put(b, last, k, past, out);
      k = past - 1;
    }
    b = std::move(out);
  }

  Program& p_;
  Place flag_;
  Liveness is_live_;
};

}  // namespace

Program write_when_asked(Program program) {
  for (const Needed what : {Needed::rows, Needed::bound}) {
    const Place flag = program.asked[static_cast<std::size_t>(what)];
    if (!flag.buffer.valid()) continue;
    const FewIds<BufferId> unasked = needed_when_asked(program, what);
    for (std::size_t k = 0; !unasked.empty() && k < program.functions.size(); ++k) {
      Function& f = program.functions[k];
      if (!f.cold) Unread(program, flag, unasked, f);
    }
  }
  return program;
}

}  // namespace lehr::loops
