// The pass `block-registers` (block_registers.cpp), and a question about it that the pass `vectorise-short-items` asks.
#pragma once
#include "compiler/analysis/varying.h"
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program with register blocking: loops over independent items run two to four items at a time. Each
/// statement is repeated for each item (the unrolled form of vectorised.h). A loop qualifies if its inner loops are
/// equally long for all items. They must read tables that all items share and that are larger than the registers. Fewer
/// items run together if their sums would not fit in registers. If an item evaluates one function after another
/// (latency.h), up to eight items run together, or sixteen in lanes: others then work while one waits.
Program block_registers(Program program);

/// Returns true if block_registers() takes sixteen items of this loop at a time, because functions of an item (exp,
/// log) wait for each other and rows of items permit it (item_rows). The pass `vectorise-short-items`, which runs
/// before, leaves such loops alone. `varying`: what differs between the iterations of `loop`.
bool hides_latency(const Program& program, const For& loop, const Varying& varying);

}  // namespace lehr::loops
