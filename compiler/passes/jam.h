// Turns of a loop over data, several at a time.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Loops of a number of turns that is known when the data are, with loops of constant length in them (64 at most, or
/// kInMemory at least), go through eight turns at once, four where loops have more than 24 and at most 64: what they
/// load of the same element, and add to it, is loaded and stored once, and their sums do not wait for each other. A
/// turn fills the scratch that it reads, and beyond that does nothing but add to elements that are the same for all
/// turns. One condition may stand in it, without an alternative: where one of the turns fulfils it, these are gone
/// through one by one. Functions that run once a fit stay as they are.
Program jam_turns(Program program);

}  // namespace lehr::loops
