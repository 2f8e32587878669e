// What nothing reads while sweeps go on: parameters of items' factors, and sums for a bound that nobody asks for.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Arrays that are needed where they are asked for alone (Buffer::needed; of rows those that functions which run once a
/// fit load, if any), are written where they are (Program::asked): statements that do nothing else, or fill arrays and
/// scalars for such statements alone, stand under this condition, if there is a loop or a costly function among them.
/// Innermost loops of constant length stay as they are inside; others are there twice, with and without such functions.
Program write_when_asked(Program program);

}  // namespace lehr::loops
