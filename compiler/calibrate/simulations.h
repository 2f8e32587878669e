// Data sets that a model generates itself, all of the same sizes, for calibration. Equal sizes allow one compiled model
// to fit them all.
#pragma once
#include <vector>

#include "compiler/calibrate/calibration.h"

namespace lehr {

/// One simulated data set with the latent variables that it was drawn from.
struct Simulation {
  Values values;                   // simulated values of all variables; categories are numbered from 0
  BoundData data;                  // the data as a fit reads them
  std::vector<NamedArray> arrays;  // as simulate() returned them; categories are numbered as in files
};

/// Draws data sets of equal sizes from a model for calibration, so that one compiled model can fit them all.
class Simulations {
 public:
  /// Prepares to simulate `problem`, which must outlive the object. Takes the sizes from the given data, so that all
  /// simulations have the same. ExitCode::data if the given data have an array for a latent variable; other errors are
  /// those of bind_givens().
  static Result<Simulations> make(const CalibrationProblem& problem);

  /// Draws latent variables from their priors and data given them. Equal seeds give equal simulations.
  Result<Simulation> draw(std::uint64_t seed) const;
  /// Draws new data given values of the latent variables, in the shapes of the earlier simulation `from`: a round of
  /// the joint test. A variable whose list in `latent` is empty has its values in `from`.
  Result<Simulation> draw_data(const Simulation& from, const Values& latent, std::uint64_t seed) const;

  /// Returns the model that is simulated, as its analysis completed it (auxiliary variables included).
  const model::Model& model() const { return problem_->complete.model; }

 private:
  /// Stores the problem; make() determines the sizes.
  explicit Simulations(const CalibrationProblem& problem) : problem_(&problem), settings_(problem.settings) {}
  /// Returns a simulation made of simulated arrays, with the data bound to the model as those of a fit are.
  Result<Simulation> bound(std::vector<NamedArray> arrays) const;

  const CalibrationProblem* problem_;  // the model and what is given
  Settings settings_;                  // settings of the problem, with the sizes that the given data have
};

}  // namespace lehr
