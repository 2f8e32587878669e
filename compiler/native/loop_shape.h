// Decisions of the lowering about loops and blocks, made before any LLVM code is emitted: unrolling, tails, hints for
// LLVM's vectoriser, and how much LLVM should optimise.
// Sizes are counted in nodes of expressions, as in the cost model (analysis/cost_model.h).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "compiler/loops/loops.h"
#include "compiler/native/padded_trips.h"
#include "runtime/threshold.h"

namespace lehr::native {

/// The decisions about how one loop becomes LLVM code: unrolling, tail loop, masking, and hints for LLVM's vectoriser.
struct LoopShape {
  std::optional<std::int64_t> trips;  // the trip count with harmless extra iterations, if bounds are constant, step 1
  bool innermost = true;              // true if there is no loop inside
  bool unroll_now = false;            // the lowering emits copies of its body, and no loop
  bool unroll_later = false;          // LLVM is asked to unroll it completely, after vectorisation
  std::int64_t tail = 0;              // how many last iterations of a long loop become a loop of their own
  bool is_tail = false;               // true of the loop of these last iterations
  bool masked = false;                // LLVM is asked to mask the last vector instead of making a remainder loop
  bool parallel = false;              // accesses of an innermost loop may be declared free of loop-carried dependences
  int lanes = 1;                      // iterations of an innermost loop that one vector holds
};

/// Returns how many numbers of this type fit in a vector that holds `lanes` doubles.
constexpr int lanes_of(loops::Type element, int lanes) { return element == loops::Type::f32 ? 2 * lanes : lanes; }

/// Upper bounds of integer scalars.
using UpperBounds = std::map<loops::ScalarId, std::int64_t>;

/// Returns how the loop is to be emitted. `lanes`: doubles in a vector of the target. If `spare` is given, an innermost
/// loop may get extra iterations that change nothing (padded_trips.h). `bounds`: of the indices of loops around.
LoopShape shape_of(const loops::Program& program, const loops::For& loop, int lanes, TripPadding* spare = nullptr,
                   const UpperBounds& bounds = {});

/// Returns the shape without what makes code larger, for code that is optimised little: no copies of the body except
/// for a loop of one vector or one iteration, and no tail. `lanes`: doubles in a vector of the target.
LoopShape small(LoopShape shape, int lanes);

/// Returns the shape without `unroll_later` if the loop has loops inside, for functions that keep their nests
/// (keeps_nests). `unroll_now` stays.
LoopShape without_nests(LoopShape shape);

/// Returns the shape of the first loop of the two that a loop with a tail becomes: whole vectors.
LoopShape main_part(LoopShape shape);
/// Returns the shape of the second loop of the two that a loop with a tail becomes: the last iterations.
LoopShape tail_part(LoopShape shape);

/// The most statements of a block that is emitted as one function. A larger one is split (outlining.cpp), because the
/// time of LLVM's passes grows faster than the size of a function.
inline constexpr Threshold<std::size_t> kWholeBlock("native.loop_shape.whole_block", 80);

/// The arrays and scalars that some statements access: what a function needs as arguments if these statements become
/// its body.
struct Uses {
  std::map<loops::BufferId, bool> buffers;  // the arrays that are accessed; true for those that are stored to
  std::set<loops::ScalarId> scalars;        // scalars that are read or assigned, but declared outside
  bool stops = false;                       // true if a `fail` or a `break` is among the statements
};
/// Returns which arrays and scalars the statements access, and whether they contain a `fail` or `break`. Unless
/// `large_blocks`, blocks of more than kWholeBlock statements inside are left out, since they become functions of their
/// own.
Uses uses_of(const loops::Program& program, std::span<const loops::Stmt> statements, bool large_blocks);

/// Returns true if function number `function` of the program is optimised little, its costly statements excepted: it
/// is cold, or a call evaluates at most 64,000 nodes whatever the data are, which takes some microseconds.
bool is_cheap_code(const loops::Program& program, std::size_t function);

/// Returns true if LLVM is not asked to unroll nests of loops in function number `function` of the program: a call
/// evaluates at most 4,000,000 nodes whatever the data are, so that compiling the copies takes longer than they save in
/// a fit.
bool keeps_nests(const loops::Program& program, std::size_t function);

/// Returns true if the statement does so little work that optimising it does not pay: one execution evaluates at most
/// 6,400 nodes whatever the data are.
bool is_cheap_code(const loops::Program& program, const loops::Stmt& statement);

/// Returns true if optimising the statement pays even if it runs only once a fit: an iteration of a loop whose length
/// data decide evaluates at least kMuchOfItem nodes in loops.
bool is_costly_code(const loops::Program& program, const loops::Stmt& statement);

/// Returns the number of statements in the block and in all blocks inside it, which decides where large blocks are
/// divided.
std::size_t statement_count(const loops::Block& block);

}  // namespace lehr::native
