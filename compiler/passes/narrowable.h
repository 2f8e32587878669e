// The analysis behind the pass `narrow`: which arrays and scalars may have 32 bits.
// It records which scalars and arrays flow into each value. An array that flows into itself through scalars is a
// recursion and stays at 64 bits, with all of its sources; the rest of the work arrays and tables may be narrowed.
#pragma once

#include "compiler/loops/loops.h"
#include "compiler/loops/small_id_set.h"

namespace lehr::loops {

/// The arrays and scalars that the pass `narrow` stores and computes in 32 bits instead of 64, where single precision
/// is requested.
struct Narrowable {
  SmallIdSet<BufferId> arrays;   // arrays whose elements become f32
  SmallIdSet<ScalarId> scalars;  // scalars that become f32
  /// f64 arrays to which a value is stored that loads an array which stays at 64 bits because of a recursion. Loads
  /// that come by way of scalars do not count. Function calls in the values that are stored to these arrays are not
  /// narrowed either.
  SmallIdSet<BufferId> exact;

  /// Returns true if the expression is real, and it or a real operand at any depth reads a narrowed array or scalar. As
  /// an operand of a comparison, such an expression is computed in 32 bits.
  bool meets(const Program& program, ExprId e) const;
};

/// Returns which arrays and scalars may have 32 bits, by the data flow in the functions that allow it
/// (Function::f32_allowed). docs/passes.md has the rules.
Narrowable narrowable(const Program& program);

/// Returns true if the store writes a parameter or an expected statistic, and its value calls a costly function (exp,
/// log, digamma). In functions with Function::f32_allowed such a value is computed in 32 bits even though
/// the array has 64, unless the array is in Narrowable::exact.
bool calls_for_item(const Program& program, const Store& store);

}  // namespace lehr::loops
