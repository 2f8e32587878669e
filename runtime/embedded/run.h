// What all steps of a built object share: the machine over a state, and the checks and preparations before a step.
#pragma once
#include "runtime/embedded/state.h"

namespace lehr::embedded {

/// A built model together with the state in the caller's memory on which one call of a built object's function works.
struct Run {
  const Model& m;  // the tables of the built model
  State& s;        // the state, in memory of the caller

  /// Returns the machine that runs sweeps over the state's memory.
  Machine machine() const { return machine_of(m, s); }
  /// Returns access to the state's buffers, each as a span with its length for the present data set.
  View view() const { return view_of(m, s); }

  /// Multiplies all numbers of a buffer of doubles by `by`: it scales sums over a minibatch up to all items, and with 0
  /// it clears a buffer.
  void scale(std::int64_t buffer, double by) const {
    for (double& x : view().reals(buffer))
      x *= by;
  }
};

/// Prepares a step of a built object: opens the state (to which it sets `s`), adopts and checks the data set (null: the
/// present one), computes sums of the data and whatever became invalid. `total` is the number of items that a minibatch
/// stands for; 0: the data are not a minibatch. It ends a sweep of lehr_step_begin. Returns 0, a Status (kNotStarted if
/// there are no factors) or a status of the generated code.
std::int32_t begin(const Model& m, void* memory, const DataSet* data, std::int64_t total, State*& s);

/// Lets a new state use the model's own priors: priors that an update would carry over from earlier data (lehr_update)
/// get weight 0 and proper values. Does nothing if the object has no carried priors.
void begin_priors(const Run& r);

/// Sets the factors of the items in the present data set to their priors, so that the items are inferred anew, and the
/// weights of a sweep (Weights) to 1. Returns a status.
std::int32_t reset_items(const Run& r);

/// Computes the statistics of the present factors before a sweep that reads them before it computes them, if they are
/// invalid. Returns a status.
std::int32_t sum_if_invalid(const Run& r);

/// Prepares a sweep for end_damped(), after begin() and sum_if_invalid(): copies the state and computes its ELBO
/// (State::reached). A start from which no sweep was made is first improved (machine::start_damped()). With `goes_on`,
/// data and factors are those of the last sweep; without, the ELBO is that after inferring the items of the data. Does
/// nothing if no sweep of the model can lower the ELBO. Returns 0 or a status of the generated code.
std::int32_t begin_damped(const Run& r, bool goes_on);
/// Judges the sweep after begin_damped() by its status and ELBO (machine::judge_sweep()): if it failed or has lowered
/// the objective, the state becomes one with a part of its movement, or that before it. In the objective, the
/// temperature of the sweep divides the terms of the data; with `entropy` it multiplies the entropies of all factors
/// instead. Returns the status of the state in place; `status` itself if no sweep of the model can lower the ELBO.
std::int32_t end_damped(const Run& r, std::int32_t status, double temperature, bool entropy);

/// Returns true if x is finite and above 0, as temperatures must be.
inline bool is_positive(double x) { return x > 0 && x - x == 0; }

}  // namespace lehr::embedded
