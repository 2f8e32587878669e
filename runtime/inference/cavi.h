// Coordinate ascent variational inference (Bishop, section 10.1): sweeps over the steps of an engine, annealed first if
// asked for, until the ELBO and the parameters have converged.
//
// The stopping rule asks for three things: the ELBO moves little, the global parameters move little, and a geometric
// series through the last movements says that little is left to move. The third keeps slow runs from stopping early.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/inference/anneal.h"
#include "runtime/inference/attempts.h"
#include "runtime/inference/extrapolation.h"
#include "runtime/inference/invariance.h"
#include "runtime/inference/sweep.h"

namespace lehr {

/// How a run of an inference method ended: coordinate ascent, stochastic steps or a sampler.
enum class Status {
  converged,          // coordinate ascent met its stopping rule; stochastic steps and samplers never end so
  max_iter,           // all sweeps, steps or draws of the options were made; the normal end of steps and samplers
  numerical_failure,  // a factor became improper, the ELBO not finite or impossible, or exact sampling gave up;
                      // Outcome::failure says which
  interrupted         // the callback after a sweep (OnSweep) returned false
};
/// Returns the name of a status, as in fit.json.
std::string_view name_of(Status s);

/// How large changes in a sweep may be that coordinate ascent attributes to rounding. Smaller falls of the ELBO are no
/// decreases, and after smaller movements of the parameters nothing is left to move.
struct RoundingSlack {
  double elbo = 1e-9,    // largest fall of the ELBO, relative to 1 + |ELBO|
      movement = 1e-14;  // largest movement of a parameter array, relative to its mean size
};
/// The slack of code that computes items in single precision (`--precision float`).
inline constexpr RoundingSlack kSingleSlack{1e-6, 1e-6};

/// The options of coordinate ascent.
struct CaviOptions : SweepOptions {
  std::int64_t max_iterations = 1000;  // sweeps at most
  /// The run has converged when two things hold. The ELBO moves by at most tolerance * (1 + |ELBO|). Every global
  /// parameter array moves, and according to the last sweeps still has to move, by at most sqrt(tolerance) of its mean
  /// size.
  double tolerance = 1e-8;
  RoundingSlack slack;     // changes of the ELBO and of parameters that are attributed to rounding
  Annealing annealing;     // temperatures of the first sweeps, part of max_iterations; sweeps at temperature 1 follow
  std::uint64_t seed = 1;  // seed of all random numbers of the run, such as the starts of stochastic annealing
  /// Sweeps before extrapolation may begin, if convergence is slow (extrapolation.h). 0: neither extrapolations nor
  /// steps along invariances.
  std::int64_t leap_after = 6;
  bool test_end = true;         // true: the caller may test a converged run for a saddle point (leave_saddles())
  bool invariances = true;      // true: steps along invariances between sweeps (invariance.h), unless `leap_after` is 0
  std::int64_t elbo_every = 1;  // sweeps from one ELBO to the next; the last sweep of a run always has one

  /// Returns true if the run makes steps along invariances between its sweeps.
  bool uses_invariances() const { return invariances && leap_after > 0; }
};

/// A fixed point of sweeps that was no maximum of the ELBO, or that could be left for a higher one (saddle.h).
struct Saddle {
  double elbo = 0,          // the ELBO at the point, in nats
      eigenvalue = 0;       // the largest eigenvalue of the derivative of a sweep; above 1 the point is unstable
  bool left = false;        // true: the ELBO rose after a displacement of the factors, and the run went on from there
  std::int64_t sweeps = 0;  // sweeps that the test made there; the run does not count them
};

/// The result of a run of an inference method; the factors that it found are in the engine.
struct Outcome {
  Status status = Status::max_iter;  // how it ended
  std::int64_t iterations = 0;       // sweeps or stochastic steps made
  double elbo = 0;                   // last ELBO, in nats; of a sampler, the last log joint density
  std::string failure;               // numerical_failure: the message for the user
  std::int64_t decreases = 0;        // sweeps that lowered the objective beyond rounding; a sign of a defect
  TriedSteps tried;                  // counts of extrapolations and of steps along invariances between the sweeps
  std::vector<Saddle> saddles;       // saddle points that it met, in order
};

/// What a callback learns of one sweep, stochastic step or draw. `elbo` and `objective` are NaN for a sweep without an
/// ELBO. Some methods put another number into `elbo`: run_items_tempered() the tempered ELBO, stochastic steps mostly
/// an estimate of the ELBO, samplers the log joint density of the state.
struct SweepReport {
  std::int64_t iteration = 0;  // number of the sweep, step or draw, from 1; 0: the start of a fit without sweeps
  double elbo = 0,             // the ELBO at temperature 1, in nats
      temperature = 1,         // the temperature of the sweep
      objective = 0;           // the objective that sweeps at this temperature increase
};

/// A callback after each sweep; it returns false to stop the run, which is then interrupted. If the sweep had no ELBO
/// (CaviOptions::elbo_every), coordinate ascent makes one more sweep before it stops.
using OnSweep = std::function<bool(const SweepReport&)>;

/// The stopping rule: decides after each sweep whether a run has converged.
class StoppingRule {
 public:
  /// Begins with a snapshot of the present global parameters.
  StoppingRule(const Engine& e, const CaviOptions& options);
  /// Returns true if the run has converged, of which three things must hold. Since the last call the ELBO moved by at
  /// most tolerance * (1 + |ELBO|). Every global parameter array moved by at most sqrt(tolerance) of its mean size. A
  /// geometric series through the last movements says that no more than this is left to move. `share` multiplies
  /// sqrt(tolerance): after extrapolations the movements say less of what is left.
  ///
  /// With items in single precision (CaviOptions::slack), a tolerance below 2^-23 counts as 2^-23 for the ELBO. Call it
  /// once, with the ELBO in nats, after each sweep that has an ELBO, except those that were undone. It compares with
  /// the call before, so the first call returns false.
  bool converged(double elbo, double share = 1);

 private:
  /// Returns the largest movement of a global parameter array since the last call: its mean absolute change relative to
  /// its mean absolute value. The present parameters become those that the next call compares with.
  double movement();
  /// Adds the movement `moved` of the last sweep and returns how far the parameters still have to move, relative to
  /// their size: the tail of the geometric series that the last movements suggest. It is infinite for the first three
  /// movements, and `moved` itself if that is rounding.
  double remaining_movement(double moved);

  const Engine& engine_;            // the engine whose run it judges
  double tolerance_;                // relative tolerance, see CaviOptions::tolerance
  RoundingSlack slack_;             // changes that count as rounding, see CaviOptions::slack
  double previous_ = 0;             // ELBO of the last call
  bool first_ = true;               // true: converged() was not called yet
  std::shared_ptr<Arrays> before_;  // global parameters at the last call
  Arrays spare_;                    // discarded arrays, whose memory the next snapshot reuses
  std::vector<double> recent_;      // relative movements of the last sweeps, oldest first, at most eleven
};

/// A guard that sets the weights of the engine (temperatures, step sizes) back to 1 when a run ends, even by an
/// exception.
struct WeightsGuard {
  const Engine& engine;  // the engine of the run
  ~WeightsGuard() { engine.set({}); }
};

/// Returns the outcome of a run that ended with this failure status of the generated code: `so_far` as a numerical
/// failure, with the engine's message for the status.
Outcome failure(const Engine& e, std::int32_t status, Outcome so_far);

/// Returns true if the ELBO is finite and belongs to data that the model can produce. Otherwise it makes `out` a
/// numerical failure with a message.
bool check_elbo(double elbo, Outcome& out);

/// Runs coordinate ascent from the factors in place, until it converges or has made all sweeps.
Outcome run_cavi(const Engine& engine, const CaviOptions& options, const OnSweep& on_sweep);

/// Goes on with coordinate ascent without annealing after an earlier phase of the same run (a tempered phase, or the
/// way to a saddle point), whose outcome is `before`. The outcome and the callback count the sweeps of both. Makes
/// options.max_iterations sweeps in all at most; returns `before` if none are left.
Outcome run_on(const Engine& engine, CaviOptions options, const Outcome& before, const OnSweep& on_sweep);

}  // namespace lehr
