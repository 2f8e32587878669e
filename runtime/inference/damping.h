// Shorter sweeps where a sweep lowers the objective (runtime/machine/damping.h), in runs of an engine. Where there are
// chains outside the items, the planes move first (plane_steps.h).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/inference/engine.h"
#include "runtime/inference/plane_steps.h"
#include "runtime/inference/sweep.h"
#include "runtime/machine/damping.h"

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
  /// Prepares the state from which the first sweep starts, and its ELBO (machine::start_damped()). Returns a status.
  std::int32_t start();
  /// Stores the state before a sweep. Its ELBO must be the one last computed by start() or end(), or passed to note().
  void begin();
  /// Judges the sweep by its status and ELBO. If it failed, or the objective is lower or not possible, this moves to
  /// the best state on the way (to that before the sweep if none is better) and sets `elbo` to its ELBO. Returns 0, or
  /// the status of a failed sweep of which no part is better.
  std::int32_t end(std::int32_t status, Elbo& elbo, const PlaneSteps::Objective& objective);
  /// Notes the ELBO of the present state, to which a step other than a sweep led, such as an extrapolation.
  void note(const Elbo& elbo) { judged_.elbo = elbo; }
  /// Returns true if the last sweep was shortened.
  bool shortened() const { return judged_.shortened; }
  /// Returns by how much, in nats, the last sweep lowered the objective if no part of it was better, so that the state
  /// is that before it; else 0. Then the run stands still without being at a maximum.
  double undone() const { return judged_.undone; }

 private:
  class Run;

  const Engine& e_;                    // the engine of the run
  const SweepOptions o_;               // the options of its sweeps
  bool active_;                        // true: sweeps may lower the ELBO
  std::vector<std::int64_t> buffers_;  // the buffers of a copy
  std::array<Arrays, 2> copies_;       // by machine::Copy
  PlaneSteps planes_;                  // moves chains
  Snapshot before_;                    // state before the last sweep, for planes_
  machine::Judgement judged_;          // of the last sweep
};

}  // namespace lehr
