// Expressions of the vectoriser (vectorised.h): what an expression of the original loop becomes in one iteration of a
// group that runs together.
// A scalar that differs between iterations becomes an element of an array with an axis over them. The code also holds
// addresses and rows that are found ahead of a loop, so that loads do not wait for each other.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/passes/vectoriser/vector_accesses.h"
#include "compiler/passes/vectoriser/vector_builder.h"

namespace lehr::loops {

/// Which iterations of a vectorised group execute a statement, as in masked vector code.
struct Mask {
  BufferId array;                // 1 for an iteration that executes it, 0 for others; invalid if all do
  std::vector<ScalarId> ranges;  // of the loops around the statement that differ in length: their indices
  bool by_branch = false;        // true if a branch has excluded iterations, and not only the end of a loop
};

/// Translates expressions of the loop that is vectorised to what one iteration of a group that runs together evaluates:
/// a scalar or array that differs between iterations is read from its private version. Base class of VectorStatements.
class VectorValues : public VectorBuilder {
 public:
  /// Starts the vectorisation of `loop`. `loop` and `varying` (what differs between iterations) must outlive this
  /// object.
  VectorValues(Program& program, const For& loop, const Varying& varying, const VectorForm& how)
      : VectorBuilder(program, how), loop_(loop), varying_(varying) {}

  /// Returns true if the expression may differ between iterations of the vectorised loop.
  bool varies(ExprId e) const { return varying_.is_varying(p_, e); }
  /// Returns true if every iteration may execute statements under the mask. Lanes beyond the end of the loop count as
  /// iterations here: they repeat the last one, which is harmless except for sums.
  bool all_active(const Mask& m) const { return !m.array.valid() || m.array == active_; }
  /// Returns a boolean expression that is true if the mask includes the iteration that code is made for. The mask must
  /// have an array.
  ExprId is_active(const Mask& m) { return make(Type::boolean, Binary{BinaryOp::equal, of_iteration(m.array), i(1)}); }

  /// Returns the array that holds the values of a scalar, one for each iteration that runs together. The first call
  /// makes it.
  BufferId private_copy(ScalarId s);
  /// Returns the array that holds a private copy of array `b` for each iteration that runs together. The first call
  /// makes it and enters it in `all`.
  BufferId private_copy(BufferId b, std::map<BufferId, BufferId>& all);

  /// Translates expression `e` of the original loop for the iteration that code is made for. Iterations outside of the
  /// mask may evaluate the result too.
  ExprId translate(ExprId e, const Mask& m);
  /// Translates the indices `at` of an access for the iteration that code is made for. An iteration outside of the mask
  /// gets index 0, so that its loads stay within the array.
  std::vector<ExprId> indices(const std::vector<ExprId>& at, const Mask& m);

  // ---- rows that are found ahead (vector_rows.cpp) ----

  /// Returns the index expressions of loop `x` that load from memory and can be evaluated ahead of the loop
  /// (loops::loaded_indices), without those that are evaluated already.
  std::vector<ExprId> loaded_indices(const For& x, std::optional<ScalarId> index, bool all) const;
  /// Appends statements that evaluate, before the loop `x`, its index expressions that load from memory. Returns these
  /// expressions: indices() replaces them by loads of the values from now on, until forget_indices(). Does nothing, and
  /// returns none, unless has_iterations() is true of the loop.
  std::vector<ExprId> hoist_indices(const For& x, const Mask& m, Block& out);
  /// Appends statements that evaluate the index expressions `expressions` for each iteration, into new arrays with
  /// `axes` at the indices `at`. indices() reads them there from now on. Returns `expressions`.
  std::vector<ExprId> store_indices(const std::vector<ExprId>& expressions, const std::vector<SizeId>& axes,
                                    const std::vector<ExprId>& at, const Mask& m, Block& out);
  /// Ends the replacement of these index expressions by stored values: indices() evaluates them again.
  void forget_indices(const std::vector<ExprId>& expressions);
  /// Appends loops that copy the rows of private arrays which loop `x` loads along its own index. In the new arrays the
  /// row of each iteration is contiguous. Loads go there until forget_layout().
  void make_rows_contiguous(const For& x, const Mask& m, Block& out);
  /// Ends the use of the arrays of make_rows_contiguous(): loads go to the private arrays again.
  void forget_layout() { contiguous_rows_.clear(); }
  /// Makes a private array for a row of a shared array, and uses it in place of the row from here on. If the old
  /// contents are needed, statements that copy them are appended to `out`.
  void privatise_row(const IterationRow& row, Block& out);
  /// Appends loops that copy the rows of a shared array into the private array of privatise_row(), or `back` from it.
  void copy_row(BufferId array, bool back, Block& out);

 protected:
  const For& loop_;         // the loop that is vectorised
  const Varying& varying_;  // what differs between its iterations
  BufferId active_;         // mask of the lanes before the end of the loop; invalid if all are (are_full())
  std::map<ScalarId, BufferId> of_scalar_;  // by scalar: the array with its value in each iteration
  std::map<BufferId, BufferId> of_array_;   // by array: the array with a copy for each iteration
  std::map<BufferId, BufferId>
      row_copies_;  // private arrays for rows of shared arrays (privatise_row()), by shared array
  std::map<BufferId, BufferId> transposed_;  // transposed rows with the lanes last, while a loop waits for functions
  std::map<ExprId, BufferId> call_results_;  // by function call: its values, formed for all iterations ahead

 private:
  /// Where the values of an index expression are that was evaluated ahead of a loop (store_indices()).
  struct HoistedIndex {
    BufferId array;          // the array with its values
    std::vector<ExprId> at;  // indices of the value in it, beside that of the iteration
  };

  /// Translates an index for the iteration that code is made for; the result is 0 outside of the mask.
  ExprId clamped(ExprId e, const Mask& m);
  /// Translates a read of a scalar for the iteration that code is made for.
  ExprId translate(const Get& x);
  /// Translates a load for the iteration that code is made for.
  ExprId translate(const Load& x, const Mask& m);
  /// Returns true if `e` is a load from a private array with the index of loop `x` as its last index. Its other indices
  /// depend neither on that index nor on the iteration.
  bool runs_along(const For& x, ExprId e) const;

  std::map<ExprId, BufferId>
      contiguous_rows_;  // loads whose rows are contiguous in arrays of their own (make_rows_contiguous())
  std::map<ExprId, HoistedIndex> hoisted_indices_;  // index expressions that are evaluated ahead
  std::map<std::tuple<ExprId, BufferId, std::int64_t>, ExprId>
      made_;  // translations so far, by expression, mask array and iteration_key()
};

}  // namespace lehr::loops
