// Moves of exchangeable components after a run has converged, to leave a local optimum: two components are merged, one
// is removed, one is split, or all are sorted by size. A move edits the state and is followed by trial sweeps; it is
// accepted if the ELBO then exceeds the best so far, and undone otherwise. Sources: Ueda & Ghahramani (2002); Bryant &
// Sudderth (2012); Hughes & Sudderth (2013).
#pragma once
#include <vector>

#include "runtime/inference/cavi.h"
#include "runtime/search/components.h"

namespace lehr {

/// The options of the moves of components.
struct MoveOptions : CaviOptions {
  std::int64_t most_sweeps = 0;  // sweeps of all moves after which none begins; until one is accepted, a sixth of them,
                                 // or half for splits if there is an empty component. 0: no moves
  std::int64_t splits = 2;       // attempts to split each component in the first round; half of them in later rounds
};

/// What the moves did, for the report.
struct MoveReport {
  /// Counts the attempts of one kind of move (merge, removal, split, sort), and how many were accepted.
  struct Kind {
    std::int64_t tried = 0,  // attempts
        accepted = 0;        // attempts that raised the ELBO and stayed
  };
  Kind merges,                      // attempts to make one component of two
      removals,                     // attempts to empty a component
      splits,                       // attempts to divide a component in two
      orders;                       // attempts to sort components by size
  std::int64_t sweeps = 0;          // sweeps of all moves, and of the run that follows them
  double before = 0;                // the ELBO before the moves, in nats
  std::vector<std::string> plates;  // names of the plates whose components could be moved
};

/// Tries to improve a converged state by merges, removals, splits and sorting of components, until a round accepts none
/// or the sweeps of MoveOptions are used up; then converges if any was accepted. `converged` is the outcome of the run
/// whose state is in place; the final state has its ELBO or a higher one. The result is a function of options.seed. The
/// iterations of the outcome are the sweeps made here.
Outcome run_moves(const Engine& engine, const MoveOptions& options, const std::vector<Components>& components,
                  Outcome converged, const OnSweep& on_sweep, MoveReport& report);

}  // namespace lehr
