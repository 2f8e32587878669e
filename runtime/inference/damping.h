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

/// Shortens the sweeps of one run of coordinate ascent that lower the objective, as sweeps over expectations of links
/// may: it goes back to the state before the sweep and a part of the way to that after it. The caller alternates:
///
///     damping.begin(); status = sweep and ELBO; status = damping.end(status, elbo, objective);
class Damping {
 public:
  /// Watches a run of this engine. All functions do nothing if sweeps of the model never lower the ELBO.
  Damping(const Engine& e, const SweepOptions& o);

  /// Returns true if sweeps of the model may lower the ELBO. The caller must then compute the ELBO after every sweep.
  bool active() const { return active_; }
  /// Improves the factors in place before the first sweep of the run, and stores their ELBO: a sweep with tangent
  /// planes at 0 replaces them if its ELBO is higher (machine::start_damped()). Returns 0 or a status of the generated
  /// code.
  std::int32_t start();
  /// Stores a copy of the state before a sweep, to which end() may return. Its ELBO must be the one last computed by
  /// start() or end(), or passed to note().
  void begin();
  /// Judges the sweep since begin() by its status and ELBO. If it failed, or the objective is lower or not possible,
  /// this moves to a state on the way whose objective is not lower (to that before the sweep if there is none) and sets
  /// `elbo` to its ELBO. Returns 0, or the status of a failed sweep of which no part serves.
  std::int32_t end(std::int32_t status, Elbo& elbo, const PlaneSteps::Objective& objective);
  /// Stores the ELBO of the present state, with which the next sweep is compared. The caller passes it after every
  /// sweep, since a step that end() does not judge may have led there, such as an extrapolation.
  void note(const Elbo& elbo) { judged_.elbo = elbo; }
  /// Returns true if end() has replaced the state after the last sweep, by one with a part of its movement or by that
  /// before it.
  bool shortened() const { return judged_.shortened; }
  /// Returns by how much, in nats, the last sweep had lowered the objective if end() has put back the state before it;
  /// infinite if the sweep failed; else 0. If it is above the tolerance, the run has stopped moving without being at a
  /// maximum, and does not count as converged.
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
