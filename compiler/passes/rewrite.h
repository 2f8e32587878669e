// Copies of statements with other arrays and scalars in them.
#pragma once
#include <map>

#include "compiler/passes/slices.h"

namespace lehr::loops {

/// A copy of a statement in which accesses to slices that are arrays of their own are accesses to these.
Stmt with_slices(Program& program, const Slices& slices, const Stmt& statement);

/// What a copy calls scalars and arrays; others keep their names.
struct Names {
  std::map<ScalarId, ScalarId> scalars;
  std::map<BufferId, BufferId> arrays;
};
Stmt with_names(Program& program, const Names& names, const Stmt& statement);

/// array[..., index, ...] = slice[...] for all of it.
Stmt copy_slice(Program& program, BufferId array, const Slice& slice, ScalarId index);

}  // namespace lehr::loops
