// Estimates of the work in generated code, by which the scheduler of threads partitions it, and the check whether it
// may be partitioned.
#pragma once
#include <vector>

#include "compiler/lower/lower.h"

namespace lehr {

/// The estimated work of an item stage, and whether its items may run in parallel.
struct Workload {
  /// True if items may run in parallel: outside scratch, functions of the stage store only to the item's own elements
  /// of arrays over items and to sums, and they do not read the sums.
  bool parallel_safe = false;
  std::vector<loops::BufferId> scratch;  // arrays of role scratch or natural, of which each worker needs a copy
  double operations = 0;                 // estimated for an item of average length, before the passes
};

/// Analyses the functions of an item stage for the scheduler of threads: whether items may run in parallel, which
/// arrays each worker needs a copy of, and the estimated operations of an item. `sizes` has the run-time sizes of the
/// program by slot.
Workload workload_of(const model::Model& m, const loops::Lowered& l, const std::vector<std::int64_t>& sizes,
                     const loops::StageFunctions& stage);

/// Estimates the operations of one iteration of a loop that is outlined as a parallel region (loops::ParallelRegion),
/// from the code after the passes. `sizes` has the run-time sizes of the program by slot.
double operations_per_iteration(const model::Model& m, const loops::Lowered& l, const std::vector<std::int64_t>& sizes,
                                const loops::ParallelRegion& phase);

/// Estimates the operations of one call of a function outside the items, from the code before the passes, for
/// StepRow::outside. `sizes` has the run-time sizes of the program by slot.
double operations_per_call(const model::Model& m, const loops::Lowered& l, const std::vector<std::int64_t>& sizes,
                           std::size_t function);

}  // namespace lehr
