// Steps of chains outside the items where a sweep over expectations of links lowers the objective. A chain has more
// numbers than its parameters, the covariances of neighbours, and so it cannot move along a sweep as other factors do
// (damping.h). It follows from the tangent planes that its update reads: these take a part of the way from the planes
// that made the present chain to those at its points. With all else fixed, the ELBO is concave in a chain, so that such
// steps lead to its maximum.
#pragma once
#include <functional>
#include <vector>

#include "runtime/inference/engine.h"
#include "runtime/inference/sweep.h"

namespace lehr {

/// Moves the planes of one run. All calls but that of made_by() are inside Engine::recorded.
class PlaneSteps {
 public:
  /// The objective of the run, by the ELBO.
  using Objective = std::function<double(const Elbo&)>;

  /// Does nothing unless there are chains outside the items, and all items are in memory.
  PlaneSteps(const Engine& e, const SweepOptions& o);

  /// Returns true if there is something to move.
  bool active() const { return active_; }
  /// Notes a state whose planes made the present chains: that before a sweep. May be null: it is not known.
  void made_by(Snapshot planes) { made_ = std::move(planes); }
  /// Looks for a state with a higher objective than `least` from the state `before` a sweep, and puts it in place with
  /// its ELBO. Returns false if it finds none; the state in place is then any.
  bool climb(const Arrays& before, double least, const Objective& objective, Elbo& out);
  /// Returns the planes that made the chains of the state that climb() has put in place.
  Arrays take_planes() { return std::move(planes_); }

 private:
  /// Brings local factors to their optimum and computes the ELBO. Returns false if that is no state.
  bool infer_items(Elbo& out) const;
  /// Updates all that is outside the items. Returns false if that fails.
  bool update_outside() const;
  /// Finds which arrays of the state the updates of items write: planes, and what is inferred with them.
  std::vector<bool> arrays_of_items(const Arrays& before) const;
  /// Updates all that is outside the items from `before` with these planes, then the items. Returns false if that is no
  /// state.
  bool follow(const Arrays& before, const Arrays& planes, Elbo& out) const;

  const Engine& e_;               // the engine of the run
  const SweepOptions o_;          // the options of its sweeps
  bool active_;                   // see active()
  Snapshot made_;                 // see made_by()
  std::vector<bool> are_planes_;  // by array of the state: the updates of items write it
  Arrays planes_;                 // see take_planes()
};

}  // namespace lehr
