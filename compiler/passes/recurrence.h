// Loops in which one turn needs what another stored.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// A loop in the body, with a number of turns that is not a constant, in which one turn loads scratch that another
/// stored.
bool has_recurrence(const Program& program, const For& loop);

}  // namespace lehr::loops
