// A race of random starts by successive halving (Jamieson & Talwalkar 2016): candidates from starts of every kind make
// five sweeps each, and the better half goes on to fourteen.
#pragma once
#include <memory>
#include <vector>

#include "runtime/inference/cavi_run.h"
#include "runtime/search/search.h"

namespace lehr {

/// A solution that competes in the search: one random start, the state that coordinate ascent has reached from it, and
/// the suspended run. race() drops the worse half.
struct Candidate {
  std::size_t start;                  // index in SearchReport::starts of the start
  Snapshot state;                     // snapshot of the state after the last sweep
  double elbo = 0;                    // ELBO of the candidate's state
  std::unique_ptr<CaviRun> run = {};  // the suspended run of the candidate, which goes on from its state
};

/// Races starts and returns the candidates that remain, in the order in which they should converge: the best; the one
/// of the state in place, which has the kind `first`, so that the search is never worse than a plain run; the best of
/// each other kind of start; the rest. The result is empty if the callback stopped the race or all candidates failed.
/// `round` is the number of the race; races after the first (0) use fresh starts alone.
std::vector<Candidate> race(const Engine& engine, const SearchOptions& options, StartKind first, std::int64_t round,
                            const OnSweep& on_sweep, SearchReport& report);

}  // namespace lehr
