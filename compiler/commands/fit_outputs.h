// The files that a sampler writes beside those of every fit: draws.nc, draws_K.csv and summary.csv.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "compiler/commands/fit_run.h"
#include "compiler/fit/fit_files.h"

namespace lehr::commands {

/// All runs of a fit, one for each restart or chain.
struct Runs {
  std::vector<TracedRun> all;  // in the order in which they ran
  std::size_t best = 0;        // index of the run with the highest ELBO in `all`
};

/// Writes the chains of a Gibbs or exact sampler to `files`. draws.nc has all draws, draws_K.csv those of chain K, and
/// summary.csv means, sds, effective sample sizes and R-hat. The statistics are also added to `summary` (fit.json), and
/// the moments over all chains become the posterior of the best run. Returns warnings about convergence. For methods
/// without draws it writes nothing and returns an empty list.
Result<std::vector<Warning>> write_chains(const FitArguments& o, const Fitting& fitting, Runs& runs, FitFiles& files,
                                          nlohmann::json& summary);

}  // namespace lehr::commands
