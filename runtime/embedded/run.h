// What all steps of a built object share: the machine over a state, and the checks and preparations before a step.
#pragma once
#include "runtime/embedded/state.h"

namespace lehr::embedded {

/// A built model together with the state (in the caller's memory) on which one call of a built object's function works.
struct Run {
  const Model& m;  // the tables
  State& s;        // the state, in memory of the caller

  /// Returns the machine over the state's memory.
  Machine machine() const { return machine_of(m, s); }
  /// Returns the buffers and sizes of the state.
  View view() const { return view_of(m, s); }

  /// Multiplies all numbers of a buffer by `by`.
  void scale(std::int64_t buffer, double by) const {
    for (double& x : view().reals(buffer))
      x *= by;
  }
};

/// Prepares a step: opens the state (to which it sets `s`), adopts and checks the data set (null: the present one),
/// computes sums of the data and whatever became invalid. `total` is the number of items that a minibatch stands for;
/// 0: the data are not a minibatch. It ends a sweep of lehr_step_begin. Returns 0, a Status (kNotStarted if there are
/// no factors) or a status of the generated code.
std::int32_t begin(const Model& m, void* memory, const DataSet* data, std::int64_t total, State*& s);

/// Gives a new state the priors of the model: priors carried from earlier data get weight 0. Does nothing if the model
/// has no carried priors.
void begin_priors(const Run& r);

/// Sets the factors of the items to their priors and the weights to 1, for items whose factors are not stored; returns
/// a status.
std::int32_t reset_items(const Run& r);

/// Computes the statistics of the present factors, if a sweep reads them before it computes them and they are invalid.
/// Returns a status.
std::int32_t sum_if_invalid(const Run& r);

/// Prepares a sweep, after begin() and sum_if_invalid(), if sweeps of the model may lower the ELBO: copies the state,
/// and computes State::reached. `goes_on`: the ELBO of the state is valid. Returns a status.
std::int32_t begin_damped(const Run& r, bool goes_on);
/// Judges such a sweep by its status, as machine::judge_sweep() does. `temperature` is that of the sweep; `entropy`: on
/// the entropies of all factors instead of the data. Returns the status of the state in place.
std::int32_t end_damped(const Run& r, std::int32_t status, double temperature, bool entropy);

/// Returns true if x is finite and above 0.
inline bool is_positive(double x) { return x > 0 && x - x == 0; }

}  // namespace lehr::embedded
