// A run of coordinate ascent that can be suspended and resumed, which successive halving (race.h) needs: candidates
// make a few sweeps each, and the better ones go on. Resuming requires that the caller first loads the state at which
// the run was suspended; its sweeps are then those of a run without suspension, bit for bit.
#pragma once
#include "runtime/inference/cavi.h"
#include "runtime/inference/damping.h"

namespace lehr {

/// One run of coordinate ascent that makes its sweeps in pieces, so that the search can suspend it and go on later.
/// Before each piece the caller loads the state at which the last one ended.
class CaviRun {
 public:
  /// Begins a run at the factors in place; makes no sweep.
  CaviRun(const Engine& engine, const CaviOptions& options);

  /// Sweeps until `until` sweeps were made in all pieces together, or the run has ended. Returns the outcome of all
  /// pieces, with the ELBO of the last sweep.
  const Outcome& go_on(std::int64_t until, const OnSweep& on_sweep);
  /// Returns the outcome of the pieces so far.
  const Outcome& outcome() const { return out_; }
  /// Returns true if the run has ended by converging.
  bool converged() const { return ended_ && out_.status == Status::converged; }

 private:
  /// Makes one sweep; `last` if it is the last one of a piece, which then has an ELBO.
  void advance(bool last, const OnSweep& on_sweep);
  /// Judges the last sweep, which had this temperature, weight of random starts, objective and ELBO: counts a fall of
  /// the objective beyond rounding, and returns true if the run has converged.
  bool judge(double temperature, double noise, double objective, const Elbo& elbo);
  /// Returns the least gain, in nats, for which a step along an invariance is made: what the stopping rule would hardly
  /// notice.
  double least_gain() const;
  /// Marks the run as ended, with this status in its outcome.
  void end(Status status);

  const Engine& e_;              // the engine that sweeps
  const CaviOptions o_;          // the options of the run
  Outcome out_;                  // outcome of all pieces so far
  StoppingRule stopping_rule_;   // decides whether the run has converged
  Extrapolation extrapolation_;  // extrapolates between sweeps that converge slowly
  Invariances invariances_;      // steps along invariances between sweeps
  Damping damping_;              // shorter sweeps where the objective would fall
  Elbo elbo_;  // ELBO after the last judged sweep, with which the next extrapolation or step is compared
  bool may_extrapolate_ = false;                // true: an extrapolation or other step may precede the next sweep
  std::optional<double> previous_temperature_;  // temperature of the sweep with `previous_`; none: no comparison
  double previous_ = 0;                         // objective of the last judged sweep, which should not fall
  bool still_ = false,                          // true: the stopping rule held for the last sweep that it judged
      prepared_ = false,                        // true: the statistics of the start were computed
      stops_ = false,                           // true: the callback wants to stop; one sweep with an ELBO follows
      ended_ = false;                           // true: the run has ended
  double highest_ = -INFINITY;  // highest objective so far; higher ones by the rounding of parts that cancel aside
  int since_highest_ = 0;       // judged sweeps since then
};

}  // namespace lehr
