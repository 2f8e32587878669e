// The verifier of Loops, as LLVM's is of its IR: it checks what loops.h demands of a program. The compiler's own output
// is always well formed, so this runs in tests and in debug builds only.
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns one line for each problem, with the name of the function; nothing if the program is well formed. It checks
/// each function (verify_functions) and, if these are well formed, what parallel regions access (verify_regions.h).
std::vector<std::string> verify(const Program& program);

/// Returns the problems of single functions, one line for each. Programs of tests whose functions are not of a range of
/// items need no more. It checks:
/// * types of operands, number and types of indices, names of buffers;
/// * indices that are literals or count loops between literals: inside the extent of their axis;
/// * scalars: used inside the block that declares them, assigned only if mutable;
/// * `break` inside loops only;
/// * local arrays: constant extents, used only by the function that owns them.
std::vector<std::string> verify_functions(const Program& program);

}  // namespace lehr::loops
