// Shorter sweeps where a sweep lowers the objective. Sweeps over expectations of links are steps of natural gradients,
// which go too far where the curvature changes much: an exponential has little left of its optimum. The run then goes
// back to the state before the sweep, and a part of the way to the state after it.
//
// Parameters move in the coordinates of extrapolations (coordinates.h); local factors follow them. Where there are
// chains outside the items, the planes move first (plane_steps.h).
#pragma once
#include <Eigen/Core>
#include <optional>

#include "runtime/inference/engine.h"
#include "runtime/inference/plane_steps.h"
#include "runtime/inference/sweep.h"

namespace lehr {

/// Watches the sweeps of one run. The caller alternates:
///
///     damping.begin(); status = sweep and ELBO; status = damping.end(status, elbo, objective);
class Damping {
 public:
  /// Does nothing if sweeps of the model never lower the ELBO.
  Damping(const Engine& e, const SweepOptions& o);

  /// Returns true if sweeps of the model may lower the ELBO; each then needs an ELBO.
  bool active() const { return active_; }
  /// Prepares the state from which the first sweep starts, and its ELBO. A random start may lie where planes are too
  /// steep for any sweep: then a sweep from planes at predictors of 0 leads to a better state. Returns a status.
  std::int32_t start();
  /// Notes the state before a sweep. It is that of the ELBO last seen by start(), end() or note().
  void begin();
  /// Judges the sweep by its status and ELBO. If the objective has fallen, or is none, it moves to the best state on
  /// the way, and sets `elbo` to its ELBO. Returns the status of the state in place.
  std::int32_t end(std::int32_t status, Elbo& elbo, const PlaneSteps::Objective& objective);
  /// Notes the ELBO of the present state, which another step led to.
  void note(const Elbo& elbo) { elbo_ = elbo; }
  /// Returns true if the last sweep was shortened.
  bool shortened() const { return shortened_; }
  /// Returns by how much, in nats, the last sweep lowered the objective if no part of it was better, so that the state
  /// is that before it; else 0. Then the run stands still without being at a maximum.
  double undone() const { return undone_; }

 private:
  /// How a sweep that lowered the objective was shortened. The journal of the engine has it as one answer.
  struct Shortened {
    Elbo elbo;               // of the state in place
    bool moved = false;      // true: the state is on the way of the sweep; false: it is that before the sweep
    bool by_planes = false;  // true: PlaneSteps has found it
  };
  /// Goes to the best state on the way from that before the sweep to that after it, which is in place, if it is better
  /// than `least`; else back to the state before.
  Shortened shorten(double least, const PlaneSteps::Objective& objective);
  /// Brings local factors to their optimum and computes the ELBO. Returns a status.
  std::int32_t infer_items(Elbo& out) const;
  /// Moves from the state before the sweep by the step, times `factor`. Returns false if that is no state. Called by
  /// shorten() alone.
  bool move(const Eigen::ArrayXd& step, double factor, Elbo& out) const;
  /// Makes a sweep from planes at predictors of 0. Returns false if it fails.
  bool sweep_from_zero() const;

  const Engine& e_;         // the engine of the run
  const SweepOptions o_;    // the options of its sweeps
  bool active_;             // true: sweeps may lower the ELBO
  PlaneSteps planes_;       // moves chains
  bool shortened_ = false;  // true: the last sweep was shortened
  double undone_ = 0;       // see undone()
  Snapshot before_;         // state before the last sweep
  Elbo elbo_;               // ELBO of that state
};

}  // namespace lehr
