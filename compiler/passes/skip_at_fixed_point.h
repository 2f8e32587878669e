// The pass `skip-at-fixed-point`: skips steps of a recurrence once it has reached a fixed point.
// The covariances of a Kalman filter (the Riccati recursion) depend on no data. As soon as a step gets the same input
// bits as the step before, it would give the same output bits, so it is skipped.
//   for t: V = f(V); m[t] = g(V, x[t])
//   becomes   for t: if (t is first or V differs from last): last = V; V = f(V)        m[t] = g(V, x[t])
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which loops over steps skip statements whose inputs have the bits of the step before.
/// The statements are consecutive, independent of the loop's index, and deterministic. They write scratch of constant
/// extents that nothing else in the loop writes. They read such scratch and what the loop does not change.
/// Their operations must outweigh the comparison of the inputs. Cold functions stay as they are.
Program skip_at_fixed_point(Program program);

}  // namespace lehr::loops
