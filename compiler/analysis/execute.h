// Runs functions of a program in the interpreter as their callers do: with the parallel regions before them. So a
// program can be compared with what a pass made of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// The memory of all arrays of a program for a run in the interpreter, by BufferId. An array has 8 bytes for each
/// element: integers are stored by their bits, elements of 32 bits packed in the first half. Local arrays of functions
/// are empty.
using Arrays = std::vector<std::vector<double>>;

/// Which function of a program execute() is to call, and with which arguments.
struct Call {
  std::size_t function = 0;            // the function, by its position in Program::functions
  std::vector<std::int64_t> sizes;     // the extents of axes that are read at run time, by Size::slot
  std::vector<std::int64_t> integers;  // arguments for the function's parameters of type i64, in order
  std::vector<double> reals;           // arguments for the function's parameters of type f64, in order
};

/// Returns true if both arrays have the same length and the same bits: NaN equals NaN of the same bits, and 0 is not
/// -0.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b);
/// Returns the extent of an axis: the constant of `s`, or the element of `sizes` at its slot.
std::int64_t extent_of(const Size& s, const std::vector<std::int64_t>& sizes);
/// Returns the number of elements of an array, the product of its extents: padding behind rows counts too. 1 for an
/// array without axes. `sizes`: extents that are read at run time, by slot.
std::size_t elements_of(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes);

/// Returns the number of elements of an array that carry values: the padding at the end of each row, behind
/// Buffer::used_length, does not count.
std::size_t values_in(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes);
/// Returns memory for an array, filled with `values` to run a program on: one for each element that carries a value, in
/// row-major order, integers by their bits. The padding of rows is 0. Values of an f32 array are rounded and packed.
std::vector<double> memory_of(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes,
                              const std::vector<double>& values);
/// Returns the values in the memory of an array, the inverse of memory_of(): those of 32 bits as doubles, integers by
/// their bits.
std::vector<double> values_of(const Program& p, BufferId b, const std::vector<double>& memory);

/// Runs the parallel regions of a function and then the function itself in the interpreter, and changes `arrays` as the
/// program does. `lehr opt` and tests run programs before and after passes with it. Cached sums must be valid.
/// Iterations of a region run one at a time from the last to the first, each with scratch full of NaN, so that a hidden
/// dependence between them shows. Sums of a region begin with 0. Returns the first status that is not 0, or 0.
std::int32_t execute(const Program& p, const Call& call, Arrays& arrays);

/// Compares the results of a program before and after passes: returns one line for each array whose values differ.
/// `a` and `b` are the arrays after a run of `before` and of `after`, with the same ids. Scratch does not count, nor do
/// expectations that `after` never mentions. Floating-point values may differ by `tolerance` times the largest value of
/// the array; integers, and all values if `tolerance` is 0, must have the same bits.
std::vector<std::string> differences(const Program& before, const Arrays& a, const Program& after, const Arrays& b,
                                     double tolerance);

}  // namespace lehr::loops
