// Starts of every kind make a few sweeps each, and the better ones a few more.
#pragma once
#include <memory>
#include <vector>

#include "runtime/methods/cavi_run.h"
#include "runtime/methods/search.h"

namespace lehr {

struct Arm {
  std::size_t start;  // in the report
  Held state;
  double elbo = 0;
  std::unique_ptr<CaviRun> run = {};  // goes on from the state
};

/// The arms that are left, in the order in which they are to converge: the best; the first one, which is what stands in
/// the engine at first (of the kind `first`), so that the end is never below that of a plain run; the best of other
/// kinds of start than these; the rest. None: an interrupt, or all have failed. `round`: of several races, 0 the first;
/// later ones have fresh starts alone.
std::vector<Arm> race(const Engine& engine, const SearchOptions& options, StartKind first, std::int64_t round,
                      const OnSweep& on_sweep, SearchReport& report);

}  // namespace lehr
