// Decisions about loops and blocks, from estimates of the size of code.
// Sizes are counted in nodes of expressions, which approximate instructions.
// A loop of few iterations is unrolled by the lowering. A longer one of constant length is vectorised and unrolled by
// LLVM if its accumulators fit in registers. In still longer ones, the last iterations, which would not fill a vector,
// become a loop of their own.
#include "compiler/native/loop_shape.h"

#include <algorithm>
#include <set>
#include <variant>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "runtime/threshold.h"

namespace lehr::native {
namespace {

using namespace loops;

/// The most nodes that the lowering makes when it unrolls a loop of few iterations.
constexpr Threshold<std::int64_t> kUnrollNowNodes("native.loop_shape.unroll_now_nodes", 400);
/// The least number of independent iterations with a function call that share half a vector.
constexpr Threshold<std::int64_t> kFewestTogether("native.loop_shape.fewest_together", 4);
/// The least nodes of a body that count as a function call there.
constexpr Threshold<std::int64_t> kFunctionNodes("native.loop_shape.function_nodes", kExpNodes);
/// The least nodes of a long body. LLVM vectorises it by one vector at a time, and shorter ones by up to four. Masking
/// the last iterations of a long body costs less than a copy of it.
constexpr Threshold<std::int64_t> kLongBodyNodes("native.loop_shape.long_body_nodes", 40);
/// The most iterations of a loop of varying length whose last ones are masked, since one by one they would take longer
/// than the vectors before them.
constexpr Threshold<std::int64_t> kShortRow("native.loop_shape.short_row", 256);
/// The most nodes that a call of a function evaluates which is optimised little: they take some microseconds.
constexpr Threshold<std::int64_t> kLittleWork("native.loop_shape.little_work", 64'000);
/// The most nodes that one execution of a statement evaluates which is optimised little.
constexpr Threshold<std::int64_t> kLittleOfStatement("native.loop_shape.little_of_statement", 6'400);
/// The least nodes in loops inside of a loop over data, an iteration, for which optimising it pays in a cold function.
constexpr Threshold<std::int64_t> kMuchOfItem("native.loop_shape.much_of_item", 4'000);
/// The most nodes of a call of a function whose nests LLVM does not unroll: it takes less than a millisecond.
constexpr Threshold<std::int64_t> kSomeWork("native.loop_shape.some_work", 4'000'000);
/// Counts are cut off here, so that products of them do not overflow.
constexpr std::int64_t kMuchWork = 1'000'000'000;
/// The most nodes that LLVM makes when it unrolls a nest after vectorisation.
constexpr Threshold<std::int64_t> kUnrollLaterNodes("native.loop_shape.unroll_later_nodes", 600);

/// Returns the trip count of a loop with constant bounds and step 1; nullopt for others.
std::optional<std::int64_t> trip_count(const Program& program, const For& loop) {
  const auto begin = literal(program, loop.begin), end = literal(program, loop.end);
  if (!begin || !end || loop.step != 1) return std::nullopt;
  return std::max<std::int64_t>(0, *end - *begin);
}

/// The size of a block when its constant loops are unrolled and the innermost ones are vectorised.
struct Measure {
  std::int64_t nodes = 0;  // nodes in all
  bool constant = true;    // true if all loops have constant bounds
  bool has_loop = false;   // true if there is a loop
  bool has_break = false;  // true if there is a `break`
};

/// Returns the size of a block. `lanes`: doubles in a vector.
Measure measure(const Program& program, const Block& block, int lanes);

/// Returns the iterations of a block that one vector takes: as many as it holds of the widest reals in the block.
int lanes_in(const Program& program, const Block& block, int lanes) {
  bool wide = false, narrow = false;
  Walk{program,
       [&](ExprId id) {
         wide = wide || program[id].type == Type::f64;
         narrow = narrow || program[id].type == Type::f32;
       },
       [](BufferId, bool) {}}
      .block(block);
  return lanes_of(narrow && !wide ? Type::f32 : Type::f64, lanes);
}

/// Adds the size of a statement to `total`.
void add_statement(const Program& program, const Stmt& statement, int lanes, Measure& total) {
  if (const auto* loop = std::get_if<For>(&statement.node)) {
    const Measure inner = measure(program, loop->body, lanes);
    const auto trips = trip_count(program, *loop);
    const int at_a_time = inner.has_loop ? 1 : lanes_in(program, loop->body, lanes);
    const std::int64_t rounds = (trips.value_or(1) + at_a_time - 1) / at_a_time;
    total.nodes += inner.nodes * std::max<std::int64_t>(1, rounds);
    total.constant = total.constant && trips && inner.constant;
    total.has_loop = true;
    return;
  }
  if (const auto* branch = std::get_if<If>(&statement.node)) {
    for (const Block* side : {&branch->then_block, &branch->else_block}) {
      const Measure inner = measure(program, *side, lanes);
      total.nodes += inner.nodes + 1;
      total.constant = total.constant && inner.constant;
      total.has_loop = total.has_loop || inner.has_loop;
      total.has_break = total.has_break || inner.has_break;
    }
    Walk{program, [&](ExprId id) { total.nodes += nodes_of(program, id); }, [](BufferId, bool) {}}.expr(
        branch->condition);
    return;
  }
  if (std::holds_alternative<BreakIf>(statement.node)) total.has_break = true;
  Walk walk{program, [&](ExprId id) { total.nodes += nodes_of(program, id); }, [](BufferId, bool) {}};
  std::visit([&](const auto& node) { walk.statement(node); }, statement.node);
}

Measure measure(const Program& program, const Block& block, int lanes) {
  Measure total;
  for (const Stmt& statement : block)
    add_statement(program, statement, lanes, total);
  return total;
}

/// Returns true if the body stores to scratch, or adds to an array, of which iterations do not each have their own
/// element. An element is an iteration's own if the loop's index is the last index of every access.
bool shares_scratch(const Program& program, const For& loop) {
  Effects others;  // of statements whose accesses are not looked at one by one
  for (const Stmt& s : loop.body)
    if (!std::holds_alternative<Store>(s.node) && !std::holds_alternative<Let>(s.node))
      others.add(effects_of(program, s));
  const Accesses accesses(program, loop);
  return std::ranges::any_of(accesses.all(), [&](const auto& of_array) {
    const auto& [array, all] = of_array;
    const bool stored = std::ranges::any_of(all, [&](const IterationAccess& x) {
      return x.kind == AccessKind::add || (x.kind == AccessKind::store && program[array].role == Role::scratch);
    });
    if (others.stores.contains(array)) return true;
    return stored && (others.loads.contains(array) || !accesses.is_own(array, program[array].axes.size() - 1));
  });
}

/// Returns true if every access is next to that of the iteration before, or the same in all iterations, so that vectors
/// need no gathers.
bool runs_along(const Program& program, const For& loop) {
  Varying own{{loop.index}, {}};
  for (const Stmt& s : loop.body) {
    if (std::holds_alternative<If>(s.node)) return false;
    if (const auto scalar = declared(s)) own.scalars.insert(*scalar);
  }
  const auto is_along = [](const IterationAccess& x) {
    for (std::size_t k = 0; k < x.axes.size(); ++k)
      if (x.axes[k] != Dependence::none && (k + 1 < x.axes.size() || x.axes[k] != Dependence::index)) return false;
    return true;
  };
  const Accesses accesses(program, loop.body, own, loop.index);
  return std::ranges::all_of(accesses.all(), [&](const auto& x) { return std::ranges::all_of(x.second, is_along); });
}

/// Returns an upper bound of an integer expression, from upper bounds of scalars; nullopt if there is none.
std::optional<std::int64_t> largest(const Program& program, ExprId id, const UpperBounds& bounds) {
  const Expr& e = program[id];
  if (const auto* x = std::get_if<ConstI>(&e.node)) return x->value;
  if (const auto* x = std::get_if<Get>(&e.node)) {
    const auto bound = bounds.find(x->scalar);
    return bound == bounds.end() ? std::nullopt : std::optional(bound->second);
  }
  const auto* x = std::get_if<Binary>(&e.node);
  if (!x) return std::nullopt;
  const auto l = largest(program, x->left, bounds), r = largest(program, x->right, bounds);
  if (x->op == BinaryOp::add && l && r) return *l + *r;
  if (x->op == BinaryOp::minimum && (l || r)) return std::min(l.value_or(kMuchWork), r.value_or(kMuchWork));
  return std::nullopt;
}

/// Counts the nodes that a call evaluates at most, if no loop's length depends on data.
class Work {
 public:
  /// Counts for statements without parameters.
  explicit Work(const Program& program) : program_(program) {}
  /// Counts for a function; that of a parallel region gets ranges up to `trips`.
  Work(const Program& program, const Function& function, std::optional<std::int64_t> trips) : program_(program) {
    for (ScalarId p : function.parameters)
      if (trips) largest_[p] = *trips;
  }

  /// Returns the nodes that the statements evaluate; nullopt if data decide.
  std::optional<std::int64_t> of(std::span<const Stmt> statements) {
    const std::int64_t total = nodes_of(statements);
    return bounded_ ? std::optional(total) : std::nullopt;
  }

 private:
  /// The functions `nodes` return the nodes that a statement evaluates, and clear bounded_ if data decide.
  std::int64_t nodes(const For& loop) {
    const auto end = largest(program_, loop.end, largest_);
    bounded_ = bounded_ && end;
    if (!bounded_) return 0;
    const std::int64_t length = std::max<std::int64_t>(0, *end - literal(program_, loop.begin).value_or(0));
    largest_[loop.index] = *end - 1;
    return std::min(kMuchWork, nodes_of(loop.body)) * std::min(kMuchWork, (length + loop.step - 1) / loop.step);
  }

  std::int64_t nodes(const Fill& fill) {
    std::int64_t total = 1;
    for (SizeId axis : program_[fill.buffer].axes) {
      bounded_ = bounded_ && program_[axis].constant >= 0;
      total = std::min(kMuchWork, total * program_[axis].constant);
    }
    return total;
  }

  std::int64_t nodes(const If& branch) { return std::max(nodes_of(branch.then_block), nodes_of(branch.else_block)); }

  template <class Node>
  std::int64_t nodes(const Node& node) {
    std::int64_t total = 1;
    Walk{program_, [&](ExprId id) { total += loops::nodes_of(program_, id); }, [](BufferId, bool) {}}.statement(node);
    return total;
  }

  std::int64_t nodes_of(std::span<const Stmt> statements) {
    std::int64_t total = 0;
    for (const Stmt& s : statements)
      total += std::visit([&](const auto& node) { return nodes(node); }, s.node);
    return total;
  }

  const Program& program_;
  UpperBounds largest_;  // of scalars
  bool bounded_ = true;  // true while no loop's length depends on data
};

/// Returns true if a call of function number `function` evaluates at most so many nodes whatever the data are.
bool does_at_most(const Program& program, std::size_t function, std::int64_t most) {
  std::optional<std::int64_t> trips;
  for (const Function& f : program.functions) {
    for (const ParallelRegion& phase : f.regions)
      if (phase.function == function) trips = literal(program, phase.trip_count);
  }
  const auto nodes = Work(program, program.functions[function], trips).of(program.functions[function].body);
  return nodes && *nodes <= most;
}

}  // namespace

LoopShape shape_of(const Program& program, const For& loop, int lanes, TripPadding* spare, const UpperBounds& bounds) {
  LoopShape shape;
  shape.trips = trip_count(program, loop);
  const Measure body = measure(program, loop.body, lanes);
  shape.innermost = !body.has_loop;
  shape.lanes = lanes = lanes_in(program, loop.body, lanes);
  if (spare && shape.trips && shape.innermost) *shape.trips += spare->extra_trips(loop, lanes);
  // Scratch that iterations share makes them dependent, until it is private.
  shape.parallel = loop.independent && shape.innermost && !shares_scratch(program, loop);
  const bool is_short = largest(program, loop.end, bounds).value_or(kMuchWork) <= program.thresholds[kShortRow];
  shape.masked = !shape.trips && shape.innermost && !body.has_break &&
                 (is_short || body.nodes >= program.thresholds[kLongBodyNodes]) && runs_along(program, loop);
  if (!shape.trips || !body.constant) return shape;
  const std::int64_t trips = *shape.trips;
  if (shape.parallel && trips >= program.thresholds[kFewestTogether] && 2 * trips == lanes &&
      body.nodes >= program.thresholds[kFunctionNodes])
    shape.lanes = lanes = static_cast<int>(trips);  // half a vector
  // An innermost loop of half a vector or less, or another one of at most four iterations, is unrolled now.
  const bool few = trips <= (shape.innermost ? lanes / 2 : 4);
  shape.unroll_now = trips <= 1 || (few && trips * body.nodes <= program.thresholds[kUnrollNowNodes]);
  const std::int64_t rounds = shape.innermost ? (trips + lanes - 1) / lanes : trips;
  // The accumulators of an innermost loop that do not fit in registers would be spilled in every loop around.
  const bool fits = !shape.innermost || rounds <= program.thresholds[kInRegisters] / kLanes;
  shape.unroll_later =
      !shape.unroll_now && !body.has_break && fits && rounds * body.nodes <= program.thresholds[kUnrollLaterNodes];
  // A long loop: the iterations after the last whole round of vectors become a loop of their own.
  if (shape.innermost && !shape.unroll_now && !shape.unroll_later && !body.has_break) {
    const std::int64_t round = body.nodes >= program.thresholds[kLongBodyNodes] ? lanes : 4 * lanes;
    shape.tail = trips > round ? trips % round : 0;
  }
  return shape;
}

LoopShape small(LoopShape shape, int lanes) {
  shape.unroll_now = shape.unroll_now && *shape.trips <= 1;
  shape.unroll_later = shape.unroll_later && shape.innermost && *shape.trips <= lanes;
  shape.tail = 0;
  return shape;
}

LoopShape without_nests(LoopShape shape) {
  shape.unroll_later = shape.unroll_later && shape.innermost;
  return shape;
}

LoopShape main_part(LoopShape shape) {
  shape.trips = *shape.trips - shape.tail;
  return shape;
}

LoopShape tail_part(LoopShape shape) {
  shape.trips = shape.tail;
  shape.is_tail = shape.unroll_later = true;
  return shape;
}

Uses uses_of(const Program& program, std::span<const Stmt> statements, bool large_blocks) {
  Uses out;
  std::set<ScalarId> declared;
  const auto on_buffer = [&](BufferId buffer, bool stored) {
    auto [it, inserted] = out.buffers.try_emplace(buffer, stored);
    it->second = it->second || stored;
  };
  const auto on_scalar = [&](ScalarId scalar, loops::ScalarUse how) {
    (how == loops::ScalarUse::declared ? declared : out.scalars).insert(scalar);
  };
  Walk walk{program, [](ExprId) {}, on_buffer, on_scalar};
  if (!large_blocks) walk.largest_block = program.thresholds[kWholeBlock];
  for (const Stmt& s : statements)
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  for (ScalarId s : declared)
    out.scalars.erase(s);
  out.stops = walk.stops;
  return out;
}

bool is_cheap_code(const Program& program, std::size_t function) {
  return program.functions[function].cold || does_at_most(program, function, program.thresholds[kLittleWork]);
}

bool keeps_nests(const Program& program, std::size_t function) {
  return does_at_most(program, function, program.thresholds[kSomeWork]);
}

bool is_cheap_code(const Program& program, const Stmt& statement) {
  const auto nodes = Work(program).of({&statement, 1});
  return nodes && *nodes <= program.thresholds[kLittleOfStatement];
}

bool is_costly_code(const Program& program, const Stmt& statement) {
  const auto in = [&](const Block& block) {
    return std::ranges::any_of(block, [&](const Stmt& s) { return is_costly_code(program, s); });
  };
  if (const auto* branch = std::get_if<If>(&statement.node)) return in(branch->then_block) || in(branch->else_block);
  const auto* loop = std::get_if<For>(&statement.node);
  if (!loop) return false;
  std::int64_t nodes = 0;  // of the loops inside
  bool bounded = !trip_count(program, *loop);
  for (const Stmt& s : loop->body) {
    if (!std::holds_alternative<For>(s.node)) continue;
    const auto inside = Work(program).of({&s, 1});
    bounded = bounded && inside;
    nodes += inside.value_or(0);
  }
  return bounded ? nodes >= program.thresholds[kMuchOfItem] : in(loop->body);
}

std::size_t statement_count(const Block& block) {
  std::size_t count = block.size();
  for (const Stmt& s : block) {
    if (const auto* loop = std::get_if<For>(&s.node)) count += statement_count(loop->body);
    if (const auto* branch = std::get_if<If>(&s.node))
      count += statement_count(branch->then_block) + statement_count(branch->else_block);
  }
  return count;
}

}  // namespace lehr::native
