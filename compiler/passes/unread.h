// Parameters of items' factors that nothing reads while sweeps go on.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Rows (Buffer::rows) that are loaded by functions that run once a fit alone, if by any, are written where they are
/// asked for (Program::rows_asked): statements that do nothing else stand under this condition, with loops before them
/// that fill arrays for them alone.
Program write_when_asked(Program program);

}  // namespace lehr::loops
