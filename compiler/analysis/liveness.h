// Liveness of statements, for the passes eliminate-dead-code and guard-on-demand.
// A statement is live if its effect can be observed, or if a live statement reads what it writes. The analysis marks
// backwards until nothing more becomes live, as LLVM's ADCE does, but for whole arrays beside scalars.
#pragma once
#include <unordered_set>

#include "compiler/loops/loops.h"
#include "compiler/loops/small_id_set.h"

namespace lehr::loops {

/// The statements of one function that are live. A statement is live if it leaves a loop, fails, or writes a live array
/// or scalar. A scalar is live if a live statement reads it.
class Liveness {
 public:
  /// Analyses the body of `f`. `own`: arrays that nothing outside of `f` reads; they are live where live statements
  /// load them. `never_read`: arrays whose contents nobody needs. All other arrays are live. `program` and `never_read`
  /// must outlive this object; `f` need not.
  Liveness(const Program& program, const Function& f, SmallIdSet<BufferId> own, const SmallIdSet<BufferId>& never_read);

  /// Returns true if a statement of the block is live.
  bool operator()(const Block& b) const;
  /// Returns true if the statement is live; of a loop or a branch, if a statement in it is.
  bool operator()(const Stmt& s) const;

  /// Returns the block without its dead statements, also inside branches and loops. Comments before a dead statement go
  /// with it.
  Block rest(const Block& b) const;

 private:
  /// Returns true if a statement of the loop is live.
  bool is_live(const For& x) const { return (*this)(x.body); }
  /// Returns true if a statement of either side is live.
  bool is_live(const If& x) const { return (*this)(x.then_block) || (*this)(x.else_block); }
  /// Returns true if a live statement reads the declared constant.
  bool is_live(const Let& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if a live statement reads the declared variable.
  bool is_live(const Local& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if a live statement reads the variable that is assigned.
  bool is_live(const Assign& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if a live statement reads the variable that is added to.
  bool is_live(const Accumulate& x) const { return scalars_.contains(x.scalar); }
  /// Returns true if the array that is stored to is live.
  bool is_live(const Store& x) const { return is_live(x.buffer); }
  /// Returns true if the array that is filled is live.
  bool is_live(const Fill& x) const { return is_live(x.buffer); }
  /// Returns true if the contents of the array are needed.
  bool is_live(BufferId b) const { return own_.contains(b) ? arrays_.contains(b) : !never_read_.contains(b); }
  /// Returns true: a `break` always counts.
  bool is_live(const BreakIf&) const { return true; }
  /// Returns true: a failure always counts.
  bool is_live(const Fail&) const { return true; }
  /// Returns false: a comment has no effect.
  bool is_live(const Comment&) const { return false; }

  /// Marks the scalars and arrays that an expression reads as live.
  void reads(ExprId e);
  /// Marks the scalars and arrays that a live statement reads as live.
  void reads(const Stmt& s);
  /// Marks what the live statements of a block read. Returns true if there are live statements.
  bool mark(const Block& b);
  /// Marks what a statement, and live statements in it, read. Returns true if it is live.
  bool mark(const Stmt& s);

  const Program& p_;                        // the program that the function belongs to
  SmallIdSet<BufferId> own_;                // arrays that nothing outside of the function reads
  const SmallIdSet<BufferId>& never_read_;  // arrays whose contents nobody needs
  std::unordered_set<ScalarId> scalars_;    // scalars that live statements read
  std::unordered_set<BufferId> arrays_;     // arrays that live statements load
};

}  // namespace lehr::loops
