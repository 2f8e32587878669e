// The pass `outline-parallel-loops`: outlining of parallel loops.
// Threads take chunks of the items, but the loops around them (tables, global updates, the ELBO) would run on one
// thread. The pass moves independent loops into functions of a range of iterations, which threads can take chunks of.
//   update_beta(): for k in 0 .. 20: A      becomes      update_beta.0(begin, end): for k in begin .. end: A
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which independent loops of functions without parameters are parallel regions
/// (loops::ParallelRegion). Loops of equally many iterations share a region where dependences allow it. An iteration
/// may store to its own rows of arrays, to scratch that nothing else in the function mentions, and add to scalars. It
/// may depend on constants and on regions before it, but on no other statement before it in the function. Scratch whose
/// rows a region leaves for later statements becomes a table, because scratch is private to a thread. Loops stay if
/// they have few iterations, or neither an inner loop nor a function call; the latter move if loops of equally many
/// iterations (kVectorIterations or more) move. Nests around a sum are interchanged first (outermost.h). Cold functions
/// stay as they are.
Program outline_parallel_loops(Program program);

}  // namespace lehr::loops
