// The search where sweeps over all items are much work. It finds where to begin by cheap sweeps, and makes few costly
// ones:
//
//     begin      a search on a sample of the items; or, where items have proportions of their own and a sample does not
//                determine the global factors, an annealed run from a flat start
//     converge   the run from there, with all items
//     compare    the first start makes plain sweeps as long as it may become the best
//     anneal     the best run, and move components, unless a flat start was annealed
#pragma once
#include <optional>

#include "runtime/search/search.h"

namespace lehr {

/// Searches where sweeps over all items are much work: finds where to begin by cheap sweeps (over a sample of the
/// items, or annealed from a flat start), converges from there and from the start in place with all items, and improves
/// the better result by annealing and moves of components, unless the search began by annealing a flat start. The
/// arguments are those of run_search(). Returns nothing if there is no cheap way to begin, or if it has failed; the
/// state of the beginning is then in place, and the report is empty.
std::optional<Outcome> run_long_search(const Engine& engine, const SearchOptions& options, StartKind first,
                                       const OnSweep& on_sweep, SearchReport& report);

}  // namespace lehr
