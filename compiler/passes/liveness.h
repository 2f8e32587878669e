// Which statements of a function do something.
#pragma once
#include <unordered_set>

#include "compiler/loops/few_ids.h"
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// A statement is live where it leaves a loop, fails, or writes what others read: arrays but those in `unread`, and of
/// those in `own`, which nobody else reads, the ones that live statements of the function read, as its scalars.
class Liveness {
 public:
  Liveness(const Program& program, const Function& f, FewIds<BufferId> own, const FewIds<BufferId>& unread);

  bool operator()(const Block& b) const;
  bool operator()(const Stmt& s) const;

  /// What is left of a block, and of branches and loops in it, without what is not live. Comments go with what comes
  /// after them.
  Block rest(const Block& b) const;

 private:
  bool is_live(const For& x) const { return (*this)(x.body); }
  bool is_live(const If& x) const { return (*this)(x.then_block) || (*this)(x.else_block); }
  bool is_live(const Let& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Local& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Assign& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Accumulate& x) const { return scalars_.contains(x.scalar); }
  bool is_live(const Store& x) const { return is_live(x.buffer); }
  bool is_live(const Fill& x) const { return is_live(x.buffer); }
  bool is_live(BufferId b) const { return own_.contains(b) ? arrays_.contains(b) : !unread_.contains(b); }
  bool is_live(const BreakIf&) const { return true; }
  bool is_live(const Fail&) const { return true; }
  bool is_live(const Comment&) const { return false; }

  void reads(ExprId e);
  void reads(const Stmt& s);
  bool mark(const Block& b);
  bool mark(const Stmt& s);

  const Program& p_;
  FewIds<BufferId> own_;
  const FewIds<BufferId>& unread_;
  std::unordered_set<ScalarId> scalars_;  // that live statements read
  std::unordered_set<BufferId> arrays_;
};

/// Statements that are not live are left out, where scratch that no other function loads counts as the function's own:
/// of a matrix's factor, inverse and log determinant those that nothing asks for. So is what adds a number that is 0
/// and stays so.
Program leave_out_unread(Program program);

}  // namespace lehr::loops
