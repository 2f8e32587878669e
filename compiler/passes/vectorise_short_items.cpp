// The pass `vectorise-short-items`: outer-loop vectorisation of items with few elements.
// An inner loop over three elements fills three of eight lanes. Eight items, one in each lane, fill all of them. A cost
// estimate compares the two; docs/passes.md has the measurements behind it.
//   for n: for p in 0 .. 3: s[p] += x[n, p]      becomes      for n by 8: for p: for lane: s[p, lane] += x[n + lane, p]
//
// The cost estimate for outer-loop vectorisation of short items.
// `loop_cost_` estimates the vector operations of an item if vectors lie along its own inner loops, `lane_cost_` if
// eight items lie in the lanes. The constants are fitted to measurements of some 80 pairs (docs/passes.md). Lanes must
// win by 40 %, transposition of rows included.
#include "compiler/passes/passes.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/cost_model.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/block_registers.h"
#include "compiler/passes/vectoriser/independent_loops.h"
#include "compiler/passes/vectoriser/vector_accesses.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The most work in lanes that counts as a gain, as a fraction of the work of the plain loop.
constexpr Threshold<double> kGain("vectorise_short_items.gain", 0.6);
/// The most iterations of a loop that LLVM unrolls inside of a long loop.
constexpr double kUnrolled = 3;
/// The least number of iterations of a loop that counts as long there.
constexpr Threshold<double> kLongLoop("vectorise_short_items.long", 32);

/// The additions of an item to one number, one after another, from which on two vectors of items run together, so that
/// one adds while the other waits; four vectors from eight times as many on.
constexpr Threshold<double> kAdditions("vectorise_short_items.additions", 64);
/// The most numbers of rows of vectors that run together: 16 KB.
constexpr Threshold<double> kNearNumbers("vectorise_short_items.near_numbers", 2048);

/// The estimated operations of an item, on vectors along its own loops and in lanes of items.
class Estimate {
 public:
  Estimate(const Program& p, const For& loop) : p_(p), region_trip_count_(trip_count_of_region(p, loop)) {
    block(loop.body, {});
  }

  /// Returns true if the loop is that of a parallel region with a constant trip count.
  bool of_phase() const { return region_trip_count_.has_value(); }
  /// Returns true if lanes are a gain. `elements`: elements of an item's rows that must be transposed.
  bool gains(double elements) const {
    return fits_ && ((loops_ && sums_ && is_hard_) || region_trip_count_) &&
           lane_cost_ + kTransposedCost * elements <= p_.thresholds[kGain] * loop_cost_;
  }
  /// Returns how many vectors of items run together.
  std::int64_t vectors() const {
    const double most = p_.thresholds[kAdditions];
    return region_trip_count_ || longest_sum_ < most ? 1 : longest_sum_ < 8 * most ? 2 : 4;
  }

 private:
  /// What is known of the loops around a statement.
  struct LoopContext {
    double times = 1;               // executions of the statement for an item
    double vectors = 1;             // the same on vectors along an inner loop
    double length = 1;              // trip count of the loop around
    std::optional<ScalarId> along;  // index of the loop that vectors lie along
  };

  /// Adds the operations of a block to both estimates.
  void block(const Block& b, const LoopContext& around) {
    for (const Stmt& s : b) {
      if (const auto* loop = std::get_if<For>(&s.node)) {
        inner(*loop, around);
      } else if (const auto* branch = std::get_if<If>(&s.node)) {
        if (branch->rare) continue;
        block(branch->then_block, around);
        block(branch->else_block, around);
      } else {
        statement(s, around);
      }
    }
  }

  /// Adds the operations of one statement to both estimates.
  void statement(const Stmt& s, const LoopContext& around) {
    const auto* x = std::get_if<Store>(&s.node);
    if (x && x->accumulate && x->indices.empty()) longest_sum_ = std::max(longest_sum_, around.times);
    sums_ = sums_ || (x && x->accumulate && p_[x->buffer].role == Role::statistic);
    const int calls = count(s, [&](ExprId e) { return is_function_call(p_, e); });
    is_hard_ = is_hard_ || calls > 0 || std::holds_alternative<Fail>(s.node);
    const double work = calls > 0 ? kFunctionCost * calls : 1;
    loop_cost_ += work * around.vectors;
    if (region_trip_count_ && around.along) loop_cost_ += kGatherCost * distant_loads(s, *around.along) * around.times;
    lane_cost_ += work * around.times / kLanes;
  }

  /// Returns the trip count of a loop with constant bounds.
  std::optional<double> constant_trip_count(const For& x) const {
    const auto begin = literal(p_, x.begin), end = literal(p_, x.end);
    return begin && end ? std::optional(static_cast<double>(*end - *begin)) : std::nullopt;
  }
  /// Returns the trip count of a loop; half of the length around it if its bounds are other indices.
  double trip_count(const For& x, double outer) const {
    return constant_trip_count(x).value_or(std::max(1.0, outer / 2));
  }

  /// Returns true if vectors lie along this loop: all loops inside are short enough to be unrolled, and with some
  /// inside, no store is strided.
  bool is_innermost(const For& x, double length) const {
    bool found = true, nested = false;
    each_statement(x.body, [&](const Stmt& s) {
      const auto* loop = std::get_if<For>(&s.node);
      nested = nested || (loop && trip_count(*loop, length) > 1);
      found = found && (!loop || trip_count(*loop, length) <= (length >= p_.thresholds[kLongLoop] ? kUnrolled : 1));
    });
    if (!found || !nested) return found;
    each_access(p_, x.body, [&](AccessKind kind, BufferId, const std::vector<ExprId>& at) {
      found = found && (kind == AccessKind::load || at.empty() ||
                        std::none_of(at.begin(), at.end() - 1, [&](ExprId e) { return mentions(p_, e, {x.index}); }));
    });
    return found;
  }

  /// Adds the operations of an inner loop to both estimates.
  void inner(const For& x, const LoopContext& around) {
    loops_ = true;
    const auto on_expr = [&](ExprId e) { fits_ = fits_ && !std::holds_alternative<Extent>(p_[e].node); };
    Walk{p_, on_expr, [&](BufferId, bool) { fits_ = false; }}.expr(x.end);
    const double length = trip_count(x, around.length);
    const double times = around.times * length;
    is_hard_ = is_hard_ || (length > 1 && around.length > 1);
    if (length == 1 || around.along || !is_innermost(x, length))
      return block(x.body, {times, around.vectors * length, length, around.along});
    const double vectors = constant_trip_count(x) ? std::ceil(length / kLanes) : length / kLanes + kLeftOver;
    // LLVM optimises a region of so few iterations little, so that vectors which are not full do not exist.
    const bool none = region_trip_count_ && std::fmod(length, kLanes) != 0;
    block(x.body, {times, around.vectors * (none ? length : vectors), length, x.index});
  }

  /// Returns the sum of `value` over the expressions of a statement.
  template <class Value>
  int count(const Stmt& s, const Value& value) const {
    int out = 0;
    Walk walk{p_, [&](ExprId e) { out += value(e); }, [](BufferId, bool) {}};
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
    return out;
  }
  /// Returns the number of loads that vectors along this index would gather from distant elements.
  int distant_loads(const Stmt& s, ScalarId index) const {
    return count(s, [&](ExprId e) {
      const auto* x = std::get_if<Load>(&p_[e].node);
      return x && !x->indices.empty() && std::any_of(x->indices.begin(), x->indices.end() - 1, [&](ExprId at) {
               return mentions(p_, at, {index});
             });
    });
  }

  const Program& p_;
  const std::optional<std::int64_t>
      region_trip_count_;                 // trip count of a parallel region, if the loop is one with a constant count
  double loop_cost_ = 0, lane_cost_ = 0;  // estimates for vectors along inner loops, and for lanes of items
  double longest_sum_ = 0;                // most additions to one number, one after another
  bool fits_ = true, loops_ = false, sums_ = false;
  bool is_hard_ = false;  // true if LLVM would not vectorise over items: loops in loops, functions, failures
};

/// Returns true if data name rows of arrays: the rows of eight items are then in distant memory.
bool gathers_rows(const Program& p, const For& loop) {
  bool found = false;
  each_access(p, loop.body, [&](AccessKind, BufferId, const std::vector<ExprId>& at) {
    found = found || std::ranges::any_of(at, [&](ExprId e) { return loads(p, e); });
  });
  return found;
}

/// Returns true if lanes could be a gain, before the costs of transposition are known.
bool is_short(const Program& p, const For& loop) { return !gathers_rows(p, loop) && Estimate(p, loop).gains(0); }

/// Returns the form with eight lanes and transposed rows if it is a gain; nullopt otherwise.
std::optional<VectorForm> transposed_lane_form(const Program& p, const For& loop, const Varying& varying) {
  const Estimate estimate(p, loop);
  double elements = 0;
  for (const IterationRow& row : iteration_rows(p, varying, loop))
    elements += static_cast<double>(row_elements(p, row.array) * (row.copy_in + (row.copy_out && estimate.of_phase())));
  if (!fits_in_lanes(p, varying) || hides_latency(p, loop, varying) || !estimate.gains(elements)) return {};
  // The rows of all items together stay in the nearest cache.
  std::int64_t width = kLanes * estimate.vectors();
  while (width > kLanes && elements * static_cast<double>(width) > p.thresholds[kNearNumbers])
    width /= 2;
  return VectorForm{.width = width, .unrolled = false, .min_group = width, .transposes_rows = true};
}

}  // namespace

Program vectorise_short_items(Program program) {
  return vectorise_loops(std::move(program), {is_short, transposed_lane_form});
}

}  // namespace lehr::loops
