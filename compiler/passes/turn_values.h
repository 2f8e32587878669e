// Expressions of one turn of several that stand side by side.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/passes/turn_places.h"
#include "compiler/passes/turns.h"

namespace lehr::loops {

/// Which turns come to a statement.
struct Mask {
  BufferId array;                // 0 or 1 by turn; invalid: all of them
  std::vector<ScalarId> ranges;  // loops that some turns have left, by their index
  bool chosen = false;           // by a branch too
};

class TurnValues : public Turns {
 public:
  TurnValues(Program& program, const For& loop, const Varying& varying, const Arrangement& how)
      : Turns(program, how), loop_(loop), varying_(varying) {}

  bool varies(ExprId e) const { return varying_.holds(p_, e); }
  bool all_come(const Mask& m) const { return !m.array.valid() || m.array == active_; }
  ExprId in(const Mask& m) { return make(Type::boolean, Binary{BinaryOp::equal, of_turn(m.array), i(1)}); }

  /// The array that a scalar or an array of each turn is in.
  BufferId copies(ScalarId s);
  BufferId copies(BufferId b, std::map<BufferId, BufferId>& all);

  /// What the expression is in the turn that is being written.
  ExprId value(ExprId e, const Mask& m);
  /// Loads are done for turns that are elsewhere, too: from the beginning of an axis.
  std::vector<ExprId> place(const std::vector<ExprId>& at, const Mask& m);

  // ---- rows that are found ahead (turn_rows.cpp) ----
  /// Places of a loop that are not in arrays yet.
  std::vector<ExprId> loaded_places(const For& x, std::optional<ScalarId> index, bool all) const;
  /// Those that are the same in all turns of a constant loop are found before it; those that are added.
  std::vector<ExprId> find_rows(const For& x, const Mask& m, Block& out);
  /// Puts them into arrays with `axes` at `at`, and reads them there from now on.
  std::vector<ExprId> put_rows(const std::vector<ExprId>& found, const std::vector<SizeId>& axes,
                               const std::vector<ExprId>& at, const Mask& m, Block& out);
  void forget_rows(const std::vector<ExprId>& found);
  /// What the loop loads along its own index of the turns' own arrays, each row from beginning to end in new ones,
  /// which are read until it is `forget_layout`.
  void lay_out_rows(const For& x, const Mask& m, Block& out);
  void forget_layout() { laid_out_.clear(); }
  /// A row that every turn has in an array of all is kept with the turns last, from here on.
  void keep_row(const TurnRow& row, Block& out);
  /// From such an array into the rows, or `back`.
  void copy_row(BufferId array, bool back, Block& out);

 protected:
  const For& loop_;
  const Varying& varying_;
  BufferId active_;  // turns that are not beyond the end; invalid: there are no others
  std::map<ScalarId, BufferId> of_scalar_;
  std::map<BufferId, BufferId> of_array_;
  std::map<BufferId, BufferId> of_item_;  // rows of arrays of all, with the turns last
  std::map<BufferId, BufferId> turned_;   // rows of the turns, with these last
  std::map<ExprId, BufferId> called_;     // values that all turns have formed

 private:
  struct Row {
    BufferId array;
    std::vector<ExprId> at;  // beside the turn
  };

  ExprId clamped(ExprId e, const Mask& m);
  ExprId value(const Get& x);
  ExprId value(const Load& x, const Mask& m);
  /// A load of a turn's own array along the index of the loop, at places that nothing else moves.
  bool runs_along(const For& x, ExprId e) const;

  std::map<ExprId, BufferId> laid_out_;                                // loads whose rows are in arrays of their own
  std::map<ExprId, Row> rows_;                                         // places that are known, by turn
  std::map<std::tuple<ExprId, BufferId, std::int64_t>, ExprId> made_;  // by expression, mask and turn
};

}  // namespace lehr::loops
