// Copies of statements with other arrays and scalars in them.
#pragma once
#include <map>

#include "compiler/passes/slices.h"

namespace lehr::loops {

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
};
Stmt with_names(Program& program, const Names& names, const Stmt& statement);
ExprId with_names(Program& program, const Names& names, ExprId expression);

/// array[..., index, ...] = slice[...] for all of it.
Stmt copy_slice(Program& program, BufferId array, const Slice& slice, ScalarId index);

}  // namespace lehr::loops
