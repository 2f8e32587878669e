// The vectoriser: rewrites a loop so that several of its iterations run together.
// There are two forms. The lane form makes each statement a loop over lanes, in which LLVM sees one vector. The
// unrolled form repeats each statement for each iteration, so that shared loads are done once.
//   for n: a = x[n]; y[n] = f(a)
//   lanes:      for n by 8: for l: a[l] = x[n + l]      for l: y[n + l] = f(a[l])
//   unrolled:   for n by 4: a[0] = x[n]; a[1] = x[n + 1]; ...; y[n] = f(a[0]); y[n + 1] = f(a[1]); ...
// Values that are the same for all iterations (varying.h) are computed once. Classes: VectorBuilder -> VectorValues ->
// VectorStatements, for arrays, expressions and statements.
#pragma once
#include <vector>

#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/varying.h"
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// The form in which iterations of a loop run together.
/// Lane form: private scratch has the lanes as its last axis; each lane has its own copy of a shared sum, added up
/// after the loop; lanes without an iteration are masked. Unrolled form: private scratch has the iterations as its
/// first axis.
struct VectorForm {
  std::int64_t width = kLanes;  // how many iterations run together: the lanes, or the unroll factor
  /// True for the unrolled form: each statement is repeated for each iteration. False for the lane form: each statement
  /// becomes a loop over lanes.
  bool unrolled = false;
  std::int64_t min_group = 3;  // a last group with fewer iterations than this runs one by one
  /// True if rows of arrays of the items are transposed into private arrays before use, so that lanes read neighbours.
  /// All private arrays then keep 64 bits (Buffer::exact), and the remainder loop is compiled as rare code.
  bool transposes_rows = false;
  /// In the unrolled form, how many of the iterations are unrolled together outside of loops that wait for functions
  /// (latency.h); 0 means all of them.
  std::int64_t unroll = 0;
};

/// Returns the statements that replace a loop of independent iterations so that several run together, as `how` says.
/// Scratch and scalars that differ between iterations get one more axis. Statements that only some iterations execute
/// are masked. `varying`: what differs between iterations. New arrays that must become local arrays of the function are
/// appended to `arrays`.
Block vectorised(Program& program, const For& loop, const Varying& varying, const VectorForm& how,
                 std::vector<BufferId>& arrays);

/// Returns the number of elements of an array as far as the code has it: the product of its constant extents. An axis
/// of run-time size, or of extent 0, counts as 1.
std::int64_t constant_extents(const Program& program, BufferId array);

/// Returns true if each array that differs between iterations is short enough for a private copy in each lane: at most
/// kCopiedElements elements, not counting axes of run-time size.
bool fits_in_lanes(const Program& program, const Varying& varying);

/// Returns true if all extents of the array are constants of the code, so that its size is fixed and it can be on the
/// stack.
bool has_constant_extents(const Program& program, const Buffer& buffer);

}  // namespace lehr::loops
