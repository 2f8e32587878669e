// Coordinate ascent from the best of many starts. Arms of every kind of start make a few sweeps, the best go on
// (successive halving: Jamieson & Talwalkar 2016), the leaders converge, more of them where what they find differs, and
// the best of these is annealed from its melting temperature where there is one; moves of components follow.
#pragma once
#include <string_view>
#include <vector>

#include "runtime/methods/auto_anneal.h"
#include "runtime/methods/moves.h"

namespace lehr {

struct SearchOptions : AutoOptions {
  std::int64_t starts = 2;         // of each kind
  std::int64_t leaders = 2;        // arms that converge at least
  std::int64_t patience = 4;       // lengths of the best run in sweeps, up to which more converge while they differ
  std::int64_t spare_lengths = 3;  // lengths of the best run in sweeps, up to which more arms are annealed; half of
                                   // these, rounded down, where the leaders agree
  std::int64_t melts = 1;          // fresh starts at temperatures of all entropies, where these apply
  std::int64_t most_lengths = 24;  // ... as long as they gain
  double move_share = 1;           // sweeps of moves, in those before them
  std::int64_t splits = 2;         // see MoveOptions
  std::vector<Components> components = {};  // what moves may change
};

/// Quick; with `full`, more starts, more that converge, cycles of temperatures, more moves.
SearchOptions search_options(bool full);

struct SearchReport : AutoReport {
  struct Start {
    StartKind kind;
    std::uint64_t seed;
    std::int64_t sweeps = 0;
    double elbo = 0;         // after these; not a number: the arm failed
    bool same = false;       // as an arm before it
    bool leader = false;     // it went on after the race
    bool converged = false;  // and to its end
  };
  std::vector<Start> starts;
  MoveReport moves;
  std::int64_t sweeps = 0;  // of all arms and moves
};

/// The arm that is in place at first (of `first`) is one of those that race. Deterministic in the seed.
Outcome run_search(const Engine& engine, const SearchOptions& options, StartKind first, const OnSweep& on_sweep,
                   SearchReport& report);

}  // namespace lehr
