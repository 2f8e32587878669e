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

/// The turns of a range that is worked on, of a phase whose turns are written out.
std::optional<std::int64_t> turns_of_range(const Program& program, const For& loop);

/// Numbers of a row of an array: of all its axes but the first, which are constant.
std::int64_t row_of_turn(const Program& program, BufferId array);

/// An array that is not the turns' own, of which a turn loads and stores its row alone, of constant extents. Items
/// store nothing to it, or the whole row before anything of it.
struct TurnRow {
  BufferId array;
  std::size_t from = 0;   // the statement of the body from which on it can be kept for all turns together
  bool is_there = false;  // before that
  bool is_stored = false;
};
std::vector<TurnRow> rows_of_turns(const Program& program, const Varying& varying, const For& loop);

/// An innermost loop that does nothing but add up functions of what is in memory, for each turn by itself: nothing is
/// gained where it is written out for all.
bool adds_functions_up(const Program& program, const Varying& varying, const For& loop);

/// The axis of scratch that the loop stores to by its index.
std::optional<SizeId> axis_of(const Program& program, const Varying& varying, const For& loop, ScalarId index);

}  // namespace lehr::loops
