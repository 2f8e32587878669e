// Monte Carlo estimates of those numbers of a prediction that have no closed form. All numbers come from the same draws
// of the factors and of what follows from them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/posterior/posterior_moments.h"
#include "compiler/predict/prediction.h"

namespace lehr {

/// Returns true for bits and spins: their mean gives the probability of both values, so that their standard deviations
/// and quantiles need no draws.
bool has_two_values(const model::Variable& v);

/// Replaces the numbers of a prediction that have no closed form (NaN) by estimates from draws. A mean is the average
/// of conditional means given the parents, or of draws if these have no closed form; it gets a standard error. Standard
/// deviations and quantiles are those of draws.
///
/// `posterior` has the factors by name. `d_connected` says by VariableId and element which elements are d-connected to
/// data (instance/d_connected.h); `posterior_moments` was made for both. ExitCode::data if the draws do not fit into
/// memory or a factor is missing; otherwise errors are those of draw_values().
std::optional<Error> add_drawn_values(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                      const std::vector<std::vector<bool>>& d_connected,
                                      PosteriorMoments& posterior_moments, const PredictionOptions& options);

}  // namespace lehr
