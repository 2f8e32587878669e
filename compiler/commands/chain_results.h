// What a sampler's chains add to the results of a fit, and what is printed of them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "compiler/commands/fit_run.h"
#include "compiler/fit/chains.h"

namespace lehr::commands {

/// All runs of a fit, one for each restart or chain.
struct Runs {
  std::vector<TracedRun> all;  // in the order in which they ran
  std::size_t best = 0;        // index of the run with the highest ELBO in `all`
};

/// Adds diagnostics of the draws to `summary` (fit.json): the largest R-hat and smallest effective sample sizes, by
/// variable and over all, and the log evidence. The moments over all chains become the posterior of the best run.
/// Returns warnings about chains that have not mixed or have failed, and about missing replicates.
std::vector<Diagnostic> add_chains(const Fitting& fitting, const DrawnChains& drawn, Runs& runs,
                                   nlohmann::json& summary);

/// Prints which draws have log likelihoods and replicated observations, if not all have them, and the log evidence.
void print_chains(const DrawnChains& drawn);

}  // namespace lehr::commands
