// Annealing schedules: the temperature of each sweep of a fit, and which terms it divides. At a high temperature the
// objective has fewer local optima; the schedule then lowers it to 1, where the objective is the ELBO.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// A schedule of temperatures for the sweeps of a fit, and what they act on; the temperature is 1 from sweep `over` on.
/// It also describes stochastic annealing, which mixes random starts into the parameters instead.
struct Annealing {
  /// What the temperature T acts on.
  enum class Kind {
    data,       // terms of the data and their local variables are multiplied by 1/T (Mandt et al. 2016, section 2.2)
    entropy,    // all natural parameters are multiplied by 1/T: q is proportional to exp(E[log p] / T) (Katahira et al.
                // 2008)
    stochastic  // T stays 1; natural parameters of global blocks are mixed with those of another random start (Gultekin
                // et al., eq. 12)
  };
  /// The blocks of latent variables whose natural parameters the annealing changes.
  enum class Scope {
    local,   // blocks of local variables, those of the items
    global,  // the other blocks
    all      // all blocks
  };
  /// How the temperature falls.
  enum class Shape {
    linear,       // linearly with the number of the sweep
    exponential,  // by a constant factor from sweep to sweep
    listed        // one temperature a sweep, from a list
  };
  Kind kind = Kind::data;       // what the temperature acts on
  Scope scope = Scope::all;     // the blocks whose natural parameters are changed
  Shape shape = Shape::linear;  // how the temperature falls
  double from = 1;              // first temperature; stochastic: first weight rho of the random start, below 1
  std::optional<StartKind> noise_start = {};  // stochastic: kind of the random starts; none: that of the run
  bool noise_counts = false;   // stochastic: true: Dirichlet and Beta factors are mixed with random concentrations of
                               // the same sum, not with those of a random start
  double decay = 0;            // stochastic: if above 0, rho_t = decay^(t + 1) instead of from * (1 - t / over)
  std::int64_t over = 0;       // number of annealed sweeps
  std::vector<double> listed;  // Shape::listed: one temperature for each of the `over` sweeps

  /// Returns true if a sweep (from 0) is annealed.
  bool active(std::int64_t sweep) const { return sweep < over; }
  /// Returns the temperature of sweep t = 0, 1, ...: from + (1 - from) t / over, or from^(1 - t / over), or that of the
  /// list; never below 1. It is 1 for stochastic annealing, and from sweep `over` on.
  double temperature(std::int64_t sweep) const;
  /// Returns the weight of the random start at a sweep, in [0, 1). It is 0 unless annealing is stochastic, and from
  /// sweep `over` on.
  double noise(std::int64_t sweep) const;
};

/// Computes the global parameters that stochastic annealing mixes in at a sweep: those of another random start. With
/// `noise_counts`, a row of concentrations is instead a uniform random vector of proportions, times the present mean
/// sum of a row of its array: c N / K in an HMM of K states with N sequences of mean length c (Gultekin et al., section
/// 4.2). Returns 0 or a status of the generated code.
std::int32_t draw_noise(const Engine& e, const Annealing& a, std::uint64_t seed, Parameters& out);

/// Returns the factors by which a sweep at temperature `t` multiplies natural parameters of the blocks in
/// Annealing::scope: 1 / t, on the terms of the data (Kind::data) or on all terms (Kind::entropy). All other factors
/// are 1; for stochastic annealing all are.
Weights weights_at(const Annealing& a, double t);

/// Returns the objective that a sweep at temperature `t` does not lower: the expected log joint and the entropies,
/// weighted as in the sweep. It is valid for Scope::all only; for stochastic annealing it is the ELBO.
double annealed_objective(const Annealing& a, double t, const Elbo& e);

}  // namespace lehr
