// Arrays that take longer to keep than to compute.
#pragma once
#include "compiler/loops/loops.h"
#include "runtime/threshold.h"

namespace lehr::loops {

/// More elements of 64 bits than the registers of a processor hold.
inline constexpr Threshold<std::int64_t> kInMemory("recompute.in_memory", 16);

/// An array of a function, of one axis and kInMemory elements at least, that one loop fills with products and sums of
/// at most two elements of other arrays, which stay what they are, and that is read after that loop, in the same block,
/// and nowhere else: it goes, and what reads it computes it, long rows of tables from memory again (Load::again). Its
/// elements have the same bits.
Program recompute(Program program);

}  // namespace lehr::loops
