// Variational tempering of a compiled model: chooses the normaliser log C(T), and computes it from the current factors.
// Tempering maximises the ELBO of a model whose log likelihood is divided by a latent temperature T (Mandt et al.
// 2016).
#pragma once
#include <memory>

#include "compiler/evaluate/normaliser.h"
#include "compiler/fit/methods/method.h"

namespace lehr {

/// The temperature grid and the log normaliser log C(T) of one run of variational tempering. Copies are cheap; they
/// refer to the instance of the run.
class Tempering {
 public:
  /// Chooses the normaliser and computes it at the start. Fails with ExitCode::model if C(T) cannot be computed for the
  /// model, or is not a number under the prior or at the current factors, whichever the settings choose.
  static Result<Tempering> make(const TemperSettings& settings, const RunContext& context);

  /// Returns what a run with one temperature for all items needs: the grid, and a function that returns log C(T). For
  /// NormaliserKind `posterior` it computes that from the current factors, otherwise it returns what it was at the
  /// start.
  Grid grid() const;
  /// Returns what a run with a temperature for each item needs: the grid, the copies of items, and a function that
  /// computes log C(T) by item from the current factors.
  ItemTemperatureGrid items() const;
  /// Returns the report as it is before the run: the grid, and the normaliser at the start.
  const TemperingReport& report() const { return report_; }

 private:
  /// The current variational factors in the form that TemperedNormaliser reads: means of continuous variables
  /// (exp(E[log x]) where there is no mean), and Dirichlet concentrations.
  struct Factors {
    ModelEvaluator values;  // the means of all continuous variables
    /// By variable: the concentrations of Dirichlet factors, from which exact moments follow.
    TemperedNormaliser::Concentrations concentrations;
  };
  /// Stores the context of the run; make() chooses the normaliser.
  explicit Tempering(const RunContext& context) : context_(context) {}
  /// Reads the current factors from the instance.
  Factors factors() const;
  /// Returns true if C(T) does not depend on latent variables: at three temperatures, two draws from the prior give the
  /// same value as the current factors.
  bool is_constant(Factors& q) const;

  RunContext context_;                                 // model, data and instance of the run
  std::shared_ptr<const TemperedNormaliser> compute_;  // computes log C(T) on the grid
  TemperingReport report_;                             // the grid and the normaliser at the start
  std::int64_t every_ = 1;                             // sweeps or steps between updates of the temperature
};

}  // namespace lehr
