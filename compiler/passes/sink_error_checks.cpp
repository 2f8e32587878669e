// The pass `sink-error-checks`: error checks sink out of innermost loops.
// A check that ends the function inside a loop keeps LLVM from vectorising the loop. The pass counts the failures in
// the loop and tests the count after it. A function that fails leaves its results undefined, so later iterations do no
// harm.
//   for k: if (x[k] <= 0) fail 3; y[k] = log(x[k])
//   becomes   failed = 0; for k: failed += select(x[k] <= 0, 1, 0); y[k] = log(x[k])   if (0 < failed) fail 3
//
// Sinking of error checks: `if (c) fail code` inside a loop becomes a count of how often c holds, tested after the
// loop.
// The count is a sum, which LLVM vectorises; a `fail` would be an exit from the loop, which it does not.
#include "compiler/passes/passes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"

namespace lehr::loops {
namespace {

/// Returns the code of a statement that only fails under a condition; 0 for any other statement.
std::int32_t code_of(const Stmt& s) {
  const auto* branch = std::get_if<If>(&s.node);
  if (!branch || branch->then_block.size() != 1 || !branch->else_block.empty()) return 0;
  const auto* fail = std::get_if<Fail>(&branch->then_block[0].node);
  return fail ? fail->code : 0;
}

/// Rewrites the loops of one program.
class CheckSinking {
 public:
  explicit CheckSinking(Program& p) : p_(p) {}

  /// Rewrites the innermost loops of a block. `few`: a loop around it has fewer iterations than a vector has lanes.
  void block(Block& b, bool few = false) {
    Block out;
    for (Stmt& s : b) {
      auto* loop = std::get_if<For>(&s.node);
      if (auto* branch = std::get_if<If>(&s.node)) {
        block(branch->then_block, few);
        block(branch->else_block, few);
      }
      const bool innermost = loop && !has_loop(loop->body) && std::ranges::none_of(loop->body, has_break);
      if (loop && !innermost) block(loop->body, few || !is_long(*loop));
      if (innermost && !few && is_long(*loop) && calls_functions(*loop)) counted(*loop, std::move(s), out);
      else out.push_back(std::move(s));
    }
    b = std::move(out);
  }

 private:
  /// Returns true if the loop has iterations that fill a vector, or a trip count that only the data tell.
  bool is_long(const For& loop) const {
    const std::int64_t lanes = p_.thresholds[kFillsVector];
    return literal(p_, loop.end).value_or(lanes) >= lanes;
  }
  /// Returns true if a statement of the loop calls a function such as exp.
  bool calls_functions(const For& loop) const {
    bool calls = false;
    each_statement(loop.body, [&](const Stmt& s) { calls = calls || calls_function(p_, s); });
    return calls;
  }
  /// Appends the loop to `out` with a counter for each error code in place of its checks, and the tests of the
  /// counters.
  void counted(For& loop, Stmt&& statement, Block& out) {
    std::map<std::int32_t, ScalarId> failed;  // the counter of each error code
    for (Stmt& s : loop.body) {
      const std::int32_t code = code_of(s);
      if (code == 0) continue;
      const auto [it, first] = failed.try_emplace(code);
      if (first) it->second = make_scalar(p_, "failed", Type::f64);
      s = {Accumulate{it->second, make(p_, Type::f64, Select{std::get<If>(s.node).condition, number(1), number(0)})}};
    }
    for (const auto& [code, count] : failed)
      out.emplace_back(Local{count, number(0)});
    out.push_back(std::move(statement));
    for (const auto& [code, count] : failed) {
      const ExprId any = make(p_, Type::boolean, Binary{BinaryOp::less, number(0), make(p_, Type::f64, Get{count})});
      out.emplace_back(If{any, {{Fail{code}}}, {}});
    }
  }

  ExprId number(double value) { return make(p_, Type::f64, ConstF{value}); }

  Program& p_;
};

}  // namespace

/// Returns the program with error checks moved behind loops. It changes innermost loops that call functions (exp, log),
/// contain no `break`, and have at least 8 iterations, as must the loops around them. Trip counts that only the data
/// tell count as long.
Program sink_error_checks(Program p) {
  std::vector<BufferId> none;
  CheckSinking checks(p);
  rewrite_bodies(p, none, [&](Block& b) { checks.block(b); });
  return p;
}

}  // namespace lehr::loops
