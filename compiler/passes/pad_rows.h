// The pass `pad-rows`: padding of the rows of tables to whole cache lines.
// A row of 100 doubles takes twelve and a half lines of 64 bytes, so that in every second row vectors would straddle
// two lines. With 104 elements to a row every row begins where a line begins.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program with padded tables. A table is padded if the code fills it element by element or with zeros. It
/// must have at least two axes, and rows of a constant length of at least one cache line. The elements behind a row
/// stay 0, and Buffer::used_length has the length of a row without them.
Program pad_rows(Program program);

}  // namespace lehr::loops
