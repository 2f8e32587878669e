// The interpreter of Loops: it runs a program by walking its tree. It is slow and obvious, and the oracle with which
// tests compare the native code. It also counts operations, from which costs are estimated (machine/workload.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "compiler/loops/loops.h"
#include "runtime/abi.h"

namespace lehr::loops {

/// Counts of the operations that an interpreted call executed, from which costs and chunk sizes are estimated.
struct OperationCounts {
  std::int64_t operations = 0;  // on real numbers: + - * /, minima, maxima, roots, accumulations
  std::int64_t functions = 0;   // calls of exp, log, digamma and the like on real numbers
  std::int64_t bytes = 0;       // bytes of the array elements that were read or stored

  /// Adds the counts of another run.
  OperationCounts& operator+=(const OperationCounts& other) {
    operations += other.operations;
    functions += other.functions;
    bytes += other.bytes;
    return *this;
  }
};

/// Calls `program.functions[function]` with the arguments of a lehr_function (runtime/abi.h) and returns its status: 0,
/// or the code of a failure. Cached sums and parallel regions before the function are the caller's work, as with native
/// code.
/// Every index is checked against the extent of its own axis. Violations throw std::logic_error, and so do missing
/// buffers and reads of i64 elements of local arrays that nothing stored. They are defects of the compiler. Local
/// arrays start as NaN (reals) or as an invalid index (i64). If `work` is given, it is set to the counts of this call.
std::int32_t interpret(const Program& program, std::size_t function, lehr_buffer const* buffers,
                       const std::int64_t* sizes, const std::int64_t* integers, const double* reals,
                       OperationCounts* work = nullptr);

}  // namespace lehr::loops
