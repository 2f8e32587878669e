// A saved variational fit, restored beside the data that it was made from. The diagnostic commands work on it:
// importance sampling, linear response (compiler/fit), predictive checks.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "compiler/fit/fitting.h"
#include "compiler/fit/item_solution.h"

namespace lehr {

/// A saved variational fit as `lehr diagnose` works on it, in memory beside its data: the bound model, its compiled
/// instance, and all factors. Global factors are those of the fit, local ones are inferred again.
struct RestoredFit {
  std::unique_ptr<BoundModel> bound;               // model and data, centred at references where data are far from zero
  std::unique_ptr<Instance> instance;              // the compiled model, with the factors in place
  std::vector<NamedArray> factors;                 // all factors, global and local, of the centred model
  std::map<std::string, SavedVariable> variables;  // the same factors, by name of the variable
  double elbo = 0;                                 // ELBO of the restored factors, in nats, to compare with the fit's
  ItemSolution items;                              // how the local factors were inferred again

  /// Returns the analysis of the model: the model with its density, conditionals and schedule.
  const Analysed& analysed() const { return bound->analysed; }
  /// Returns the analysed model, including auxiliary variables.
  const model::Model& model() const { return bound->analysed.model; }
  /// Returns the data that the fit was made from. Values far from zero are stored as their distance from a reference
  /// value, as the compiled model reads them.
  const BoundData& data() const { return bound->data; }
};

/// Returns the settings with which the data of a saved fit are bound again: its sizes, labels and constants. Data of
/// other sizes than those of the fit are then an error of the binding.
Settings to_fit_settings(const SavedFit& fit, const model::Model& resolved, const Analysed& complete);

/// Restores a saved variational fit for `lehr diagnose`: binds the data from which it was made, compiles the model,
/// puts the global factors in place, and infers the local ones again (solve_items). `local` limits the iterations of
/// that inference. ExitCode::data if the fit was sampled or the data have other sizes.
Result<RestoredFit> restore_fit(const Source& source, const model::Model& resolved, const Analysed& complete,
                                Dataset dataset, const SavedFit& fit, const SweepOptions& local);

}  // namespace lehr
