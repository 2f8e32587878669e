// Improvement bounds: decide during a run whether it can still become better than another, so that hopeless candidates
// are stopped. Near the end of a run the gains of its sweeps shrink geometrically, so the sum of the rest is estimated.
#pragma once
#include <deque>
#include <vector>

namespace lehr {

/// Extrapolates the ELBO of one run from its last sweeps, so that a run that cannot reach a target can be stopped
/// early.
class ImprovementBound {
 public:
  /// `doubt` is the safety factor: the remaining gain may be this many times the extrapolated one.
  explicit ImprovementBound(double doubt = 30) : doubt_(doubt) {}

  /// Notes the ELBO after a sweep. Returns false if the run cannot reach `target` even if its remaining gain is `doubt`
  /// times what the last ten gains suggest, or if the last gain is not positive. The result is true if `elbo` is at
  /// least `target`, for the first eleven ELBOs, and while positive gains do not shrink.
  bool may_reach(double target, double elbo);

 private:
  double doubt_;               // the safety factor, by which the extrapolated gain is multiplied
  std::deque<double> recent_;  // ELBOs of the last sweeps, oldest first, at most twelve
};

/// The objective of one sweep of an annealed run, with its temperature. Runs are compared at equal temperatures.
struct CoolingPoint {
  double temperature = 1,  // the temperature of the sweep
      objective = 0;       // annealed objective of the sweep
};

/// Returns the objective that an annealed run had at a temperature, interpolated linearly between its sweeps; NaN
/// outside its temperatures. A later run that is far below it at the same temperature is stopped. `run` has the sweeps
/// in order, with falling temperatures.
double objective_at(const std::vector<CoolingPoint>& run, double temperature);

}  // namespace lehr
