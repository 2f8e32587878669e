// A state that is at work, and what its steps begin with.
#pragma once
#include "runtime/embedded/state.h"

namespace lehr::embedded {

/// A state that is at work.
struct Run {
  const Model& m;
  State& s;

  Machine machine() const { return machine_of(m, s); }
  View view() const { return view_of(m, s); }

  void scale(std::int64_t buffer, double by) const {
    for (double& x : view().reals(buffer))
      x *= by;
  }
};

/// What every step begins with: the state, the data, and everything that follows from them.
std::int32_t begin(const Model& m, void* memory, const DataSet* data, std::int64_t total, State*& s);

/// A fresh state: priors are those of the model.
void begin_priors(const Run& r);

/// Factors of items that were never seen: their priors.
std::int32_t forget_items(const Run& r);

/// Sums over the items as they are, where a sweep reads them before it makes them.
std::int32_t sum_before(const Run& r);

inline bool is_positive(double x) { return x > 0 && x - x == 0; }

}  // namespace lehr::embedded
