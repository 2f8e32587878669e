// The verifier of Loops, as LLVM's is of its IR: it checks what loops.h demands of a program. The compiler's own output
// is always well formed. So this runs in tests, in debug builds, with --verify-each, and on the files of `lehr opt`.
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns one line for each problem, with the name of the function; nothing if the program is well formed. It checks
/// each function (verify_functions) and, if these are well formed, what parallel regions access (verify_regions.h).
std::vector<std::string> verify(const Program& program);

/// Returns the problems of declarations and of single functions, one line for each. Programs of tests that have no
/// functions over a range of items can be checked with this alone. It checks:
/// * names, element types and padding of buffers; that sizes are constants or have a slot;
/// * types of operands, number and types of indices;
/// * indices that are literals or count loops between literals: inside the extent of their axis;
/// * scalars: used inside the block that declares them, assigned only if mutable;
/// * no stores to data; steps of loops and statuses above 0;
/// * `break` inside loops only;
/// * local arrays: constant extents, elements accessed only by the function that owns them;
/// * functions that form cached sums have no parameters, those of parallel regions have two.
std::vector<std::string> verify_functions(const Program& program);

}  // namespace lehr::loops
