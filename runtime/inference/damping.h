// Shorter sweeps where a sweep lowers the objective. Sweeps over expectations of links are steps of natural gradients,
// which go too far where the curvature changes much: an exponential has little left of its optimum. The run then goes
// back to the state before the sweep, and a part of the way to the state after it.
//
// Parameters move in the coordinates of extrapolations (coordinates.h); local factors follow them.
#pragma once
#include <Eigen/Core>
#include <functional>
#include <optional>

#include "runtime/inference/engine.h"
#include "runtime/inference/sweep.h"

namespace lehr {

/// Shortens the sweeps of one run that lower the objective, as sweeps over expectations of links may: it goes back to
/// the state before the sweep and a part of the way to that after it. The caller alternates:
///
///     damping.begin(); status = sweep and ELBO; status = damping.end(status, elbo, objective);
class Damping {
 public:
  /// Watches a run of this engine. All functions do nothing if sweeps of the model never lower the ELBO.
  Damping(const Engine& e, const SweepOptions& o);

  /// Returns true if sweeps of the model may lower the ELBO; each then needs an ELBO.
  bool active() const { return active_; }
  /// Infers the items and computes the ELBO before the first sweep. A random start may lie where tangent planes are too
  /// steep for any sweep: if a sweep from planes at predictors of 0 leads to a higher ELBO, the run starts there.
  /// Returns 0 or a status of the generated code.
  std::int32_t start();
  /// Stores the state before a sweep. Its ELBO must be the one last computed by start() or end(), or passed to note().
  void begin();
  /// Judges the sweep by its status and ELBO. If it failed, or the objective is lower or not possible, this moves to
  /// the best state on the way (to that before the sweep if none is better) and sets `elbo` to its ELBO. Returns 0, or
  /// the status of a failed sweep of which no part is better.
  std::int32_t end(std::int32_t status, Elbo& elbo, const std::function<double(const Elbo&)>& objective);
  /// Notes the ELBO of the present state, to which a step other than a sweep led, such as an extrapolation.
  void note(const Elbo& elbo) { elbo_ = elbo; }
  /// Returns true if the last sweep was shortened.
  bool shortened() const { return shortened_; }
  /// Returns by how much, in nats, the last sweep lowered the objective if no part of it was better, so that the state
  /// is that before it; else 0. Then the run stands still without being at a maximum.
  double undone() const { return undone_; }

 private:
  /// Infers the local factors of all items from the present global factors and computes the ELBO. Returns 0 or a status
  /// of the generated code.
  std::int32_t infer_items(Elbo& out) const;
  /// Goes back to the state before the sweep, adds the step times `factor` to the coordinates of the factors outside
  /// the items, and writes the ELBO after inferring the items. Returns false if a number is not valid, an update fails,
  /// or the ELBO is impossible.
  bool move(const Eigen::ArrayXd& step, double factor, Elbo& out) const;
  /// Makes a sweep from tangent planes at predictors of 0. Returns false if it fails.
  bool sweep_from_zero() const;

  const Engine& e_;         // the engine of the run
  const SweepOptions o_;    // the options of its sweeps
  bool active_;             // true: sweeps may lower the ELBO
  bool shortened_ = false;  // true: the last sweep was shortened
  double undone_ = 0;       // fall of the objective in nats if the last sweep was undone as a whole, else 0
  Snapshot before_;         // state before the present sweep; null between end() and begin()
  Elbo elbo_;               // ELBO of the state before the next or present sweep
};

}  // namespace lehr
