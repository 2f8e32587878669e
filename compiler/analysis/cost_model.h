// The cost model: what the target has, and what operations cost on it. Passes and code generation ask here.
// Every number has a unit and one value; `bench/fit_costs.py` measures those that a machine has, each in the row that
// is named beside it. Numbers that are a choice of one algorithm stay with it.
//
// Units. A node is a node of an expression, which stands for about one instruction: the size of code. An operation is
// an addition or multiplication of vectors: time. An element is a double.
#pragma once
#include <cstdint>

#include "compiler/loops/loops.h"
#include "runtime/threshold.h"

namespace lehr::loops {

// ---- the target ----

/// The doubles in a vector of the target, for which loops are written; and in a vector of targets without 512 bits,
/// which run two of their vectors for one. Row `lanes`.
inline constexpr int kLanes = 8, kNarrowLanes = 4;
/// The vector registers of the target. Row `registers`.
inline constexpr std::int64_t kVectorRegisters = 32;
/// The bits of the shortest vector of the target.
inline constexpr unsigned kShortestVectorBits = 128;
/// The bytes of a cache line. Row `line`.
inline constexpr std::int64_t kCacheLine = 64;

/// The least number of iterations that fill a vector.
inline constexpr Threshold<std::int64_t> kFillsVector("cost_model.fills_vector", kLanes);
/// The most elements of arrays and accumulators that code may expect in registers: half of these, the others are for
/// what it loads.
inline constexpr Threshold<std::int64_t> kInRegisters("cost_model.in_registers", kVectorRegisters* kLanes / 2);
/// The most elements of one short array that stays in registers beside others: two vectors.
inline constexpr Threshold<std::int64_t> kShortArray("cost_model.short_array", 2 * kLanes);
/// The most elements of an array of which iterations have copies of their own: 8 kB, a quarter of a first-level cache.
/// Row `cache`.
inline constexpr Threshold<std::int64_t> kCopiedElements("cost_model.copied_elements", 1024);
/// The most elements of the work arrays of one function on its stack, as a thread may have little of it.
inline constexpr Threshold<std::int64_t> kOnStack("cost_model.on_stack", 4096);

// ---- time, in operations ----

/// A call of exp, log, digamma, ... Row `function`.
inline constexpr double kFunctionCost = 10;
/// A division or a root. Row `division`.
inline constexpr double kDivisionCost = 10;
/// One element of rows that are transposed, in squares of kLanes x kLanes. Row `transposition`.
inline constexpr double kTransposedCost = 0.5;
/// One element that a vector gathers from distant memory. Row `gather`.
inline constexpr double kGatherCost = 1;
/// The mean number of iterations that whole vectors leave over, if nothing tells the length of a loop.
inline constexpr double kLeftOver = (kLanes - 1) / 2.0;

/// Returns the operations of an expression without its operands: 0 for literals, scalars, extents, loads and random
/// numbers.
double operations_of(const Program& program, ExprId e);

// ---- size, in nodes ----

/// The nodes of exp, the shortest of the common functions.
inline constexpr std::int64_t kExpNodes = 25;

/// Returns the nodes of an expression without its operands: 1, or those of the formula of a function
/// (native/special_functions.cpp).
std::int64_t nodes_of(const Program& program, ExprId e);

}  // namespace lehr::loops
