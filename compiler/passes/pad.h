// Rows of tables that begin where vectors begin.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Tables of numbers that the code fills, with rows of constant length of one line of memory at least, are laid out
/// with rows of whole lines: a vector of a row is then never in two lines. What is behind a row stays 0
/// (Buffer::meant).
Program pad_rows(Program program);

}  // namespace lehr::loops
