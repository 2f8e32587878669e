// What a sampler's chains add to the results of a fit, and what is printed of them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "compiler/commands/fit_run.h"
#include "compiler/fit/chains.h"

namespace lehr::commands {

/// All runs of one `lehr fit`, one for each restart or chain. Only the best one has its posterior; those of the others
/// have been freed, since they are large.
struct Runs {
  std::vector<TracedRun> all;  // the runs, in the order in which they were made
  std::size_t best = 0;        // index in `all` of the run with the highest ELBO among those that did not fail
};

/// Adds what a sampler's chains yield together to `summary` (fit.json): the largest R-hat and smallest effective sample
/// sizes, by variable and over all, and the log evidence. Sets the posterior of the best run to the moments over all
/// chains. Returns warnings for the user: chains that have not mixed or have failed, observations without replicates.
std::vector<Diagnostic> add_chains(const Fitting& fitting, const DrawnChains& drawn, Runs& runs,
                                   nlohmann::json& summary);

/// Prints, after a fit by sampling, the log evidence if there is one, and to stderr which draws have log likelihoods
/// and replicated observations if not all have them.
void print_chains(const DrawnChains& drawn);

}  // namespace lehr::commands
