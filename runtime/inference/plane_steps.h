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

/// Finds a better state where a sweep over expectations of links has lowered the objective and chains (factors of whole
/// sequences) lie outside the items: it moves the tangent planes from which the chains are updated a part of the way.
/// Damping uses it, because a chain cannot be moved along a sweep itself. climb() is called inside Engine::recorded.
class PlaneSteps {
 public:
  /// A function that returns from an ELBO and its parts the number that sweeps of the run must not lower: the ELBO, or
  /// at a temperature the annealed objective.
  using Objective = std::function<double(const Elbo&)>;

  /// Serves a run of this engine. It finds nothing unless there are chains outside the items, and the factors of all
  /// items are in memory.
  PlaneSteps(const Engine& e, const SweepOptions& o);

  /// Returns true if there are chains outside the items and the factors of all items are in memory, so that climb() may
  /// find a state.
  bool active() const { return active_; }
  /// Stores a state with the tangent planes from which the present chains were updated, where climb() begins: that
  /// before the last sweep. If it is null, climb() begins at the planes of its argument `before`.
  void made_by(Snapshot planes) { made_ = std::move(planes); }
  /// Searches for a state with a higher objective than `least`, puts it in place and writes its ELBO to `out`. From the
  /// state `before` a sweep, it moves the tangent planes towards those at the present chains, by steps that are halved
  /// until the objective rises, and updates all factors from them; up to 30 times, while the gain is large. Returns
  /// false if it finds none; the state in place is then arbitrary.
  bool climb(const Arrays& before, double least, const Objective& objective, Elbo& out);
  /// Returns a state with the tangent planes from which the chains in the state found by climb() were updated, for
  /// made_by(); only once.
  Arrays take_planes() { return std::move(planes_); }

 private:
  /// Brings local factors, tangent points among them, to their optimum and computes the ELBO. Returns false if
  /// generated code fails or the ELBO is impossible.
  bool infer(Elbo& out) const;
  /// Updates every block outside the items once, except local ones and tangent points. Returns false if one fails.
  bool update_outside() const;
  /// Finds which arrays of the state the updates of items write: tangent planes, and what is inferred with them. The
  /// result has a flag for each array. It tries these updates from the state `before`, and leaves another state in
  /// place.
  std::vector<bool> arrays_of_items(const Arrays& before) const;
  /// Loads the state `before` with the tangent planes of the state `planes`, updates all blocks outside the items from
  /// them, then the items, and computes the ELBO. Returns false if generated code fails or the ELBO is impossible.
  bool follow(const Arrays& before, const Arrays& planes, Elbo& out) const;

  const Engine& e_;               // the engine of the run
  const SweepOptions o_;          // the options of its sweeps
  bool active_;                   // see active()
  Snapshot made_;                 // see made_by()
  std::vector<bool> are_planes_;  // by array of the state: the updates of items write it
  Arrays planes_;                 // see take_planes()
};

}  // namespace lehr
