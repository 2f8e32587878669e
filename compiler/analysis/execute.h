// Runs functions of a program in the interpreter as their callers do: with the parallel regions before them. So a
// program can be compared with what a pass made of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// The memory of all arrays, by BufferId, 8 bytes for each element: integers by their bits, elements of 32 bits packed
/// in the first half. Local arrays of functions are empty.
using Arrays = std::vector<std::vector<double>>;

/// What a call of a function is given.
struct Call {
  std::size_t function = 0;            // its position in Program::functions
  std::vector<std::int64_t> sizes;     // by slot
  std::vector<std::int64_t> integers;  // its parameters of type i64, in order
  std::vector<double> reals;           // its parameters of type f64, in order
};

/// Returns true if both arrays have the same bits, so that two NaN can be equal.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b);
/// Returns the value of a size: a constant, or an element of `sizes` (by slot).
std::int64_t extent_of(const Size& s, const std::vector<std::int64_t>& sizes);
/// Returns the number of elements of an array.
std::size_t elements_of(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes);

/// Returns the number of elements of an array that carry values: those behind Buffer::used_length do not count.
std::size_t values_in(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes);
/// Returns the memory of an array that has these values: one for each element that carries a value, integers by their
/// bits. All other elements are 0.
std::vector<double> memory_of(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes,
                              const std::vector<double>& values);
/// Returns the values in the memory of an array, the inverse of memory_of(): those of 32 bits as doubles, integers by
/// their bits.
std::vector<double> values_of(const Program& p, BufferId b, const std::vector<double>& memory);

/// Runs the parallel regions of a function and then the function; cached sums must be valid. Iterations of a region run
/// one at a time from the last to the first, each with scratch full of NaN, so that a hidden dependence between them
/// shows. Sums of a region begin with 0. Returns the first status that is not 0, or 0.
std::int32_t execute(const Program& p, const Call& call, Arrays& arrays);

/// Returns one line for each array whose values differ between the two programs after a run: scratch does not count,
/// nor do expectations that `after` mentions nowhere. Numbers may differ by `tolerance`, relative to the largest of the
/// array; 0 asks for the same bits. The arrays of both programs have the same ids.
std::vector<std::string> differences(const Program& before, const Arrays& a, const Program& after, const Arrays& b,
                                     double tolerance);

}  // namespace lehr::loops
