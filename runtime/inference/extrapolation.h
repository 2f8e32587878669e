// Extrapolation for slow convergence: SQUAREM (Varadhan & Roland 2008). Let a, b, c be the parameters after three
// successive sweeps, r = b - a and v = (c - b) - r. The parameters move to
//
//     a + 2 l r + l^2 v,     l = |r| / |v|,   at most a trust length
//
// and a sweep follows. If the ELBO is then lower than before, the state is restored, so the run stays monotone.
#pragma once
#include "runtime/inference/engine.h"

namespace lehr {

/// Counts the SQUAREM extrapolations of the parameters that a run has tried: how many were accepted, and how many were
/// undone.
struct ExtrapolationCounts {
  std::int64_t accepted = 0,  // accepted: the ELBO was not lower after the next sweep
      refused = 0;            // undone

  /// Adds the counts of another run.
  ExtrapolationCounts& operator+=(const ExtrapolationCounts& more) {
    accepted += more.accepted;
    refused += more.refused;
    return *this;
  }
};

/// Watches the sweeps of one run and extrapolates when they converge slowly. The caller alternates:
///
///     if (extrapolation.try_extrapolation(elbo)) { sweep; extrapolation.accept_or_undo(ok, elbo);
///     extrapolation.note_sweep(); } else { sweep; extrapolation.note_sweep(); }
class Extrapolation {
 public:
  /// Makes no extrapolation before `after` sweeps; with 0, never.
  Extrapolation(const Engine& e, std::int64_t after) : e_(e), after_(after) {}

  /// Notes the global parameters after a sweep; call it after every sweep, and after accept_or_undo().
  void note_sweep();
  /// Extrapolates the global parameters if they have converged slowly for a while. Returns true if it moved them; the
  /// caller then makes one sweep and calls accept_or_undo(). `elbo` is that of the present state.
  bool try_extrapolation(const Elbo& elbo);
  /// Accepts or undoes an extrapolation after the next sweep. If the sweep failed (`succeeded` is false) or the ELBO is
  /// lower than before, it restores the state and its ELBO.
  void accept_or_undo(bool succeeded, Elbo& elbo);

  /// Returns true if the last extrapolation was at most ten sweeps ago and the ELBO has risen by more than `least`
  /// since before it. The run may then have converged in its fast directions only, and should go on.
  bool gained(double elbo, double least) const {
    return count_.accepted + count_.refused > 0 && since_ < kAfter && elbo - elbo_.value > least;
  }

  /// Returns how many extrapolations were tried.
  const ExtrapolationCounts& count() const { return count_; }

 private:
  /// Sweeps after an extrapolation in which gained() may be true.
  static constexpr std::int64_t kAfter = 10;
  /// Returns true if the movements of the last sweeps shrink slowly.
  bool converges_slowly() const;
  /// Returns the step length l of the extrapolation that the last three parameter vectors suggest.
  double length() const;
  /// Moves the parameters by a step of this length. It halves the length until all are finite and positive ones stay
  /// positive. Returns false if no such step is longer than 1, or if their expectations fail.
  bool move(double length);

  const Engine& e_;             // the engine of the run
  std::int64_t after_;          // sweeps before the first extrapolation; 0: never
  std::vector<Snapshot> last_;  // global parameters after the last sweeps, newest last
  std::vector<double> moved_;   // length of the movement of each of the last sweeps
  Snapshot before_;             // state before the last extrapolation
  Elbo elbo_;                   // ELBO of the state before the last extrapolation
  double longest_ = 32;         // trust length: the longest step allowed
  bool at_longest_ = false;     // true: the last step had that length
  std::int64_t sweeps_ = 0,     // sweeps in all
      since_ = 0;               // sweeps after the last extrapolation
  ExtrapolationCounts count_;   // extrapolations tried so far
};

}  // namespace lehr
