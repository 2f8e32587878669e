// What a prediction has no closed form for.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fitting/laws.h"
#include "compiler/fitting/prediction.h"

namespace lehr {

/// Bits and spins: the probability of one value says everything.
bool has_two_values(const model::Variable& v);

/// Means that are NaN, with their standard errors: averages of means given the parents where those have a closed form,
/// else of draws. Standard deviations and quantiles of numbers that are NaN: of draws. `posterior` has the factors
/// by name, `informed` as of informed.h, `laws` is of both.
std::optional<Error> add_drawn_numbers(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                       const std::vector<std::vector<bool>>& informed, Laws& laws,
                                       const PredictionOptions& options);

}  // namespace lehr
