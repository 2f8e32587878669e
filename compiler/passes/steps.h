// Steps of sequences that are side by side.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// In functions whose items are in lanes: loops over steps that do nothing but fill scratch of their own and add, in
/// loops, to elements that are the same at every step, take four steps at a time, so that each element is loaded and
/// stored once for them. Every element gets what it got, in the order of the steps.
Program take_steps_together(Program program);

}  // namespace lehr::loops
