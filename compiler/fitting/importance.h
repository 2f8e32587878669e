// Draws from q weighted by the joint density: how far q is from the posterior (Yao, Vehtari, Simpson & Gelman 2018,
// Yes, but did it work?).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/fitting/solution.h"

namespace lehr {

struct ImportanceRatios {
  std::vector<double> log_ratios;          // log p(data, drawn) - log q(drawn), one a draw
  double noise = 0;                        // differences of these that mean nothing
  std::vector<std::string> drawn, summed;  // names of latent variables
};

/// Discrete variables of which no term holds two elements are summed out where these sums have few terms
/// (Marginal::too_large), all others are drawn from their factors.
/// Point factors stay where they are. ExitCode::model, with the reason, for factors whose draws have no density in
/// closed form: those of chains, of spins that depend on each other, of variables with copies.
Result<ImportanceRatios> importance_ratios(const Solution& solution, std::int64_t draws, std::uint64_t seed,
                                           const std::function<void(std::int64_t, std::int64_t)>& on_draw = {});

}  // namespace lehr
