// Temperatures over the sweeps of a fit, and what they weight.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/methods/engine.h"

namespace lehr {

/// A schedule that ends: from sweep `over` on the temperature is 1.
struct Annealing {
  enum class Kind {
    data,       // terms of the data and their local variables times 1/T (Mandt et al. 2016, section 2.2)
    entropy,    // q proportional to (exp E[log p])^(1/T): all naturals times 1/T (Katahira et al. 2008)
    stochastic  // naturals of global blocks mixed with those of a fresh random start (Gultekin et al., eq. 12)
  };
  enum class Scope { local, global, all };
  enum class Shape { linear, exponential, listed };
  Kind kind = Kind::data;
  Scope scope = Scope::all;
  Shape shape = Shape::linear;
  double from = 1;  // first temperature; stochastic: first share rho of the random start, below 1
  std::optional<StartKind> noise_start = {};  // stochastic: kind of the random starts; none: that of the run
  double decay = 0;            // stochastic: rho_t = decay^t instead of from * (1 - t / over), where above 0
  std::int64_t over = 0;       // sweeps
  std::vector<double> listed;  // one temperature a sweep

  bool active(std::int64_t sweep) const { return sweep < over; }
  /// At sweep 0, 1, ...: T = from + (1 - from) t / over, or from^(1 - t / over); never below 1.
  double temperature(std::int64_t sweep) const;
  /// Share of the random start at a sweep, in [0, 1); 0 unless stochastic.
  double noise(std::int64_t sweep) const;
};

/// The weights of a sweep at temperature `t`.
Weights weights_at(const Annealing& a, double t);

/// The objective that a sweep at temperature `t` cannot lower: expected log joint and entropies as they are weighted.
/// Scope `all` only; stochastic: the ELBO.
double annealed_objective(const Annealing& a, double t, const Elbo& e);

}  // namespace lehr
