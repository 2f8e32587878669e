// The verifier of Loops, as LLVM's is of its IR: it checks what loops.h demands of a program. The compiler's own output
// is always well formed. So this runs in tests, in debug builds, with --verify-each, and on the files of `lehr opt`.
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Checks that a program in Loops is well formed, and returns one line for each problem with the name of the function;
/// an empty vector if there is none. It checks types, scopes and indices of each function (verify_functions) and, if
/// these are in order, that parallel regions cannot race (verify_regions).
std::vector<std::string> verify(const Program& program);

/// Checks the declarations and each function of a program by itself, without the accesses of parallel regions, and
/// returns one line for each problem. verify() calls it first; tests whose functions with two parameters are no
/// parallel regions call it alone. It checks:
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
