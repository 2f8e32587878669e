// Random programs in Loops with data, in the forms that lowering makes: functions of a range of items with sums,
// recurrences, guards and rows of different lengths, and functions with independent loops over tables.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/analysis/execute.h"
#include "compiler/loops/loops.h"

namespace lehr::test {

/// A program and what its functions are called with.
struct RandomProgram {
  loops::Program program;           // with the functions "items" (begin, end) and "globals"
  std::vector<std::int64_t> sizes;  // by slot
  loops::Arrays arrays;             // content of all arrays before a call
  std::int64_t items = 0;           // the number of items
  bool f32 = false;                 // the pass `narrow` may round to 32 bits
};

/// Returns the program of a seed. Each switches a random half of the kinds of statements off, so that those that hide
/// each other are seen alone.
RandomProgram random_program(std::uint64_t seed);

}  // namespace lehr::test
