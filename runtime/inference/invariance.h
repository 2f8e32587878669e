// Steps along invariances between sweeps of coordinate ascent (parameter-expanded variational Bayes: Qi & Jaakkola
// 2006; Luttinen & Ilin 2010). Where the likelihood depends on products sum_k W[d][k] z[n][k] alone, the compiler has
// found it (compiler/schedule/invariance.h), and W -> W R, z -> R^-1 z changes only priors and entropies. Sweeps move
// along such directions slowly. One step to the best R is cheap: it needs sums over the elements, of which sweeps form
// those over items anyway. Constants are shifted in the same way, z -> z - c and m -> m + W c
// (compiler/schedule/shift.h). The ELBO is quadratic in c, so that Newton's step is the best. Changes of scale of
// positive variables are shifts of logarithms (compiler/schedule/rescale.h).
//
// Factors that all items share are transformed; those of items follow from them at the beginning of the next sweep. If
// the ELBO is then lower than before, the state is restored.
#pragma once
#include <memory>
#include <vector>

#include "runtime/inference/attempts.h"
#include "runtime/inference/engine.h"

namespace lehr {

struct BasisChange;

/// Changes factors between the sweeps of one run in ways that leave the likelihood alone and raise the ELBO: changes of
/// basis, and shifts of constants or of logarithms. Sweeps alone move slowly that way. The caller alternates:
///
///     if (invariances.try_change(elbo, least)) { sweep; invariances.accept_or_undo(ok, elbo); } else sweep;
class Invariances {
 public:
  /// Watches a run of this engine; with `wanted` false, or in a model without invariances, it never changes anything.
  Invariances(const Engine& e, bool wanted)
      : e_(e), wanted_(wanted && e.model().invariance_count + e.model().shift_count > 0) {}

  /// Tries the invariances and shifts in rotation, and takes the best step along the first one whose best step gains
  /// more than `least` nats. Returns true if it changed factors; the caller then makes one sweep and calls
  /// accept_or_undo(). `elbo` is that of the present state.
  bool try_change(const Elbo& elbo, double least);
  /// Accepts or undoes a change after the next sweep, whose ELBO is `elbo`; returns true if it accepts. If the sweep
  /// failed (`succeeded` is false) or the ELBO is lower than before the change, it restores that state and sets `elbo`
  /// to its ELBO. The next 1, 2, 4, ... calls of try_change() then do nothing, until a change is accepted.
  bool accept_or_undo(bool succeeded, Elbo& elbo);
  /// Restores the state before the last change, and counts it neither as accepted nor as undone: the next sweep was
  /// that of an extrapolation which was undone.
  void withdraw();

  /// Returns how much the last change gained by itself, in nats, before the next sweep; of a change of scale, at least.
  double gain() const { return gain_; }
  /// Returns how many changes of basis were tried, accepted and undone ones.
  const Attempts& basis_changes() const { return basis_changes_; }
  /// Returns how many shifts of constants or of logarithms were tried, accepted and undone ones.
  const Attempts& shifts() const { return shifts_; }

 private:
  /// Finds the best step along the invariance with this index, shifts after changes of basis; returns how much it
  /// gains.
  double find(std::int64_t index, double least);
  /// Finds the best change of basis of this invariance and stores it in `change_`. Returns its gain in nats; 0 if a
  /// generated function fails.
  double find_change(const machine::InvarianceRow& row, double least);
  /// Finds the best step along this shift and stores it in `step_`. Returns its gain in nats, of a change of scale at
  /// least that; 0 if there is none.
  double find_shift(const machine::ShiftRow& row);
  /// Moves the factors by the step that find() found. Returns false if their expectations fail.
  bool apply(std::int64_t index) const;

  const Engine& e_;                      // the engine of the run
  bool wanted_;                          // false: nothing is changed
  std::shared_ptr<BasisChange> change_;  // the change of basis that find() found; null during a replay
  std::vector<double> step_;             // the shift that find() found; empty during a replay
  double gain_ = 0;                      // gain of the last change by itself, in nats
  std::int64_t next_ = 0;                // index of the invariance or shift that the next call tries first
  std::int64_t wait_ = 0,                // next calls of try_change() that do nothing, since a change was undone
      pause_ = 1;                        // how many calls will do nothing after the next undone change
  Snapshot before_;                      // state before the last change
  Elbo elbo_;                            // ELBO of the state before the last change
  Attempts basis_changes_, shifts_;      // how many of each were tried so far
  bool shifted_ = false;                 // true: the last change was a shift
};

}  // namespace lehr
