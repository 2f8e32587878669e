// The numbers of a prediction, once the factors of its items are known.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/fitting/prediction.h"

namespace lehr {

/// Fills `variables` and `draws`; `posterior` has the factors of every latent variable, by name.
std::optional<Error> add_predicted_numbers(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                           const PredictionOptions& options);

}  // namespace lehr
