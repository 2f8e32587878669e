// Places that a loop loads from and stores to, as its turns tell them apart.
#pragma once
#include <optional>
#include <vector>

#include "compiler/passes/varying.h"

namespace lehr::loops {

/// Whether the loop runs between constants, once or more.
bool has_turns(const Program& program, const For& loop);

/// Places that are loaded, differ between the turns and are the same wherever `index` is; of stores too, if they are
/// `all`.
std::vector<ExprId> loaded_places(const Program& program, const Varying& varying, const For& loop,
                                  std::optional<ScalarId> index, bool all);

/// Arrays that are not the turns' own, of which a turn loads its row alone, of constant extents, and stores nothing to.
std::vector<BufferId> rows_of_items(const Program& program, const Varying& varying, const For& loop);

/// An innermost loop that does nothing but add up functions of what is in memory, for each turn by itself: nothing is
/// gained where it is written out for all.
bool adds_functions_up(const Program& program, const Varying& varying, const For& loop);

/// The axis of scratch that the loop stores to by its index.
std::optional<SizeId> axis_of(const Program& program, const Varying& varying, const For& loop, ScalarId index);

}  // namespace lehr::loops
