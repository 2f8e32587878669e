// Copies of statements with other arrays and scalars in them.
#pragma once
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/slices.h"

namespace lehr::loops {

// ---- making things ----
ExprId make(Program& program, Type type, decltype(Expr::node) node);
/// Its name is the stem, a point and a number.
ScalarId make_scalar(Program& program, const std::string& stem, Type type = Type::i64);

/// Calls `rewrite` with the body of every function that is not cold. Arrays that it has put into `made` become the
/// function's own.
template <class Rewrite>
void rewrite_bodies(Program& program, std::vector<BufferId>& made, const Rewrite& rewrite) {
  for (std::size_t k = 0; k < program.functions.size(); ++k) {
    if (program.functions[k].cold) continue;
    Block body = std::move(program.functions[k].body);
    rewrite(body);
    program.functions[k].body = std::move(body);
    std::ranges::move(made, std::back_inserter(program.functions[k].local_arrays));
    made.clear();
  }
}

/// A copy of a statement in which accesses to slices that are arrays of their own are accesses to these.
Stmt with_slices(Program& program, const Slices& slices, const Stmt& statement);

/// The elements of an array of one axis, each of its position.
struct Formula {
  ScalarId position;
  ExprId value;
};

/// What a copy calls scalars and arrays, or has in place of what they hold; others keep their names.
struct Names {
  std::map<ScalarId, ScalarId> scalars;
  std::map<BufferId, BufferId> arrays;
  std::map<ScalarId, ExprId> values = {};
  std::map<BufferId, Formula> formulas = {};
  std::map<ExprId, ExprId> expressions = {};
};
Stmt with_names(Program& program, const Names& names, const Stmt& statement);
ExprId with_names(Program& program, const Names& names, ExprId expression);

/// array[..., index, ...] = slice[...] for all of it.
Stmt copy_slice(Program& program, BufferId array, const Slice& slice, ScalarId index);

}  // namespace lehr::loops
