// The pass `block-registers`: register blocking (tiling) of loops over items that all read the same tables.
// Several items advance together through the same inner loops, so that a row of a table is loaded once for all of them.
// A sum that all items add to is likewise loaded and stored once. The log odds of a mixture are such a loop:
//   for n: for k: for p: odds[k] += x[n, p] * table[k, p]      table[k, p] is loaded once for four n
//
// Register blocking: which loops qualify, and how many items run together.
// The number of items follows from a budget of 128 numbers in registers, divided by the longest array that an item adds
// to. There is a gain only if the shared tables are too large for the registers.
#include "compiler/passes/block_registers.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/analysis/cost_model.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/vectoriser/independent_loops.h"
#include "compiler/passes/vectoriser/latency.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The number of rows that a table is assumed to have if only the data tell its length.
constexpr Threshold<std::int64_t> kUnknownLength("block_registers.unknown_length", 64);
/// The most items that run together.
constexpr Threshold<std::int64_t> kMost("block_registers.most", 4);
/// The most items that run together if one function of an item waits for another.
constexpr Threshold<std::int64_t> kMostWithLatency("block_registers.most_with_latency", 8);
/// The number of items that run together if the loops that wait for functions run in lanes: two vectors.
constexpr Threshold<std::int64_t> kInLanes("block_registers.in_lanes", 2 * kLanes);

/// Returns true if the body has inner loops, their lengths do not come from memory, and nothing fails.
bool has_common_loops_only(const Program& p, const For& loop) {
  bool loops = false, good = true;
  each_statement(loop.body, [&](const Stmt& s) {
    if (std::holds_alternative<Fail>(s.node)) good = false;
    const auto* inner = std::get_if<For>(&s.node);
    if (!inner) return;
    loops = true;
    Walk{p, [](ExprId) {}, [&](BufferId, bool) { good = false; }}.expr(inner->end);
  });
  return loops && good;
}

/// Returns the unrolled form for a loop over items if blocking gains; nullopt otherwise.
/// `shared` counts the elements of tables that all items read, `own` those of the longest array that an item adds to.
/// Where items wait for functions and rows permit (item_rows()), sixteen items run in lanes there, and `together` at a
/// time elsewhere.
std::optional<VectorForm> blocked_form(const Program& p, const For& loop, const Varying& varying) {
  bool branches = false;
  std::int64_t shared = 0, own = 1;
  SmallIdSet<BufferId> tables;
  each_statement(loop.body, [&](const Stmt& s) {
    const auto* x = std::get_if<If>(&s.node);
    branches = branches || (x && varying.is_varying(p, x->condition));
    const auto* inner = std::get_if<For>(&s.node);
    branches = branches || (inner && varying.is_varying(p, inner->end));
  });
  const auto on_expr = [&](ExprId e) {
    const auto* x = std::get_if<Load>(&p[e].node);
    if (x && !varying.is_varying(p, e)) tables.insert(x->buffer);
  };
  Walk{p, on_expr, [](BufferId, bool) {}}.block(loop.body);
  for (const BufferId b : tables)
    shared += constant_extents(p, b) * (has_constant_extents(p, p[b]) ? 1 : std::int64_t{p.thresholds[kUnknownLength]});
  each_statement(loop.body, [&](const Stmt& s) {
    const auto* x = std::get_if<Store>(&s.node);
    if (x && x->accumulate && varying.arrays.contains(x->buffer)) own = std::max(own, constant_extents(p, x->buffer));
  });
  bool waits = false, in_lanes = can_be_grouped(p, varying, loop.body);
  for (const Stmt& s : loop.body) {
    if (!waits_for_functions(p, s)) continue;
    waits = true;
    in_lanes = in_lanes && item_rows(p, varying, loop.index, std::get<For>(s.node));
  }
  const std::int64_t width = std::min<std::int64_t>(waits ? p.thresholds[kMostWithLatency] : p.thresholds[kMost],
                                                    p.thresholds[kInRegisters] / own);
  if (branches || shared <= 2 * p.thresholds[kInRegisters] || width < 2) return {};
  if (!waits || !in_lanes) return VectorForm{.width = width, .unrolled = true, .min_group = width};
  const auto together = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(width)));
  return VectorForm{
      .width = p.thresholds[kInLanes], .unrolled = true, .min_group = p.thresholds[kInLanes], .unroll = together};
}

}  // namespace

bool hides_latency(const Program& p, const For& loop, const Varying& varying) {
  if (!has_common_loops_only(p, loop)) return false;
  const std::optional<VectorForm> how = blocked_form(p, loop, varying);
  return how && how->unroll > 0;
}

/// Returns the program with register blocking: loops over independent items run two to four items at a time. Each
/// statement is repeated for each item (the unrolled form of vectorised.h). A loop qualifies if its inner loops are
/// equally long for all items. They must read tables that all items share and that are larger than the registers. Fewer
/// items run together if their sums would not fit in registers. If an item evaluates one function after another
/// (latency.h), up to eight items run together, or sixteen in lanes: others then work while one waits.
Program block_registers(Program program) {
  return vectorise_loops(std::move(program), {has_common_loops_only, blocked_form});
}

}  // namespace lehr::loops
