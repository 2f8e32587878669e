#include "compiler/passes/short_loops.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/blocks.h"
#include "compiler/passes/independent_loops.h"
#include "compiler/passes/turn_places.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kTogether = 8;  // items
constexpr double kLanes = kTogether;
constexpr double kGain = 0.6;      // of the operations, or less
constexpr double kFunction = 10;   // operations
constexpr double kTurned = 0.5;    // for a number of a row that is turned over
constexpr double kLeftOver = 3.5;  // turns that vectors leave to be done one by one, where the length is an index
constexpr double kUnrolled = 3;    // turns of a loop, so that the one around it
constexpr double kLong = 32;       // of so many turns, is one on vectors

/// Operations of an item on vectors along its own loops, and along lanes of items.
class Estimate {
 public:
  Estimate(const Program& p, const For& loop) : p_(p) { block(loop.body, {}); }

  /// `numbers`: of an item's rows, to be turned over.
  bool gains(double numbers) const {
    return fits_ && loops_ && sums_ && is_hard_ && lanes_ + kTurned * numbers <= kGain * rows_;
  }

 private:
  struct Around {
    double times = 1;    // that a statement is done for an item
    double vectors = 1;  // that it is done, on vectors
    double length = 1;   // of the loop around
    bool along = false;  // vectors lie along that loop, or one around it
  };

  void block(const Block& b, const Around& around) {
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

  void statement(const Stmt& s, const Around& around) {
    const auto* x = std::get_if<Store>(&s.node);
    sums_ = sums_ || (x && x->accumulate && p_[x->buffer].role == Role::statistic);
    is_hard_ = is_hard_ || calls_function(p_, s) || std::holds_alternative<Fail>(s.node);
    const double work = calls_function(p_, s) ? kFunction : 1;
    rows_ += work * around.vectors;
    lanes_ += work * around.times / kLanes;
  }

  /// The number of turns, if it is written out.
  std::optional<double> known(const For& x) const {
    const auto begin = literal(p_, x.begin), end = literal(p_, x.end);
    return begin && end ? std::optional(static_cast<double>(*end - *begin)) : std::nullopt;
  }
  /// Of a loop in one of this length.
  double turns(const For& x, double outer) const { return known(x).value_or(std::max(1.0, outer / 2)); }

  /// Whether there are no loops in it but those that are written out.
  bool is_innermost(const For& x, double length) const {
    bool found = true;
    each_statement(x.body, [&](const Stmt& s) {
      const auto* loop = std::get_if<For>(&s.node);
      found = found && (!loop || turns(*loop, length) <= (length >= kLong ? kUnrolled : 1));
    });
    return found;
  }

  void inner(const For& x, const Around& around) {
    loops_ = true;
    const auto on_expr = [&](ExprId e) { fits_ = fits_ && !std::holds_alternative<Extent>(p_[e].node); };
    Walk{p_, on_expr, [&](BufferId, bool) { fits_ = false; }}.expr(x.end);
    const double length = turns(x, around.length);
    const double times = around.times * length;
    is_hard_ = is_hard_ || (length > 1 && around.length > 1);
    if (length == 1 || around.along || !is_innermost(x, length))
      return block(x.body, {times, around.vectors * length, length, around.along});
    const double vectors = known(x) ? std::ceil(length / kLanes) : length / kLanes + kLeftOver;
    block(x.body, {times, around.vectors * vectors, length, true});
  }

  const Program& p_;
  double rows_ = 0, lanes_ = 0;
  bool fits_ = true, loops_ = false, sums_ = false;
  bool is_hard_ = false;  // for vectors of items that LLVM makes: loops in loops, functions, failures
};

/// Rows that data of the items name lie apart for lanes.
bool looks_rows_up(const Program& p, const For& loop) {
  bool found = false;
  const auto look = [&](const std::vector<ExprId>& at) {
    found = found || std::ranges::any_of(at, [&](ExprId e) { return loads(p, e); });
  };
  const auto on_expr = [&](ExprId e) {
    if (const auto* x = std::get_if<Load>(&p[e].node)) look(x->indices);
  };
  Walk{p, on_expr, [](BufferId, bool) {}}.block(loop.body);
  each_statement(loop.body, [&](const Stmt& s) {
    if (const auto* x = std::get_if<Store>(&s.node)) look(x->indices);
  });
  return found;
}

bool is_short(const Program& p, const For& loop) { return !looks_rows_up(p, loop) && Estimate(p, loop).gains(0); }

std::optional<Arrangement> in_lanes(const Program& p, const For& loop, const Varying& varying) {
  double numbers = 0;
  for (const BufferId b : rows_of_items(p, varying, loop))
    numbers += static_cast<double>(constant_extents(p, b));
  if (!fits_in_lanes(p, varying) || wait_in_blocks(p, loop, varying) || !Estimate(p, loop).gains(numbers)) return {};
  return Arrangement{.turns = kTogether, .written_out = false, .fewest = kTogether, .rows_ahead = true};
}

}  // namespace

Program take_short_items_together(Program program) {
  return put_side_by_side(std::move(program), {is_short, in_lanes});
}

}  // namespace lehr::loops
