// Building blocks of the vectoriser (vectorised.h): arrays with an axis over the iterations that run together, and
// statements repeated for each of these iterations.
// A caller describes the statements of one iteration in a callback. This class repeats them in the unrolled form, or
// puts them into one loop over lanes in the lane form; the callback need not know which.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/analysis/rewrite.h"
#include "compiler/passes/vectoriser/vectorised.h"

namespace lehr::loops {

/// Makes arrays and statements of a loop that is vectorised, for the iterations that run together (the group). Base
/// class of VectorValues.
class VectorBuilder : public ExprMaker {
 public:
  /// A callback that appends the statements of one iteration of the vectorised loop to `out`. In the unrolled form,
  /// for_each_iteration() calls it for each iteration, and iteration() is a literal. In the lane form, and by in_loop()
  /// in either form, it is called once: its statements become the body of a loop over lanes, and iteration() is the
  /// index of that loop.
  using EachIteration = std::function<void(Block& out)>;

  /// Prepares to make code for groups of `how.width` iterations of a loop, in the form of `how`: lanes, or unrolled.
  /// Adds to the program the size of the group and a scalar for the index of its first iteration; the other functions
  /// add expressions and arrays. `program` must outlive this object.
  VectorBuilder(Program& program, const VectorForm& how);

  // ---- arrays ----

  /// Adds a new array with these axes and one more over the iterations: the last axis in the lane form, the first in
  /// the unrolled form. It is on the stack if its extents are constants and all such arrays together have at most
  /// kOnStack elements; otherwise it is scratch of the program.
  BufferId array(const std::string& stem, std::vector<SizeId> axes, Type type);
  /// Adds a new array on the stack that has exactly these axes, and none over the iterations.
  BufferId array_as_given(std::string name, std::vector<SizeId> axes, Type type);

  // ---- iterations ----

  /// Returns true if the code that is being made repeats statements for each iteration, false if it puts them into a
  /// loop over lanes.
  bool unrolled() const { return how_.unrolled && !in_lanes_; }
  /// Returns true if every vectorised group has all its iterations, so that none is masked at the end of the loop.
  bool are_full() const { return how_.min_group >= how_.width; }
  /// Appends the statements that `each` makes, for every iteration of the vectorised group. If they become a loop over
  /// lanes, `independent` says that its iterations may run in any order.
  void for_each_iteration(Block& out, const EachIteration& each, bool independent = true);
  /// Appends one loop over the iterations of the vectorised group with the statements of `each`, even in unrolled form.
  void in_loop(Block& out, const EachIteration& each, bool independent);
  /// Returns the number of the iteration that code is made for, within its vectorised group. It is a literal where
  /// statements are repeated, and the index of the loop over lanes in such a loop.
  ExprId iteration() { return is_number() ? i(iteration_) : get(lane_index_); }
  /// Returns a number that identifies the iteration, or the loop over lanes, that code is made for. Translated
  /// expressions are cached under it.
  std::int64_t iteration_key() const;
  /// Returns a load of the current iteration's element at `at` from an array made by array().
  ExprId of_iteration(BufferId b, std::vector<ExprId> at = {}) { return load(b, with_iteration(b, std::move(at))); }
  /// Returns a store of `value` to the current iteration's element at `at` of an array made by array(); if
  /// `accumulate`, it adds the value.
  Stmt put(BufferId b, std::vector<ExprId> at, ExprId value, bool accumulate = false) {
    return Stmt{Store{b, with_iteration(b, std::move(at)), value, accumulate}};
  }
  /// Returns the indices `at` with that of the current iteration inserted where the array has its axis over iterations.
  std::vector<ExprId> with_iteration(BufferId b, std::vector<ExprId> at);

 protected:
  const VectorForm how_;            // the form in which the iterations run together
  SizeId group_size_;               // the number of iterations in a vectorised group, as the size of an axis
  ScalarId first_;                  // index of the first iteration of a vectorised group
  std::int64_t from_ = 0, to_ = 0;  // the iterations of the group that statements are made for: from_ to to_ - 1
  bool in_lanes_ = false;  // true inside of a loop that has lanes although the rest is unrolled (run_in_lanes())
  std::vector<BufferId> on_stack_;  // new arrays that are to be local arrays of the function

 private:
  /// Returns true if the current iteration is a constant of the code: in the unrolled form, outside of in_loop().
  bool is_number() const { return how_.unrolled && !in_loop_; }

  std::int64_t iteration_ = 0;          // the iteration that is being unrolled, counted within the group
  ScalarId lane_index_;                 // index variable of the loop over lanes that is being made
  bool in_loop_ = false;                // true while a loop over lanes is being made
  std::int64_t on_stack_elements_ = 0;  // elements of the arrays made by array() that are on the stack
};

}  // namespace lehr::loops
