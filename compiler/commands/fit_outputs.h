// What a fit writes into its directory beside the trace.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "compiler/commands/fit_run.h"
#include "compiler/fitting/fit_files.h"

namespace lehr::commands {

/// The runs of a fit and the best of them.
struct Runs {
  std::vector<TracedRun> all;
  std::size_t best = 0;
};

/// The chains of a sampler, to `files`: draws.nc, a file draws_K.csv for each, and what they say together, which goes
/// into summary.csv and into `summary`, whose moments become the posterior of the best run. Nothing of other methods.
Result<std::vector<Caution>> write_chains(const FitArguments& o, const Fitting& fitting, Runs& runs, FitFiles& files,
                                          nlohmann::json& summary);

}  // namespace lehr::commands
