// Extrapolation for slow convergence: Anderson acceleration of the sweeps (Walker & Ni 2011), monotone and with
// restarts (Henderson & Varadhan 2019). A sweep leads from x to g; near a fixed point the movement f = g - x is linear
// in x. Of the last sweeps, find the combination of their movements that is nearest to 0:
//
//     min over c of | f_k - sum_j c_j (f_j+1 - f_j) |,     step = - sum_j c_j (g_j+1 - g_j)
//
// The parameters move from g_k by the step, and a sweep follows. If the ELBO is then lower than before, the state is
// restored, so the run stays monotone. Where sweeps move away from a saddle, f vanishes behind them: the step is
// reversed if it opposes the last movement.
//
// The parameters are extrapolated in coordinates in which steps of all of them are alike: positive ones by their
// logarithms, means in units of their standard deviations, all others relative to the size of their array. If sweeps
// begin with blocks that read statistics of the sweep before, x contains these statistics, too.
#pragma once
#include <deque>

#include "runtime/inference/attempts.h"
#include "runtime/inference/engine.h"

namespace lehr {

/// Watches the sweeps of one run and extrapolates the parameters when they converge slowly (Anderson acceleration); a
/// step that lowers the ELBO is undone. The caller alternates:
///
///     if (extrapolation.try_extrapolation(elbo)) { sweep; extrapolation.accept_or_undo(ok, elbo);
///     extrapolation.note_sweep(); } else { sweep; extrapolation.note_sweep(); }
class Extrapolation {
 public:
  /// Makes no extrapolation before `after` sweeps; with 0, never.
  Extrapolation(const Engine& e, std::int64_t after) : e_(e), after_(after) {}

  /// Notes the parameters after a sweep; call it after every sweep, and after accept_or_undo().
  void note_sweep();
  /// Extrapolates the parameters if the sweeps converge slowly, or if it has extrapolated before. Returns true if it
  /// moved them; the caller then makes one sweep and calls accept_or_undo(). `elbo` is that of the present state. It
  /// does nothing after fewer than two sweeps since the last extrapolation, if the last ELBOs and
  /// parameters are equal but for rounding, or if a positive point goes to 0. If no step fits (extrapolate()), it
  /// restores the state.
  bool try_extrapolation(const Elbo& elbo);
  /// Accepts or undoes an extrapolation after the next sweep, whose ELBO is `elbo`. If the sweep failed (`succeeded` is
  /// false), or the ELBO is lower than before the extrapolation by more than rounding, it restores the state before the
  /// extrapolation and sets `elbo` to the ELBO of that state.
  void accept_or_undo(bool succeeded, Elbo& elbo);

  /// Notes that something else than a sweep, such as a change of basis, has changed the parameters after the last
  /// sweep. It counts as a part of that sweep, so that sweeps with such changes are extrapolated as one map.
  void note_change();
  /// Discards the stored sweeps, because the state in place is not the one that the last sweep led to: a change was
  /// undone, or the sweep was shortened (Damping).
  void forget();

  /// Returns true if the last sweep followed an extrapolation that was undone.
  bool undone() const { return undone_; }
  /// Returns true if the run has extrapolated and the ELBO has risen by more than `least` in the last sweeps, up to
  /// `elbo`. The run may then have converged in its fast directions only, and should go on.
  bool gained(double elbo, double least) const {
    return count_.all() > 0 && !elbos_.empty() && elbo - elbos_.front() > least;
  }

  /// Returns how many extrapolations were accepted, and how many were undone. An extrapolation without a step that fits
  /// is not counted (try_extrapolation() returns false).
  const Attempts& count() const { return count_; }

 private:
  /// The coordinates of the parameters before (`from`) and after (`to`) one sweep, one array each.
  struct Sweep {
    Snapshot from, to;
  };
  /// What one extrapolation did; recorded in the journal for a resumed run.
  struct Step {
    bool moved = false,   // true: the parameters have moved
        limited = false;  // true: the step was shortened to the trust length
  };

  /// Returns the length of the last movement, in the units in which coordinates are compared.
  double movement() const;
  /// Returns the length of the last movement over that of the one before; near 1 convergence is slow.
  double slowness() const;
  /// Computes the step and moves the parameters in the engine by it. A step beyond the trust length is shortened to it.
  /// The step is then halved, to no less than a tenth, until all parameters are finite and positive ones stay positive.
  /// Returns whether the parameters have moved, and whether the step was shortened to the trust length. If they have
  /// not moved, the engine may have numbers of a failed attempt, and the caller restores the state.
  Step extrapolate() const;

  const Engine& e_;           // the engine of the run
  std::int64_t after_;        // sweeps before the first extrapolation; 0: never
  std::deque<Sweep> last_;    // the last sweeps, newest last
  Snapshot end_,              // coordinates after the last sweep, and after what note_change() reported
      start_;                 // coordinates after an extrapolation, at which the next sweep begins; null: `end_`
  std::deque<double> elbos_;  // ELBOs of the last states, newest last
  Snapshot before_;           // state before the last extrapolation
  Elbo elbo_;                 // ELBO of the state before the last extrapolation
  double longest_ = 32,       // trust length: the longest step, in units of the last movement
      damping_ = 1e-8;        // added to the least squares, relative to their largest eigenvalue
  bool limited_ = false,      // true: the last step was shortened to the trust length
      undone_ = false;        // true: the last sweep followed an extrapolation that was undone
  std::int64_t sweeps_ = 0,   // sweeps of the run, without annealed ones
      since_ = 0;             // sweeps since the last extrapolation
  Attempts count_;            // extrapolations accepted and undone so far
};

}  // namespace lehr
