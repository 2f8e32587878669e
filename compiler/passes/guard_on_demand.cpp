// The pass `guard-on-demand`: demand-driven outputs.
// Some arrays are needed by some calls only: stored parameters of items' factors, and sums for the ELBO. Callers set a
// flag for each kind (Program::demand_flags). Statements that serve only such arrays are executed only if the flag is
// set.
//   for n: ...; E = f(x); rows[n] = E      becomes      for n: ...; if (flag > 0): E = f(x); rows[n] = E
//
// Demand-driven outputs: liveness with the arrays on demand counted as unread shows which statements serve only them.
// Runs of such statements are guarded by the flag of their kind. A run must not declare a scalar that later statements
// use, since the guard would hide it; such a declaration stays outside.
#include "compiler/passes/passes.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/liveness.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"

namespace lehr::loops {
namespace {

/// Returns the arrays of this kind. Per-item rows that functions other than cold ones load are left out: sweeps need
/// them.
SmallIdSet<BufferId> on_demand_arrays(const Program& p, Demand demand) {
  SmallIdSet<BufferId> out;
  for (std::size_t k = 0; k < p.buffers.size(); ++k)
    if (p.buffers[k].demand == demand) out.insert(BufferId(k));
  if (demand != Demand::item_parameters) return out;
  for (const Function& f : p.functions) {
    if (f.cold) continue;
    for (const Stmt& s : f.body)
      for (const BufferId b : effects_of(p, s).loads)
        out.erase(b);
  }
  return out;
}

/// Returns true if the statement takes longer than the test of a flag.
bool is_costly(const Program& p, const Stmt& s) {
  bool out = has_loop(s) || std::holds_alternative<Fill>(s.node);
  const auto look = [&](ExprId e) { out = out || is_function_call(p, e); };
  Walk walk{p, look, [](BufferId, bool) {}};
  std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  return out;
}

/// Guards the statements of one function.
class OnDemandGuards {
 public:
  OnDemandGuards(Program& p, const NumberAddress& flag, const SmallIdSet<BufferId>& on_demand, Function& f)
      : p_(p), flag_(flag), is_live_(p, f, {f.local_arrays.begin(), f.local_arrays.end()}, on_demand) {
    block(f.body);
  }

 private:
  using Last = std::unordered_map<ScalarId, std::size_t>;  // the last statement of a block that mentions a scalar

  /// Returns the condition that the flag is set.
  ExprId is_demanded() {
    const ExprId at = make(p_, Type::i64, ConstI{flag_.at});
    const ExprId flag = make(p_, Type::f64, Load{flag_.buffer, {at}});
    return make(p_, Type::boolean, Binary{BinaryOp::less, make(p_, Type::f64, ConstF{0}), flag});
  }

  /// Returns for each scalar the last statement of the block that mentions it.
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

  /// Returns the end of the statements from `from` to `past` - 1 that can be guarded together: none of them declares a
  /// scalar that is mentioned after that end.
  static std::size_t end_of_run(const Block& b, const Last& last, std::size_t from, std::size_t past) {
    for (std::size_t end = past;;) {
      std::size_t k = from;
      while (k < end && (!declared(b[k]) || last.at(*declared(b[k])) < end))
        ++k;
      if (k == end) return end;
      end = k;
    }
  }

  /// Appends the statements from `from` to `past` - 1, which are dead unless asked for, with guards where they are
  /// costly.
  void put(Block& b, const Last& last, std::size_t from, std::size_t past, Block& out) {
    for (std::size_t end = from; from < past; from = end + 1) {
      end = end_of_run(b, last, from, past);
      const auto begin = b.begin() + static_cast<std::ptrdiff_t>(from),
                 stop = b.begin() + static_cast<std::ptrdiff_t>(end);
      const bool costly = std::any_of(begin, stop, [&](const Stmt& s) { return is_costly(p_, s); });
      Block then(std::make_move_iterator(begin), std::make_move_iterator(stop));
      if (costly) out.emplace_back().node = If{is_demanded(), std::move(then), {}};
      else std::ranges::move(then, std::back_inserter(out));
      if (end < past) out.push_back(std::move(b[end]));
    }
  }

  /// Returns true if an innermost loop is better there twice, with its dead statements and without. A branch inside
  /// would keep LLVM from vectorising it.
  bool is_worth_two(const For& loop) const {
    return (loop.independent || !std::holds_alternative<ConstI>(p_[loop.end].node)) &&
           std::ranges::any_of(loop.body, [&](const Stmt& s) { return !is_live_(s) && is_costly(p_, s); });
  }
  /// Returns a branch on the flag between the loop and the loop without its dead statements.
  Stmt in_two(For loop) {
    For without = loop;
    without.body = is_live_.rest(loop.body);
    return Stmt{If{is_demanded(), {Stmt{std::move(loop)}}, {Stmt{std::move(without)}}}};
  }

  /// Guards the dead statements of a block, and of loops and branches in it.
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
  NumberAddress flag_;  // the element that is above 0 if the arrays are asked for
  Liveness is_live_;    // liveness when nobody asks
};

}  // namespace

/// Returns the program in which statements that serve only arrays on demand (Buffer::demand) are guarded by the flag of
/// their kind. Statements that fill arrays and scalars for such statements alone are guarded too.
/// A guard is made only if a loop, a fill or a costly function is among them. An innermost loop of constant length that
/// is not independent stays unguarded inside. Other innermost loops are there twice, with these statements and without.
/// Per-item rows that a frequently called function loads are always written. Cold functions stay as they are.
Program guard_on_demand(Program program) {
  for (const Demand demand : {Demand::item_parameters, Demand::elbo}) {
    const NumberAddress flag = program.demand_flags[static_cast<std::size_t>(demand)];
    if (!flag.buffer.valid()) continue;
    const SmallIdSet<BufferId> on_demand = on_demand_arrays(program, demand);
    for (std::size_t k = 0; !on_demand.empty() && k < program.functions.size(); ++k) {
      Function& f = program.functions[k];
      if (!f.cold) OnDemandGuards(program, flag, on_demand, f);
    }
  }
  return program;
}

}  // namespace lehr::loops
