// Coordinate ascent: sweeps over the steps of an engine, annealed first where asked, until the ELBO and the parameters
// have settled.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/methods/anneal.h"
#include "runtime/methods/leap.h"
#include "runtime/methods/sweep.h"

namespace lehr {

enum class Status { converged, max_iter, numerical_failure, interrupted };
std::string_view name_of(Status s);

/// What is rounding and no more: falls of the ELBO relative to it, movements of parameters relative to their size.
struct Slack {
  double elbo = 1e-9, movement = 1e-14;
};
/// Of code in which items are worked on in 32 bits.
inline constexpr Slack kSingleSlack{1e-6, 1e-6};

struct CaviOptions : SweepOptions {
  std::int64_t max_iterations = 1000;
  /// Converged when the ELBO moves by at most tolerance * (1 + |ELBO|) and every global parameter array moves, and has
  /// left to go as far as the last sweeps tell, at most sqrt(tolerance) of its mean size.
  double tolerance = 1e-8;
  Slack slack;
  Annealing annealing;           // its sweeps come first and count; what follows is the finishing phase
  std::uint64_t seed = 1;        // of the random starts that stochastic annealing mixes in
  std::int64_t leap_after = 20;  // sweeps before it leaps where it creeps (leap.h); 0: never
  std::int64_t elbo_every = 1;   // sweeps from one ELBO to the next; the last sweep of a run has one
};

struct Outcome {
  Status status = Status::max_iter;
  std::int64_t iterations = 0;
  double elbo = 0;             // at temperature 1
  std::string failure;         // numerical_failure: what happened
  std::int64_t decreases = 0;  // sweeps after which what was maximised was lower beyond rounding
  Leaps leaps;
};

/// One sweep, from 1: the ELBO at temperature 1, the temperature it was made at, and the objective of that temperature.
/// Not a number: none was formed.
struct SweepReport {
  std::int64_t iteration = 0;
  double elbo = 0, temperature = 1, objective = 0;
};

/// Called after each sweep; false stops the run (interrupted).
using OnSweep = std::function<bool(const SweepReport&)>;

/// Decides after each sweep whether a run has settled.
class Settling {
 public:
  Settling(const Engine& e, const CaviOptions& options);
  bool settled(double elbo);
  /// The parameters were moved: what came before says nothing any more.
  void forget();

 private:
  double movement();
  double left_to_go(double moved);

  const Engine& engine_;
  double tolerance_;
  Slack slack_;
  double previous_ = 0;
  bool first_ = true;
  std::shared_ptr<Arrays> before_;  // global parameters
  Arrays room_;                     // for those that come
  std::vector<double> recent_;      // movements of the last sweeps
};

/// Puts the weights of the engine back to 1 when a run ends, however it does.
struct PlainAtEnd {
  const Engine& engine;
  ~PlainAtEnd() { engine.set({}); }
};

/// A run that a status of the generated code ended.
Outcome failure(const Engine& e, std::int32_t status, Outcome so_far);

/// Whether an ELBO is that of data a model could have made; otherwise `out` says what is wrong.
bool check_elbo(double elbo, Outcome& out);

Outcome run_cavi(const Engine& engine, const CaviOptions& options, const OnSweep& on_sweep);

}  // namespace lehr
