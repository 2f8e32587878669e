// Statements of the vectoriser (vectorised.h): what the body of the original loop becomes for a group of iterations.
// Statements that write private scalars or arrays are repeated for each iteration; consecutive ones share one loop over
// lanes. An inner loop in general stays one loop for all iterations: if its length differs, it runs as long as the
// longest, with the others masked. A branch whose condition differs becomes a mask (if-conversion).
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/loops/facts.h"
#include "compiler/passes/vectoriser/latency.h"
#include "compiler/passes/vectoriser/vector_values.h"

namespace lehr::loops {

/// Translates the statements of a loop that is vectorised to statements for a group of its iterations that run
/// together. Scalars and arrays are private if each iteration of the group has its own version. vectorised() uses it.
class VectorStatements : public VectorValues {
 public:
  /// Constructs with the program, the loop, what differs between its iterations, and the form, as VectorValues does.
  using VectorValues::VectorValues;

  /// Returns the statements that replace block `b` of the original loop in the vectorised code. They act for the
  /// iterations of the group that mask `m` includes.
  Block block(const Block& b, const Mask& m);
  /// Returns true if the statement writes one thing alone: a private scalar, an element of a private array or row, or a
  /// sum (is_sum()).
  bool is_private(const Stmt& s) const;
  /// Returns statements that add the private copies `copies` of a sum over the iterations, and add the totals to the
  /// array `sum`.
  Block added_up(BufferId sum, BufferId copies);

 protected:
  std::map<BufferId, BufferId> sums_;  // lane form: by array of Role::statistic, the copy to which each lane adds

 private:
  // ---- private scalars, arrays and sums ----

  /// Returns the value that a statement stores if it calls a function (exp, log) and differs between iterations;
  /// nullopt otherwise.
  std::optional<ExprId> called(const Stmt& s) const;
  /// Appends a loop over the iterations that evaluates `call` into a new array, so that LLVM can vectorise the function
  /// although statements are unrolled.
  void evaluate_calls(ExprId call, const Mask& m, Block& out);
  /// Returns true if each iteration has a private version of the array, or of its row, at this point.
  bool is_row(BufferId b) const {
    return varying_.arrays.contains(b) || transposed_.contains(b) || row_copies_.contains(b);
  }
  /// Returns true if the store adds to a sum over items (an array of Role::statistic), at an element that is the same
  /// for all iterations. The array must have constant extents and, in the lane form, at most kCopiedElements elements,
  /// as each lane then has a copy. In the unrolled form the iterations add to the array itself.
  bool is_sum(const Store& x) const;
  /// Returns true if the last index is that of the vectorised loop, so that iterations access neighbouring elements.
  bool is_consecutive(const std::vector<ExprId>& at) const {
    return !at.empty() && is_scalar(p_, at.back(), loop_.index);
  }
  /// Translates a private statement for the iteration that code is made for; nullopt if it is not one (is_private()).
  std::optional<Stmt> private_statement(const Stmt& s, const Mask& m);
  /// Translates the assignment of `to` to a private scalar, or its addition if `accumulate`, for one iteration.
  Stmt changed(ScalarId s, ExprId to, bool accumulate, const Mask& m);
  /// Translates a store to a private array, a private row or a sum for the iteration that code is made for.
  Stmt stored(const Store& x, const Mask& m);
  /// Returns a store of `to` into a private array, or an addition if `accumulate`. It changes nothing in iterations
  /// that the mask excludes, unless `always` says that the store may go without the mask.
  Stmt masked(BufferId b, std::vector<ExprId> at, ExprId to, bool accumulate, bool always, const Mask& m);
  /// Returns true if the store need not be masked: iterations outside of the mask have left a loop whose index selects
  /// the element, so that they never read it.
  bool is_never_read(const Store& x, const Mask& m) const;

  // ---- loops (vector_loops.cpp) ----

  /// Appends to `out` what replaces an inner loop. In general it is one loop for all iterations of the group, which is
  /// masked if its length differs between them. In the unrolled form, a loop that only adds up values of functions runs
  /// for one iteration after another (loop_by_iteration), and one that waits for functions may run in lanes, with its
  /// rows transposed (run_in_lanes). In the lane form, a loop of constant length that only stores to shared arrays runs
  /// for one iteration after another (stores_by_iteration).
  void of(const For& x, const Mask& m, Block& out);
  /// Appends the translation of an inner loop whose length differs between the iterations that run together. The new
  /// loop is as long as the longest, and shorter ones are masked after their end.
  void masked_loop(const For& x, const Mask& m, Block& out);
  /// Appends a loop in lane form, within the unrolled form, whose steps wait for functions. The rows in `mentioned` are
  /// transposed before it, and those that it stores to are transposed back after it.
  void run_in_lanes(const For& x, const ItemRows& mentioned, const Mask& m, Block& out);
  /// Appends a loop that transposes the rows of array `b` into the array with lanes last, or `back`.
  void transpose_rows(BufferId b, const ItemRows& mentioned, bool back, const Mask& m, Block& out);
  /// Appends a loop over the iterations around loop `x`, of which each statement is private to an iteration.
  void loop_by_iteration(const For& x, const Mask& m, Block& out);
  /// Returns true if each statement of the loop stores to a shared array, at elements that are not neighbours for
  /// neighbouring iterations, and the loop reads none of these arrays.
  bool only_stores_shared(const For& x) const;
  /// Appends a loop over the iterations around loop `x`, which stores to shared arrays, so that rows are written
  /// contiguously.
  void stores_by_iteration(const For& x, const Mask& m, Block& out);

  // ---- branches, and what iterations share ----

  /// Appends the translation of a branch: as it is, or with masks if its condition differs between iterations.
  void of(const If& x, const Mask& m, Block& out);
  /// Appends a branch with the statements `then`, which are executed only if mask `m` includes at least one iteration.
  /// `rare`: that seldom happens.
  void if_any(const Mask& m, Block then, Block& out, bool rare);
  /// Appends statement `s` to the statements of one iteration, to be executed only if mask `m` includes the iteration.
  void if_active(const Mask& m, Stmt s, Block& to);
  /// Appends to `out` what becomes of a store to an array without private versions: a store for each iteration that
  /// mask `m` includes. Scratch is the same for all iterations and is stored once.
  void of(const Store& x, const Mask& m, Block& out);
  /// Appends a fill of an array: of every private copy if there are copies.
  void of(const Fill& x, const Mask& m, Block& out);
  /// Appends a `fail` statement that is executed if mask `m` includes at least one iteration.
  void of(const Fail& x, const Mask& m, Block& out);
  /// Appends a statement that all iterations share, unchanged.
  void of(const auto& x, const Mask&, Block& out) { out.push_back(Stmt{x}); }

  std::map<ScalarId, BufferId> declared_;  // the mask array under which each private scalar is declared
};

}  // namespace lehr::loops
