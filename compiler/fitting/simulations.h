// Data sets of one shape that a model makes itself.
#pragma once
#include <vector>

#include "compiler/fitting/calibration.h"

namespace lehr {

struct Simulation {
  Values values;                   // of all variables, the latent ones among them
  BoundData data;                  // what a fit would see
  std::vector<NamedArray> arrays;  // as simulate() returns them
};

class Simulations {
 public:
  /// Sizes are those of the given data, whatever is drawn.
  static Result<Simulations> make(const CalibrationProblem& problem);

  /// simulate() with the given data.
  Result<Simulation> draw(std::uint64_t seed) const;
  /// New data in the shapes of an earlier simulation, with these values of the latent variables.
  Result<Simulation> draw_data(const Simulation& from, const Values& latent, std::uint64_t seed) const;

  const model::Model& model() const { return problem_->complete.model; }

 private:
  explicit Simulations(const CalibrationProblem& problem) : problem_(&problem), settings_(problem.settings) {}
  Result<Simulation> bound(std::vector<NamedArray> arrays) const;

  const CalibrationProblem* problem_;
  Settings settings_;  // with the sizes that the given data had
};

}  // namespace lehr
