// Items by the length of their rows, so that those side by side end together.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Loops of independent turns that have a recurrence, as long as data of the turn say: in every window of 256 turns the
/// longest come first.
Program sort_turns(Program program);

}  // namespace lehr::loops
