// What the lowering wants to know about statements before it emits them, and the hints it gives the
// optimiser.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "compiler/loops/loops.h"
#include "compiler/native/spare_turns.h"
#include "runtime/threshold.h"

namespace lehr::native {

/// How a `for` is emitted.
struct LoopShape {
  std::optional<std::int64_t> trips;  // when both bounds are constants; with spare ones
  bool innermost = true;              // no loop below
  bool unroll_now = false;            // emitted as straight code
  bool unroll_later = false;          // asked of the optimiser, after vectorisation
  std::int64_t tail = 0;              // so many last trips of a long loop become a loop of their own
  bool is_tail = false;               // these
  bool masked = false;                // the last turns are a vector with a mask, and no loop of their own
  bool parallel = false;              // every access may be declared free of dependences between iterations
  int lanes = 1;                      // turns of an innermost loop that one vector takes
};

/// Of f64 there are `lanes` in one vector of the target.
constexpr int lanes_of(loops::Type element, int lanes) { return element == loops::Type::f32 ? 2 * lanes : lanes; }

/// `lanes`: of f64 in one vector of the target. `spare`: where turns of innermost loops may be added.
LoopShape shape_of(const loops::Program& program, const loops::For& loop, int lanes, SpareTurns* spare = nullptr);

/// The same without copies of the body, but for what fits one vector.
LoopShape small(LoopShape shape, int lanes);

/// The two loops of one with a tail.
LoopShape main_part(LoopShape shape);
LoopShape tail_part(LoopShape shape);

/// A block of more statements than this becomes several functions: what the optimiser and the code generator
/// do grows faster than the size of a function.
inline constexpr Threshold<std::size_t> kWholeBlock("native.loop_shape.whole_block", 80);

/// What statements touch.
struct Uses {
  std::map<loops::BufferId, bool> buffers;  // loaded from or stored to; true when stored to
  std::set<loops::ScalarId> scalars;        // read or assigned, and declared outside
  bool stops = false;                       // a `fail` or `break` is among them
};
/// Blocks of more than kWholeBlock statements are looked into when `large_blocks`.
Uses uses_of(const loops::Program& program, std::span<const loops::Stmt> statements, bool large_blocks);

/// A function that runs once a fit, or of which a call does so little that it is nothing beside a sweep over data.
bool does_little(const loops::Program& program, std::size_t function);

/// The same of a statement that a call comes to once: a tenth of that.
bool does_little(const loops::Program& program, const loops::Stmt& statement);

/// Statements of the block and of the blocks in it.
std::size_t statement_count(const loops::Block& block);

}  // namespace lehr::native
