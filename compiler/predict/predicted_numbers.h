// Computes the numbers of a prediction from the factors of its items: in closed form if possible (expectation.h),
// otherwise by draws (predicted_draws.h).
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/predict/prediction.h"

namespace lehr {

/// Chooses which variables and elements a prediction has, and computes their numbers: fills in `variables` and `draws`
/// of `to`. `posterior` has the factors of all latent variables by name; `seen` says which elements the fit has
/// (EnlargedFactors::in_fit). ExitCode::data if nothing is to be predicted, if an observation depends on unseen
/// elements, or if a factor is absent or has another size. Otherwise errors are those of add_drawn_values().
std::optional<Error> add_predicted_values(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                          const std::vector<std::vector<bool>>& seen, const PredictionOptions& options);

}  // namespace lehr
