// The pass `skip-at-fixed-point`: skips steps of a recurrence once it has reached a fixed point.
// The covariances of a Kalman filter (the Riccati recursion) depend on no data. As soon as a step gets the same input
// bits as the step before, it would give the same output bits, so it is skipped.
//   for t: V = f(V); m[t] = g(V, x[t])
//   becomes   for t: if (t is first or V differs from last): last = V; V = f(V)        m[t] = g(V, x[t])
//
// Skipping of the steps of a recurrence that has reached a fixed point.
// In each loop over steps the first run of consecutive statements that qualify is guarded. The arrays that it reads
// (the keys) are compared, element by element, with a copy of what they were in the step before:
//   first = 1                                       before the loop
//   changed = first; for e: changed += V[e] != last[e]
//   if (changed > 0): first = 0; for e: last[e] = V[e]; the statements
// Skipping changes no bits, because the statements are deterministic and their results are still in the arrays that
// they fill.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vectorised.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The most elements that are compared to find out whether a step can be skipped.
constexpr Threshold<std::int64_t> kMostKeys("skip_at_fixed_point.most_keys", 1024);
/// The least number of operations that a skipped step saves for each compared element.
constexpr Threshold<std::int64_t> kWorthIt("skip_at_fixed_point.worth_it", 4);
/// The number of iterations that a loop over part of a row counts as.
constexpr double kUnknownTripCount = 2;

/// Returns true if the array may be the state of a recurrence: scratch of doubles with constant extents.
bool is_state(const Program& p, BufferId b) {
  return p[b].role == Role::scratch && p[b].element == Type::f64 && has_constant_extents(p, p[b]);
}

/// Returns true if the statement does the same whenever it reads the same, and writes the same elements in every
/// execution. It branches only to fail. A random number is a function of what is read (Random).
bool is_deterministic(const Stmt& s) {
  if (std::holds_alternative<BreakIf>(s.node) || std::holds_alternative<Fail>(s.node)) return false;
  if (const auto* loop = std::get_if<For>(&s.node)) return std::ranges::all_of(loop->body, is_deterministic);
  const auto* branch = std::get_if<If>(&s.node);
  return !branch || (branch->else_block.empty() && std::ranges::all_of(branch->then_block, [](const Stmt& x) {
                       return std::holds_alternative<Fail>(x.node);
                     }));
}

/// Returns a rough number of the operations that a block executes.
double operations(const Program& p, const Block& b) {
  double out = 0;
  for (const Stmt& s : b) {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      const auto *begin = std::get_if<ConstI>(&p[loop->begin].node), *end = std::get_if<ConstI>(&p[loop->end].node);
      out += (begin && end ? static_cast<double>(end->value - begin->value) : kUnknownTripCount) *
             operations(p, loop->body);
      continue;
    }
    Walk walk{p, [&](ExprId e) { out += operations_of(p, e); }, [](BufferId, bool) {}};
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  }
  return out;
}

/// Rewrites the loops of all functions of a program.
class FixedPointSkip : ExprMaker {
 public:
  using ExprMaker::ExprMaker;

  void run() {
    rewrite_bodies(p_, arrays_, [&](Block& b) { block(b, {}); });
  }

 private:
  /// Rewrites the loops of a block. `around`: arrays that the function stores to outside of it.
  void block(Block& b, const SmallIdSet<BufferId>& around) {
    if (std::ranges::none_of(b, holds_statements)) return;
    std::unordered_map<BufferId, int> storing;  // the number of statements that store to each array
    for (const Stmt& s : b) {
      for (const BufferId x : effects_of(p_, s).stores)
        ++storing[x];
    }
    Block out;
    for (Stmt& s : b) {
      if (holds_statements(s)) inside(s, others(storing, s, around), out);
      out.push_back(std::move(s));
    }
    b = std::move(out);
  }

  /// Returns true if the statement has other statements inside.
  static bool holds_statements(const Stmt& s) {
    return std::holds_alternative<If>(s.node) || std::holds_alternative<For>(s.node);
  }

  /// Returns the arrays that other statements than `s` store to, in the block or around it.
  SmallIdSet<BufferId> others(const std::unordered_map<BufferId, int>& storing, const Stmt& s,
                              const SmallIdSet<BufferId>& around) const {
    const SmallIdSet<BufferId> own = effects_of(p_, s).stores;
    std::vector<BufferId> out(around.begin(), around.end());
    for (const auto& [array, statements] : storing)
      if (statements > (own.contains(array) ? 1 : 0)) out.push_back(array);
    return {out.begin(), out.end()};
  }

  /// Rewrites what is inside of a branch or a loop. Statements that must precede the loop are appended to `before`.
  void inside(Stmt& s, const SmallIdSet<BufferId>& outside, Block& before) {
    if (auto* branch = std::get_if<If>(&s.node)) {
      block(branch->then_block, outside);
      block(branch->else_block, outside);
      return;
    }
    auto& loop = std::get<For>(s.node);
    block(loop.body, outside);
    if (!loop.independent && !std::holds_alternative<ConstI>(p_[loop.end].node)) guard_run(loop, outside, before);
  }

  /// Guards the first run of statements in the loop that qualifies.
  void guard_run(For& loop, const SmallIdSet<BufferId>& outside, Block& before) {
    if (std::ranges::any_of(loop.body, has_break)) return;
    Effects all = effects_of(p_, loop.body);
    all.declares.insert(loop.index);
    for (std::size_t k = 0, end = 0; k < loop.body.size(); k = std::max(end, k + 1)) {
      end = run_from(loop, k, all);
      if (end == k) continue;
      const std::vector<BufferId> keys = keys_of(loop, k, end, outside);
      if (keys.empty()) continue;
      const auto at = [&](std::size_t n) {
        return std::move_iterator(loop.body.begin() + static_cast<std::ptrdiff_t>(n));
      };
      Block out(at(0), at(k));
      skip_equal(keys, Block(at(k), at(end)), before, out);
      std::copy(at(end), at(loop.body.size()), std::back_inserter(out));
      loop.body = std::move(out);
      return;
    }
  }

  /// Returns the end of the run of statements that begins at `from` and depends on state alone. `all`: the effects of
  /// the whole body.
  std::size_t run_from(const For& loop, std::size_t from, const Effects& all) const {
    Effects run;
    std::size_t end = from;
    for (; end < loop.body.size() && is_deterministic(loop.body[end]); ++end) {
      Effects with = run;
      with.add(effects_of(p_, loop.body[end]));
      const bool own = std::ranges::all_of(with.reads, [&](ScalarId s) {
        return with.declares.contains(s) || !(all.declares.contains(s) || all.assigns.contains(s));
      });
      const bool assigns = std::ranges::all_of(with.assigns, [&](ScalarId s) { return with.declares.contains(s); });
      const bool stores = std::ranges::all_of(with.stores, [&](BufferId b) { return is_state(p_, b); });
      const bool loads =
          std::ranges::all_of(with.loads, [&](BufferId b) { return is_state(p_, b) || !all.stores.contains(b); });
      if (!own || !assigns || !stores || !loads) break;
      run = std::move(with);
    }
    return end;
  }

  /// Returns the arrays whose contents decide whether the statements would do the same again (the keys). It is empty if
  /// the comparison is not worth it. It is also empty if other statements of the loop use what these declare, or store
  /// to the same arrays.
  std::vector<BufferId> keys_of(const For& loop, std::size_t from, std::size_t end,
                                const SmallIdSet<BufferId>& outside) const {
    Effects run, rest;
    for (std::size_t k = 0; k < loop.body.size(); ++k)
      (from <= k && k < end ? run : rest).add(effects_of(p_, loop.body[k]));
    if (intersect(run.stores, rest.stores) || intersect(run.declares, rest.reads) ||
        intersect(run.declares, rest.assigns))
      return {};
    // An array that nothing else fills is filled in every step before it is read, so it is no key.
    const Block statements(loop.body.begin() + static_cast<std::ptrdiff_t>(from),
                           loop.body.begin() + static_cast<std::ptrdiff_t>(end));
    // An element that is added to is read too.
    each_statement(statements, [&](const Stmt& s) {
      if (const auto* store = std::get_if<Store>(&s.node); store && store->accumulate) run.loads.insert(store->buffer);
    });
    std::vector<BufferId> keys;
    std::int64_t compared = 0;
    for (const BufferId b : run.loads) {
      if (!rest.stores.contains(b) && !(run.stores.contains(b) && outside.contains(b))) continue;
      keys.push_back(b);
      compared += constant_extents(p_, b);
    }
    if (compared > p_.thresholds[kMostKeys] ||
        operations(p_, statements) < static_cast<double>(p_.thresholds[kWorthIt] * compared))
      return {};
    return keys;
  }

  /// Appends the statements `run` to `out`, guarded by the comparison of the keys. The declaration of the flag for the
  /// first step goes to `before`.
  void skip_equal(const std::vector<BufferId>& keys, Block run, Block& before, Block& out) {
    const ScalarId first = scalar("first"), changed = scalar("changed");
    before.push_back(Stmt{Local{first, i(1)}});
    out.push_back(Stmt{Local{changed, get(first)}});
    Block then;
    then.push_back(Stmt{Assign{first, i(0)}});
    for (const BufferId key : keys) {
      const BufferId last = array("last." + p_[key].name, p_[key].axes);
      const Nest compared = over(p_[key].axes), copied = over(p_[key].axes);
      const ExprId same = compare(BinaryOp::equal, load(key, compared.at), load(last, compared.at));
      append(out, nested(compared, {Stmt{Accumulate{changed, select(same, i(0), i(1))}}}));
      append(then, nested(copied, {Stmt{Store{last, copied.at, load(key, copied.at)}}}));
    }
    append(then, std::move(run));
    out.push_back(Stmt{If{less(i(0), get(changed)), std::move(then), {}}});
  }

  /// Adds a new array of reals with these axes to the program, as scratch.
  BufferId array(const std::string& stem, std::vector<SizeId> axes) {
    p_.buffers.push_back({fmt::format("{}.{}", stem, p_.buffers.size()), Type::f64, Role::scratch, std::move(axes)});
    arrays_.emplace_back(p_.buffers.size() - 1);
    return arrays_.back();
  }

  std::vector<BufferId> arrays_;
};

}  // namespace

/// Returns the program in which loops over steps skip statements whose inputs have the bits of the step before.
/// The statements are consecutive, independent of the loop's index, and deterministic. They write scratch of constant
/// extents that nothing else in the loop writes. They read such scratch and what the loop does not change.
/// Their operations must outweigh the comparison of the inputs. Cold functions stay as they are.
Program skip_at_fixed_point(Program program) {
  FixedPointSkip(program).run();
  return program;
}

}  // namespace lehr::loops
