// Liveness of statements, for the passes eliminate-dead-code and guard-on-demand.
// A statement is live if its effect can be observed, or if a live statement reads what it writes. The analysis marks
// backwards until nothing more becomes live, as LLVM's ADCE does, but for whole arrays beside scalars.
#pragma once
#include <unordered_set>

#include "compiler/loops/loops.h"
#include "compiler/loops/small_id_set.h"

namespace lehr::loops {

/// Finds the live statements of one function: those that may leave a loop, fail, or write a live array or scalar. A
/// scalar is live if a live statement reads it. Passes remove all other statements, or guard them by a condition.
class Liveness {
 public:
  /// Analyses the body of `f`. `own`: arrays that nothing outside of `f` reads; they are live if a live statement loads
  /// them. `never_read`: arrays that are dead although `f` may load them, as those that only the ELBO needs in sweeps
  /// without it. All other arrays are live. `program` and `never_read` must outlive this object; `f` need not.
  Liveness(const Program& program, const Function& f, SmallIdSet<BufferId> own, const SmallIdSet<BufferId>& never_read);

  /// Returns true if a statement of the block is live.
  bool operator()(const Block& b) const;
  /// Returns true if the statement is live; of a loop or a branch, if a statement in it is.
  bool operator()(const Stmt& s) const;

  /// Returns the live part of the block: a copy without dead statements, also inside branches and loops, and without
  /// the comments directly before a dead statement.
  Block rest(const Block& b) const;

 private:
  /// Returns true if a statement in the loop is live, so that the loop is live, too.
  bool is_live(const For& x) const { return (*this)(x.body); }
  /// Returns true if a statement in either branch of the `if` is live.
  bool is_live(const If& x) const { return (*this)(x.then_block) || (*this)(x.else_block); }
  /// Returns true if a live statement reads the scalar that the `let` declares.
  bool is_live(const Let& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if a live statement reads the scalar that the declaration makes.
  bool is_live(const Local& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if a live statement reads the scalar that is assigned.
  bool is_live(const Assign& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if a live statement reads the scalar that is added to.
  bool is_live(const Accumulate& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if the array that is stored to is live.
  bool is_live(const Store& x) const { return is_live(x.buffer); }
  /// Returns true if the array that is filled is live.
  bool is_live(const Fill& x) const { return is_live(x.buffer); }
  /// Returns true if the array is live. One of the function's own is live if a live statement loads it. Any other is
  /// live unless it is in `never_read_`: arrays that count as dead here, although code loads them where a flag
  /// requests them.
  bool is_live(BufferId b) const { return own_.contains(b) ? arrays_.contains(b) : !never_read_.contains(b); }
  /// Returns true: a `break` changes the flow of control, so it is always live.
  bool is_live(const BreakIf&) const { return true; }
  /// Returns true: a failure ends the function with a status that the caller sees, so it is always live.
  bool is_live(const Fail&) const { return true; }
  /// Returns false: a comment has no effect.
  bool is_live(const Comment&) const { return false; }

  /// Marks the scalars and arrays that an expression reads as live.
  void reads(ExprId e);
  /// Marks the scalars and arrays that a live statement reads as live.
  void reads(const Stmt& s);
  /// Marks the scalars and arrays that the live statements of a block read as live, from the last statement to the
  /// first. Returns true if the block has live statements.
  bool mark(const Block& b);
  /// Marks what a statement reads as live if the statement is live; of a loop or branch, its bounds or condition and
  /// what live statements in it read. Returns true if the statement is live.
  bool mark(const Stmt& s);

  const Program& p_;                        // the program that the function belongs to
  SmallIdSet<BufferId> own_;                // arrays that nothing outside of the function reads
  const SmallIdSet<BufferId>& never_read_;  // arrays that count as dead although the function may load them
  std::unordered_set<ScalarId> scalars_;    // scalars that live statements read
  std::unordered_set<BufferId> arrays_;     // arrays that live statements load
};

}  // namespace lehr::loops
