// Loops outside the items, made ready for several threads.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Loops of a function without parameters whose turns have nothing to do with each other become phases of it (loops.h),
/// those over as many turns one phase where they can. A turn may store to its own rows of arrays (scratch among them
/// becomes a table, as scratch is private to whoever runs a phase), to scratch that nothing else of the function
/// mentions, and add to numbers; it reads nothing that comes before it in the function but
/// other phases and constants. Loops with neither a loop nor a function in them stay, unless others of as many turns
/// (kManyTurns or more, outermost.h) go, and so do those of few turns, and all of functions that run once a fit. Loops
/// around a sum go over the rows of arrays first (with_rows_outermost).
Program share_loops(Program program);

}  // namespace lehr::loops
