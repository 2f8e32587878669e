// The pass `guard-on-demand`: demand-driven outputs.
// Some arrays are needed by some calls only: stored parameters of items' factors, and sums for the ELBO. Callers set a
// flag for each kind (Program::demand_flags). Statements that serve only such arrays are executed only if the flag is
// set.
//   for n: ...; E = f(x); rows[n] = E      becomes      for n: ...; if (flag > 0): E = f(x); rows[n] = E
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which statements that serve only arrays on demand (Buffer::demand) are guarded by the flag of
/// their kind. Statements that fill arrays and scalars for such statements alone are guarded too.
/// A guard is made only if a loop, a fill or a costly function is among them. An innermost loop of constant length that
/// is not independent stays unguarded inside. Other innermost loops are there twice, with these statements and without.
/// Per-item rows that a frequently called function loads are always written. Cold functions stay as they are.
Program guard_on_demand(Program program);

}  // namespace lehr::loops
