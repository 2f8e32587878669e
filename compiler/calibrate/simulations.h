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

/// Draws data sets from a model.
class Simulations {
 public:
  /// Takes the sizes from the given data, so that all simulations have the same. ExitCode::data if latent variables are
  /// given. `problem` must outlive the object.
  static Result<Simulations> make(const CalibrationProblem& problem);

  /// Draws latent variables and data by simulate().
  Result<Simulation> draw(std::uint64_t seed) const;
  /// Draws new data in the shapes of an earlier simulation, given values of the latent variables. `latent` may lack a
  /// variable: then it has its values in `from`.
  Result<Simulation> draw_data(const Simulation& from, const Values& latent, std::uint64_t seed) const;

  /// Returns the model that is simulated.
  const model::Model& model() const { return problem_->complete.model; }

 private:
  /// Stores the problem; make() determines the sizes.
  explicit Simulations(const CalibrationProblem& problem) : problem_(&problem), settings_(problem.settings) {}
  /// Binds simulated arrays to the model.
  Result<Simulation> bound(std::vector<NamedArray> arrays) const;

  const CalibrationProblem* problem_;  // the model and what is given
  Settings settings_;                  // settings of the problem, with the sizes that the given data have
};

}  // namespace lehr
