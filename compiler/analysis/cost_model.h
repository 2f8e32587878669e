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

/// The number of doubles in a vector register: kLanes of 512 bits, the width for which passes vectorise loops, and
/// kNarrowLanes on processors without 512 bits, where two registers take the place of one. bench/fit_costs.py measures
/// it (row `lanes`).
inline constexpr int kLanes = 8, kNarrowLanes = 4;
/// The number of vector registers of the target. bench/fit_costs.py measures it (row `registers`).
inline constexpr std::int64_t kVectorRegisters = 32;
/// The width in bits of the shortest vector register of the target. Masked accesses to the first few lanes of a vector
/// are replaced by accesses to a shorter vector only down to this width.
inline constexpr unsigned kShortestVectorBits = 128;
/// The bytes of a cache line, to which rows of tables are padded and in which data are prefetched. bench/fit_costs.py
/// measures it (row `line`).
inline constexpr std::int64_t kCacheLine = 64;

/// The number of iterations from which a loop is long enough to fill a vector; passes leave shorter ones alone.
inline constexpr Threshold<std::int64_t> kFillsVector("cost_model.fills_vector", kLanes);
/// The most elements of arrays and accumulators that generated code may hold in vector registers at once. It is half of
/// what the registers hold; the other half is for loaded values. Register blocking uses it.
inline constexpr Threshold<std::int64_t> kInRegisters("cost_model.in_registers", kVectorRegisters* kLanes / 2);
/// The length, in elements, up to which one array stays in registers beside other values: two vectors. The pass
/// `rematerialise` computes or loads the elements of longer ones again.
inline constexpr Threshold<std::int64_t> kShortArray("cost_model.short_array", 2 * kLanes);
/// The most elements that an array may have if a pass gives each iteration of a loop a private copy of it: 8 kB, a
/// quarter of a first-level cache, which bench/fit_costs.py measures (row `cache`).
inline constexpr Threshold<std::int64_t> kCopiedElements("cost_model.copied_elements", 1024);
/// The most elements that the local arrays of one generated function may have on the stack together, as a thread may
/// have a small stack. Further work arrays become scratch buffers.
inline constexpr Threshold<std::int64_t> kOnStack("cost_model.on_stack", 4096);

// ---- time, in operations ----

/// The cost of a call of exp, log, digamma, ... in operations (additions or multiplications of vectors).
/// bench/fit_costs.py measures it (row `function`).
inline constexpr double kFunctionCost = 10;
/// The cost of a division or a square root, in operations (additions or multiplications of vectors). bench/fit_costs.py
/// measures it (row `division`).
inline constexpr double kDivisionCost = 10;
/// The cost for each element of transposing rows in squares of kLanes x kLanes, so that items lie side by side in a
/// vector, in operations (additions or multiplications of vectors). bench/fit_costs.py measures it (row
/// `transposition`).
inline constexpr double kTransposedCost = 0.5;
/// The cost for each element of a gather, which loads a vector from addresses far from each other, in operations
/// (additions or multiplications of vectors). bench/fit_costs.py measures it (row `gather`).
inline constexpr double kGatherCost = 1;
/// The mean number of iterations that remain after whole vectors of kLanes if the length of a loop is unknown to the
/// compiler: 3.5, as 0 to 7 are equally likely. Each remainder counts like one vector step.
inline constexpr double kLeftOver = (kLanes - 1) / 2.0;

/// Returns the time of one expression without its operands, in operations: 10 for functions, divisions and roots, 1 for
/// other arithmetic, 0 for literals, scalars, extents, loads and random numbers. The pass `skip-at-fixed-point` adds it
/// up to see whether the work it would skip is worth a test.
double operations_of(const Program& program, ExprId e);

// ---- size, in nodes ----

/// The size of the inlined code of exp, in nodes (about one instruction each); log, digamma and lgamma are longer.
inline constexpr std::int64_t kExpNodes = 25;

/// Returns the size of the code of one expression without its operands, in nodes (about one instruction each): 1, or
/// for exp, log, digamma, ... the size of the formula that is inlined. Code generation uses it to limit unrolling
/// and the time of optimisation.
std::int64_t nodes_of(const Program& program, ExprId e);

}  // namespace lehr::loops
