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
  double elbo = 0;                    // ELBO of the candidate's state; in a race, after the sweeps of the last stage
  std::unique_ptr<CaviRun> run = {};  // the suspended run of the candidate, which goes on from its state
  std::vector<double> elbos = {};     // ELBO after each of its sweeps so far
};

/// Makes sweeps of one candidate after another, and records them in the report of the search.
class CandidateSweeps {
 public:
  /// Records sweeps in `report`. The referenced objects must outlive it.
  CandidateSweeps(const Engine& e, const OnSweep& on_sweep, SearchReport& report)
      : e_(e), on_sweep_(on_sweep), report_(report) {}

  /// Continues the candidate, whose state is in place, until it has made `until` sweeps in all or its run has ended,
  /// and stores its state and ELBO. Returns false if it has failed.
  bool make(Candidate& a, std::int64_t until);
  /// Returns true if the callback has returned false in any sweep, so that the search must end.
  bool stopped() const { return stopped_; }

 private:
  const Engine& e_;          // the engine of the search
  const OnSweep& on_sweep_;  // the callback after each sweep
  SearchReport& report_;     // the report in which sweeps are counted
  bool stopped_ = false;     // true: the callback has returned false
};

/// Races starts and returns the candidates that remain, in the order in which they should converge: the best; the one
/// of the state in place, which has the kind `first`, so that the search is never worse than a plain run; the best of
/// each other kind of start; the rest. The result is empty if all candidates failed. If the callback stopped the race,
/// it has the candidates so far, whose runs may have ended. `round` is the number of the race; races after the first
/// (0) use fresh starts alone. If the report has starts before the first race, the first of them has converged already
/// and does not take part; `begun` has suspended runs of others, which do.
std::vector<Candidate> race(const Engine& engine, const SearchOptions& options, StartKind first, std::int64_t round,
                            const OnSweep& on_sweep, SearchReport& report, std::vector<Candidate> begun = {});

/// Returns the seed of the k-th random start of each kind in a search.
inline std::uint64_t seed_of_starts(const SearchOptions& options, std::int64_t k) {
  return options.seed + 7919 * static_cast<std::uint64_t>(k);
}

}  // namespace lehr
