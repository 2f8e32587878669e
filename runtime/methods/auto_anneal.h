// Annealing without a schedule to give: converge, heat a copy until the entropy of its discrete local variables has
// risen most of the way (the melting temperature), anneal the converged solution from there, keep the best. Never worse
// than plain coordinate ascent from the same start. Temperatures are those of the data; of all entropies where
// items have proportions of their own (topics), whose priors annealing the data leaves as they are: these hold a
// solution in place otherwise.
#pragma once
#include <vector>

#include "runtime/methods/anneal.h"
#include "runtime/methods/cavi.h"

namespace lehr {

struct AutoOptions : CaviOptions {
  std::int64_t budget = 0;  // sweeps in all after which no new arm begins; 0: as many as `cycles` need
  bool cycles = false;      // `full`: a melt arm and cycles from the best state
  std::int64_t arm = 40;    // sweeps of an arm
  /// The hotter arm first, which is the last when it ends where it began; an arm ends where it cannot become the best.
  bool hasty = false;
  std::int64_t spare = 0;     // sweeps up to which more arms follow in any case
  std::int64_t most = 0;      // and up to which they do as long as they gain
  std::int64_t failures = 3;  // in a row, after which arms no longer gain, and one more for three that were kept
  /// Solutions from other starts: some of those arms begin there.
  std::vector<Held> others = {};
  /// Does not converge first, and anneals a fresh flat start in place of what it began with.
  bool fresh = false;
};

struct HeatingPoint {
  double temperature = 1, fraction = 0;  // of the way of that entropy from the solution to its maximum
};

struct AutoReport {
  double plain_elbo = 0;
  std::int64_t plain_sweeps = 0;
  double melting = 0;  // 0: there was nothing to melt
  Annealing::Kind kind = Annealing::Kind::data;
  bool fresh = false;  // arms began at a flat start, see AutoOptions
  std::vector<HeatingPoint> heating;
  struct Arm {
    double from = 1;  // temperature
    double elbo = 0;
    bool kept = false;
  };
  std::vector<Arm> arms;
  bool plateau = false;  // the entropy rose in two steps: more than one transition
};

/// Whether items have proportions of their own: what annealing the data leaves as it is.
bool has_own_proportions(const Engine& engine);

Outcome run_auto(const Engine& engine, const AutoOptions& options, const OnSweep& on_sweep, AutoReport& report);

}  // namespace lehr
