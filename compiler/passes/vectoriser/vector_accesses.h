// Analyses of what the iterations of a vectorised loop load and store, used by the vectoriser (vectorised.h).
// They find indices that come from data (gathers), rows of arrays that belong to one iteration, and loops that gain
// nothing from unrolling. "Iteration" here means one of the iterations that run together.
#pragma once
#include <optional>
#include <vector>

#include "compiler/analysis/varying.h"

namespace lehr::loops {

/// Returns true if both bounds of the loop are literal constants and it has at least one iteration, so that its body is
/// executed in any case.
bool has_iterations(const Program& program, const For& loop);

/// Returns the index expressions inside `loop` that can be evaluated ahead of it, so that accesses need not wait for
/// them: those that load from memory, differ between iterations of the vectorised loop, and stay the same throughout
/// `loop`. If `index` is given, they may change with it. Indices of loads are considered, and those of stores too if
/// `all`. Only statements that are executed in any case count. Example: of `for k: s += table[id[n], k]` with
/// iterations over n, the expression id[n].
std::vector<ExprId> loaded_indices(const Program& program, const Varying& varying, const For& loop,
                                   std::optional<ScalarId> index, bool all);

/// Returns the trip count of the parallel region (loops::ParallelRegion) whose range `loop` runs over, if it is a
/// literal constant; nullopt otherwise, and for loops that belong to no region. The passes that vectorise estimate
/// gains by it, and fuse loops over such a range.
std::optional<std::int64_t> trip_count_of_region(const Program& program, const For& loop);

/// Returns the number of elements in one row of the array, for a fixed first index: the product of its other extents,
/// which must be constants.
std::int64_t row_elements(const Program& program, BufferId array);

/// An array shared by all iterations of which each iteration accesses only its own row, array[iteration, ...]. While
/// iterations run together, each can work on a private copy of its row.
struct IterationRow {
  BufferId array;         // the shared array
  std::size_t from = 0;   // the number of the statement of the body before which the private copy is made
  bool copy_in = false;   // true if the row must be copied in then, because its old contents may be read
  bool copy_out = false;  // true if the row is stored to, and so must be copied back after the body
};

/// Returns the arrays of which each iteration of the loop accesses only its own row. The rows have constant extents and
/// at most kCopiedElements elements. Rows that are stored to must be overwritten as a whole first, unless `loop` runs
/// over the range of a parallel region with a literal trip count.
std::vector<IterationRow> iteration_rows(const Program& program, const Varying& varying, const For& loop);

/// Returns true if the loop only adds up values of functions (exp, log) of what each iteration loads from memory. The
/// unrolled form then runs it for one iteration after another, since the loop itself fills vectors.
bool only_sums_functions(const Program& program, const Varying& varying, const For& loop);

/// Returns the size of an axis along which statements inside `loop` that are executed in any case store to private
/// scratch at `index`; nullopt if there is none. So the size is above every value of `index`, and an array with an
/// element for each value can have it.
std::optional<SizeId> axis_of(const Program& program, const Varying& varying, const For& loop, ScalarId index);

}  // namespace lehr::loops
