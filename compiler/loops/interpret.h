// Runs a Loops program by walking its tree: slow and obvious, the oracle for the native code.
#pragma once
#include <cstddef>
#include <cstdint>

#include "compiler/loops/loops.h"
#include "runtime/abi.h"

namespace lehr::loops {

/// What was done to real numbers.
struct Work {
  std::int64_t operations = 0;  // + - * /, minima, maxima, roots, and what sums add
  std::int64_t functions = 0;   // exp, log, digamma and the like
  std::int64_t bytes = 0;       // of elements of arrays that were read or stored

  Work& operator+=(const Work& other) {
    operations += other.operations;
    functions += other.functions;
    bytes += other.bytes;
    return *this;
  }
};

/// Calls `program.functions[function]` with the arguments of a lehr_function (runtime/abi.h) and returns its
/// status. Every index is checked against the extent of its own axis; a violation, a missing buffer or a read
/// of an element of a local array that nothing stored (i64) throws std::logic_error, because a program of the
/// compiler never does it. Local arrays start as NaN (f64) or as an index that no check lets pass (i64).
/// `work`, if there is one, becomes what was done.
std::int32_t interpret(const Program& program, std::size_t function, lehr_buffer const* buffers,
                       const std::int64_t* sizes, const std::int64_t* integers, const double* reals,
                       Work* work = nullptr);

}  // namespace lehr::loops
