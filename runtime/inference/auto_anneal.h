// Annealing that chooses its own temperatures. It converges plainly; heats a copy until the entropy of its discrete
// local variables has risen most of the way to its maximum (the melting temperature); anneals the converged solution
// from there; and keeps the best result. It is never worse than plain coordinate ascent from the same start.
//
// Such an annealed run is a candidate ("arms" in fit.json). The temperature divides the data terms. If items have
// proportions of their own (topics of a document), it divides all entropies: the priors of the proportions, which
// annealing the data leaves as they are, would otherwise hold a solution in place.
#pragma once
#include <vector>

#include "runtime/inference/anneal.h"
#include "runtime/inference/cavi.h"

namespace lehr {

/// Constants of the heating, which looks for the melting temperature: the ratio of its successive temperatures, and the
/// temperature at which it gives up.
inline constexpr double kHotter = 1.07, kHottest = 1000;
/// The temperature that stands for infinity in the heating: one sweep at it gives the largest discrete entropy.
inline constexpr double kInfiniteTemperature = 1e9;

/// The options of automatic annealing. `budget`, `spare` and `most` count the sweeps of the plain run, the heating and
/// all candidates together.
struct AutoOptions : CaviOptions {
  std::int64_t budget = 0;  // sweeps after which no new candidate begins, and up to which `cycles` repeats its anneals;
                            // 0: no such limit, and `cycles` does them once
  bool cycles = false;      // true (`--search full`): a hot candidate and repeated annealing from the best state follow
  std::int64_t candidate_sweeps = 40;  // annealed sweeps of the first candidates; later ones have up to twice as many
  /// True: of the first two candidates the hotter one comes first, and the colder one is left out if the hotter one has
  /// returned to the best solution so far; a candidate is stopped as soon as it cannot become the best.
  bool stop_early = false;
  std::int64_t spare = 0;  // sweeps up to which further candidates follow in any case
  std::int64_t most = 0;   // sweeps up to which further candidates follow while some of them improve; not with `fresh`
  std::int64_t failures = 3;  // candidates in a row without a gain after which none follows; one more for every three
                              // accepted ones
  /// Solutions from other starts, from which some of the further candidates begin.
  std::vector<Snapshot> others = {};
  /// True: the first candidate begins at a fresh flat start instead of the solution of the plain run, which makes one
  /// sweep only; further candidates begin at the best state so far.
  bool fresh = false;
  bool converged = false;  // true: the solution in place has converged; one sweep then replaces the plain run
  double melting = 0;      // the melting temperature, if the caller has it; one sweep then replaces the plain run and
                           // the heating. 0: it is measured
};

/// One temperature of the heating, which raises the temperature of a converged solution to find where it melts. The
/// records are for the report.
struct HeatingPoint {
  double temperature = 1,  // the temperature of the sweep
      fraction = 0;        // how far the discrete entropy has risen, from 0 (the solution) to 1 (its maximum); in a
                           // ProbeReport, the entropy relative to its maximum
};

/// What automatic annealing did, for fit.json and the terminal: the plain run, the heating, and every annealed run
/// (candidate).
struct AutoReport {
  double plain_elbo = 0;          // ELBO of the plain run, in nats; 0 with AutoOptions::melting
  std::int64_t plain_sweeps = 0;  // sweeps of the plain run
  double melting = 0;             // melting temperature; 0: there is no discrete entropy to raise, or the
                                  // heating failed or ended before it rose far enough
  Annealing::Kind kind = Annealing::Kind::data;  // what the temperature divides: terms of the data, or all entropies
  bool fresh = false;                            // true: the first candidate began at a flat start
  std::vector<HeatingPoint> heating;             // temperature and entropy of each sweep of the heating, rising
  /// The record of one annealed run (candidate) of automatic annealing: where it began, what it reached, and whether it
  /// became the best.
  struct Candidate {
    double from = 1;        // first temperature of the candidate
    double elbo = 0;        // last ELBO of the candidate, in nats; NaN: it failed, or had no state to begin with
    bool accepted = false;  // true: it became the best
  };
  std::vector<Candidate> candidates;  // all candidates, in order
  bool plateau = false;  // true: the entropy rose in two steps, which suggests more than one phase transition
};

/// Returns true if items have proportions of their own: a local simplex variable, such as the topics of a document.
/// Automatic annealing then divides all entropies by the temperature instead of the terms of the data, because the
/// priors of the proportions would otherwise hold a solution in place.
bool has_own_proportions(const Engine& engine);

/// Finds the melting temperature without annealing from it, for a search that anneals in its own way. It converges from
/// the factors in place by plain coordinate ascent (with AutoOptions::fresh or `converged`, it makes one sweep), and
/// then heats. AutoReport::melting is 0 if nothing melts. Leaves the state before the heating.
Outcome measure_melting(const Engine& engine, const AutoOptions& options, const OnSweep& on_sweep, AutoReport& report);

/// Converges plainly from the factors in place; heats a copy to find the temperature at which the solution melts;
/// anneals from there several times; and leaves the best state, with its ELBO in the outcome. If nothing melts, that is
/// the plain solution.
Outcome run_auto(const Engine& engine, const AutoOptions& options, const OnSweep& on_sweep, AutoReport& report);

}  // namespace lehr
