// The order of loops around one sum.
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/loops/loops.h"
#include "runtime/threshold.h"

namespace lehr::loops {

/// Turns of a loop outside the items that can be worked on together: as many as a vector has lanes.
constexpr Threshold<std::int64_t> kManyTurns("outermost.many_turns", 8);
/// Numbers of a row that are kept for all turns together, at most.
constexpr Threshold<std::int64_t> kWidestRow("outermost.widest_row", 1024);

/// Loops between constants around one sum, whose innermost index tells rows of arrays apart, x[k, ...], and has turns
/// enough: the same with that loop outermost, so that each turn reads its rows from beginning to end and several can be
/// worked on together. Nothing where more arrays are read along that index, or where it is in other places.
std::optional<Stmt> with_rows_outermost(const Program& program, const Stmt& nest);

}  // namespace lehr::loops
