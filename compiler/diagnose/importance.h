// Importance sampling with the posterior q as the proposal: how far q is from the true posterior (Yao, Vehtari, Simpson
// & Gelman 2018, Yes, but did it work?). pareto.h judges the ratios.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/diagnose/restored_fit.h"
#include "compiler/fit/linear_response.h"

namespace lehr {

/// The importance ratios p(data, draw) / q(draw) of draws from the variational posterior q, for `lehr diagnose`: the
/// more equal they are, the nearer q is to the true posterior.
struct ImportanceRatios {
  std::vector<double> log_ratios;  // log p(data, draw) - log q(draw) of each draw, in nats
  double noise = 0;                // in nats: log ratios that differ by no more than this count as equal (rounding)
  /// The names of the latent variables that the draws have, and of those that are summed out of both densities.
  std::vector<std::string> drawn, summed;
};

/// Draws `draws` times from the variational posterior q of a fit and computes the importance ratios, by which
/// pareto_diagnosis() judges q. Discrete variables whose elements do not interact are summed out if the sums have few
/// terms and the model has no potentials; all others are drawn from their factors. Point factors have a fixed value.
///
/// With the result of linear response, draws are those of wider factors (math::widen): each number has the larger one
/// of its own standard deviation and that of linear response. Means and correlations within a factor stay. Without it
/// (LinearResponse{}), factors are as they are.
///
/// If a sum has too many terms after all, one of its variables is drawn instead, and all draws are made again.
/// `on_draw` is called with the number of draws made and wanted. ExitCode::model, with the reason, if a factor has no
/// density in closed form: chains, spins that interact, drawn variables with multiplicities, joint variables that are
/// no vectors. The same code is returned if a sum stays too long. ExitCode::numerical if a joint density is not finite.
Result<ImportanceRatios> importance_ratios(const RestoredFit& solution, const LinearResponse& response,
                                           std::int64_t draws, std::uint64_t seed,
                                           const std::function<void(std::int64_t, std::int64_t)>& on_draw = {});

}  // namespace lehr
