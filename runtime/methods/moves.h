// Moves of exchangeable components, for a run that has settled: two are merged, one is removed, one is split, all are
// put in order of size. A move edits the state and is followed by sweeps; it is kept where the ELBO is higher then, and
// the state is put back otherwise. Ueda & Ghahramani (2002); Bryant & Sudderth (2012); Hughes & Sudderth (2013).
#pragma once
#include <vector>

#include "runtime/methods/cavi.h"
#include "runtime/methods/components.h"

namespace lehr {

struct MoveOptions : CaviOptions {
  std::int64_t most_sweeps = 0;  // of all moves, after which none begins; a sixth while none is kept; 0: no moves
  std::int64_t splits = 2;       // tries of each component before it counts as one; later rounds have half of them
};

struct MoveReport {
  struct Kind {
    std::int64_t tried = 0, accepted = 0;
  };
  Kind merges, removals, splits, orders;
  std::int64_t sweeps = 0;          // of all of these, and until they settled
  double before = 0;                // the ELBO that was found
  std::vector<std::string> plates;  // whose elements were moved
};

/// `settled` is how the run ended whose state is in place; the state that is left has its ELBO or a higher one.
/// Deterministic in options.seed. The iterations of the outcome are the sweeps of the moves.
Outcome run_moves(const Engine& engine, const MoveOptions& options, const std::vector<Components>& components,
                  Outcome settled, const OnSweep& on_sweep, MoveReport& report);

}  // namespace lehr
