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

/// Writes the draws of a Gibbs or exact sampler to `files`, and adds diagnostics of them to `summary` (fit.json). The
/// file draws.nc has the draws of all complete chains, draws_K.csv those of the K-th of them, K from 1. The file
/// summary.csv has the mean, sd, effective sample sizes and R-hat of each number. `summary` gets the largest R-hat and
/// smallest effective sample sizes, by variable and over all, and the log evidence.
///
/// The moments over all chains become the posterior of the best run. Returns warnings about chains that have not mixed
/// or have failed, and about missing replicates. Without draws it writes nothing and returns an empty list. Returns an
/// Error if a file cannot be written.
Result<std::vector<Diagnostic>> write_chains(const FitArguments& o, const Fitting& fitting, Runs& runs, FitFiles& files,
                                             nlohmann::json& summary);

}  // namespace lehr::commands
