// Checks what loops.h demands of a program. The compiler's own output is always well formed, so this runs in
// tests and in debug builds only.
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// One line per problem, naming the function: types of operands, number and type of indices, scalars used
/// outside the block that declares them or assigned although immutable, `break` outside a loop, local arrays
/// with extents known only at run time or used by a function that does not own them. Empty when the program is well
/// formed. What parallel regions touch is checked by verify_regions.h.
std::vector<std::string> verify(const Program& program);

}  // namespace lehr::loops
