// Statements of turns that stand side by side.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/loops/facts.h"
#include "compiler/passes/turn_values.h"
#include "compiler/passes/waiting.h"

namespace lehr::loops {

class TurnStatements : public TurnValues {
 public:
  using TurnValues::TurnValues;

  /// A block for all turns that come to it.
  Block block(const Block& b, const Mask& m);
  /// One store of each turn to what is its own.
  bool is_own(const Stmt& s) const;
  /// Sums that turns keep apart, into the arrays of all.
  Block added_up(BufferId sum, BufferId apart);

 protected:
  std::map<BufferId, BufferId> sums_;

 private:
  // ---- numbers of the turns ----
  /// What a statement makes of functions, where it is a number for each turn.
  std::optional<ExprId> called(const Stmt& s) const;
  /// Turns that are written out call functions together, in a loop that is one on vectors.
  void call_for_all(ExprId call, const Mask& m, Block& out);
  /// An array that every turn has for itself, here.
  bool is_row(BufferId b) const { return varying_.arrays.contains(b) || turned_.contains(b) || of_item_.contains(b); }
  bool is_sum(const Store& x) const;
  /// At a place next to that of the turn before.
  bool is_next(const std::vector<ExprId>& at) const { return !at.empty() && is_scalar(p_, at.back(), loop_.index); }
  std::optional<Stmt> own(const Stmt& s, const Mask& m);
  Stmt changed(ScalarId s, ExprId to, bool accumulate, const Mask& m);
  Stmt stored(const Store& x, const Mask& m);
  Stmt masked(BufferId b, std::vector<ExprId> at, ExprId to, bool accumulate, bool always, const Mask& m);
  /// Whatever turns store that do not come here is read by none, as they have left loops whose index is in the place.
  bool is_unread(const Store& x, const Mask& m) const;

  // ---- loops (turn_loops.cpp) ----
  void of(const For& x, const Mask& m, Block& out);
  /// As long as the longest of the turns, the others masked.
  void to_the_longest(const For& x, const Mask& m, Block& out);
  /// In lanes, which wait together: rows of the turns are turned over before the loop, and back what it stored to.
  void wait(const For& x, const ItemRows& mentioned, const Mask& m, Block& out);
  void turn_over(BufferId b, const ItemRows& mentioned, bool back, const Mask& m, Block& out);
  /// The loop for one turn after the other.
  void turn_by_turn(const For& x, const Mask& m, Block& out);
  /// Does nothing but store to what belongs to all, and reads nothing of it.
  bool puts_away(const For& x) const;
  /// The whole loop for one turn after the other: rows are written from beginning to end.
  void one_by_one(const For& x, const Mask& m, Block& out);

  // ---- branches, and what belongs to all ----
  void of(const If& x, const Mask& m, Block& out);
  void if_any(const Mask& m, Block then, Block& out, bool rare);
  /// Adds the statement for turns that come to it.
  void if_in(const Mask& m, Stmt s, Block& turn);
  /// To what belongs to all, or is the same for all.
  void of(const Store& x, const Mask& m, Block& out);
  void of(const Fill& x, const Mask& m, Block& out);
  void of(const Fail& x, const Mask& m, Block& out);
  void of(const auto& x, const Mask&, Block& out) { out.push_back(Stmt{x}); }

  std::map<ScalarId, BufferId> declared_;  // under which mask
};

}  // namespace lehr::loops
