// The verifier of parallel regions: it checks that chunks of a parallel loop cannot race. Chunks of items, and of the
// iterations of outlined loops, run at the same time on different threads (runtime/parallel/workers.h).
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Checks that chunks of parallel regions, which run at the same time on different threads, cannot race on an array.
/// verify() calls it. Returns one line for each problem, with the names of the function and the array; empty if all is
/// well. Parallel regions are those of functions (Function::regions) and the functions of a range of items, which
/// are all others with two or more parameters. Of the arrays that a region stores to,
/// * scratch and natural parameters are private: each worker has a copy. So neither the function to which a region
///   belongs nor its other regions may access them;
/// * sums are reductions, added to and not read: ParallelRegion::sums, and arrays to which a function of items adds at
///   indices that do not depend on its range;
/// * all others are shared: in every access, some index depends on the range.
/// Scratch that a call of a function reads must be stored by the same call: by the function or one of its regions.
std::vector<std::string> verify_regions(const Program& program);

}  // namespace lehr::loops
