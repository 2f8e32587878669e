// Search for the best optimum: coordinate ascent from many starts, annealing, and moves of components.
//
//     agree     the first start converges; if there is one optimum, or others are on their way to its solution, nothing
//               follows (agreement.h)
//     race      candidates from starts of every kind make a few sweeps; the best go on (race.h)
//     lead      the leaders converge; more of them as long as their results differ
//     anneal    the best is annealed from its melting temperature, if it has one (auto_anneal.h)
//     move      components are merged, removed and split (moves.h)
//     leave     the end is tested for a saddle point, where products of factors are 0 (saddle.h)
#pragma once
#include <string_view>
#include <vector>

#include "runtime/inference/auto_anneal.h"
#include "runtime/search/moves.h"

namespace lehr {

/// The options of the search. A "length" is the number of sweeps of the best converged run.
struct SearchOptions : AutoOptions {
  std::int64_t starts = 2;         // random starts of each kind in a race
  std::int64_t leaders = 2;        // how many candidates run until they converge, at least
  std::int64_t patience = 4;       // more converge while results differ, until the search has made this many lengths
  std::int64_t spare_lengths = 3;  // lengths up to which further candidates are annealed in any case; half of that,
                                   // rounded down, if the leaders agree; up to 12 if they differ and sweeps are cheap
  std::int64_t melts = 1;          // flat starts that are annealed where items have proportions of their own
  std::int64_t most_lengths = 24;  // lengths up to which further candidates are annealed while some improve
  double move_fraction = 1;        // sweeps allowed to moves, relative to all sweeps before them
  std::int64_t splits = 2;         // attempts to split each component in the first round of moves
  bool one_optimum = false;  // true: the ELBO has one optimum, so a search ends when the first start has converged
  /// True: a search ends when starts agree. It requires an ELBO after every sweep, and a model without discrete latent
  /// variables, since none of them are annealed.
  bool agreement = false;
  /// True: the end is tested for a saddle point if means are next to 0 there (has_means_at_zero()), as sweeps end at
  /// where the likelihood depends on products of real numbers.
  bool products = true;
  std::vector<Components> components = {};  // the components that moves may edit
};

/// Returns the options of a quick search; with `full`, those of a longer one: more starts and leaders, repeated
/// annealing, more moves.
SearchOptions search_options(bool full);

/// Returns the options of the moves of components that follow a search of so many sweeps: the moves may make
/// SearchOptions::move_fraction times as many.
MoveOptions move_options(const SearchOptions& options, std::int64_t sweeps);

/// What the search did, for fit.json and the terminal: every start with its outcome, the moves of components, and the
/// annealing.
struct SearchReport : AutoReport {
  /// The record of one start in the report: how its factors were initialised, and what became of its candidate. In a
  /// race, the candidates of several starts make a few sweeps, and only the better half go on.
  struct Start {
    StartKind kind;           // how the factors were initialised
    std::uint64_t seed;       // seed of the start
    std::int64_t sweeps = 0;  // sweeps of its candidate
    double elbo = 0;          // last ELBO of the candidate; NaN: it failed
    bool same = false;        // true: another candidate had the same ELBO, or this one was on its way to its solution
    bool leader = false;      // true: it went on towards convergence, after the race if there was one
    bool converged = false;   // true: it ran to its end, which may be the limit of sweeps; false: dropped, or failed
  };
  std::vector<Start> starts;       // all starts, in order
  bool agree = false;              // true: starts agreed on the solution, so the search ended
  std::string one_optimum;         // why there is one optimum, as a clause; empty: there may be several
  MoveReport moves;                // what the moves of components did
  std::int64_t sweeps = 0;         // sweeps of all candidates and moves
  std::int64_t sample = 0;         // items of the sample, or of a minibatch, with which a long search began; 0: none
  std::int64_t sample_sweeps = 0;  // sweeps over the sample, or steps from minibatches
};

/// Searches for the best optimum of the ELBO by coordinate ascent from many starts, annealing and moves of components,
/// and leaves the best state in place. The state in place at the beginning, a start of the kind `first`, is one of the
/// candidates. The result is a function of the seed.
Outcome run_search(const Engine& engine, const SearchOptions& options, StartKind first, const OnSweep& on_sweep,
                   SearchReport& report);

}  // namespace lehr
