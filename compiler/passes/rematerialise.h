// The pass `rematerialise`: rematerialisation of arrays that are cheaper to compute than to store.
// A long work array goes through memory; if an element is a product of two loads, computing it again at each use costs
// less.
//   for k: w[k] = a[k] * b[i, k]      for k: s[k] += c * w[k]      becomes      for k: s[k] += c * (a[k] * b[i, k])
#pragma once
#include "compiler/loops/loops.h"
#include "runtime/threshold.h"

namespace lehr::loops {

/// The least length of an array that is recomputed: shorter arrays of doubles fit in the registers of a processor.
inline constexpr Threshold<std::int64_t> kInMemory("rematerialise.in_memory", 16);

/// Returns the program in which arrays of cheap elements are computed where they are read. An array qualifies if
/// * it is local to a function, of one axis and at least kInMemory elements,
/// * one loop fills it with products and sums of at most two loads, whose sources do not change afterwards,
/// * all reads follow that loop in the same block.
/// Long rows of tables are marked to be read from memory again (Load::reload). Elements keep their bits; a factor that
/// is common to all terms of a sum is taken out (factors.h).
Program rematerialise(Program program);

}  // namespace lehr::loops
