// Conditions under which a function fails, where they do not hold up a loop.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// An innermost loop of 8 turns or more, in no loop of fewer, that calls functions and fails where an element is not
/// proper goes on to its end and fails then: it has no way out, so that its turns can be worked on as vectors. What a
/// function that fails has stored means nothing.
Program check_after_loops(Program program);

}  // namespace lehr::loops
