// The numbers of a prediction, once the factors of its items are known.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/fitting/prediction.h"

namespace lehr {

/// Fills `variables` and `draws`; `posterior` has the factors of every latent variable, by name, `seen` the elements
/// that the fit has (growth.h). ExitCode::data where an observation depends on others.
std::optional<Error> add_predicted_numbers(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                           const std::vector<std::vector<bool>>& seen,
                                           const PredictionOptions& options);

}  // namespace lehr
