// Several chains of a sampler taken together: moments, convergence diagnostics and warnings. The diagnostics are
// rank-based R-hat and effective sample sizes (runtime/inference/samplers/diagnostics.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fit/fit_summary.h"
#include "compiler/fit/methods/method.h"
#include "runtime/inference/samplers/diagnostics.h"

namespace lehr {

/// Moments and diagnostics of every number that a sampler draws, over all chains together.
struct ChainSummary {
  std::vector<std::string> names;    // names of all numbers, as columns of draws have them: "mu.2.1"
  std::vector<Diagnosis> diagnoses;  // mean, sd, effective sample sizes and R-hat of each number
  /// The numbers of `diagnoses` as arrays, for the files of the fit: each variable has six over its axes, "mu.mean",
  /// "mu.sd", "mu.mcse", "mu.ess_bulk", "mu.ess_tail" and "mu.r_hat".
  std::vector<NamedArray> moments;
  std::optional<Evidence> evidence = {};  // the log evidence combined over chains, of parallel tempering only
};

/// Summarises the chains of one fit, at least one, for the files of the fit and its warnings. They must have the same
/// variables and the same number of draws.
ChainSummary summarise(const std::vector<const GibbsReport*>& chains);
/// Selects the chains that can be summarised together: those with draws, and with as many as the first of them. A chain
/// of another length was interrupted. Failed chains are selected only if all have failed. The list is empty if the
/// method is no sampler.
std::vector<const GibbsReport*> complete_chains(const std::vector<TracedRun>& runs);

/// What the output of a sampler is made from: its complete chains, and their summary.
struct DrawnChains {
  std::vector<const GibbsReport*> chains;  // the complete chains, at least one; the runs own them
  ChainSummary summary;                    // moments and diagnostics of every number
  /// Which draws have log likelihoods and replicated data: "every draw", "one draw in 10", "none" or "none: REASON".
  std::string predictive_extent;
};
/// Collects and summarises the complete chains of a fit. Returns nullopt if there are none: no draws, or another
/// method.
std::optional<DrawnChains> drawn_chains(const Fitting& fitting, const std::vector<TracedRun>& runs);

/// Converts a summary to entries of fit.json. "sampling" has the largest R-hat and the smallest effective sample sizes;
/// "variables" has these extremes by variable. They are null where there is no finite value. Of parallel tempering,
/// "sampling" also has the log evidence, its error, and the ladder of powers.
nlohmann::json to_json(const ChainSummary& summary);

/// Formats a summary as the file summary.csv, one line for each number, with the header
/// name,mean,sd,mcse,ess_bulk,ess_tail,r_hat.
std::string format_csv(const ChainSummary& summary);

/// Returns warnings for the user about the chains of a sampler: numbers that have not mixed (R-hat above 1.05), numbers
/// that never changed although the data do not fix them, and a log evidence that is too high because the data force
/// values of latent variables.
std::vector<Diagnostic> warnings(const ChainSummary& summary, const model::Model& model, const BoundData& data);
/// Returns a warning that failed chains are left out, if some chains failed numerically while others did not; none
/// otherwise.
std::vector<Diagnostic> failed_chain_warnings(const std::vector<TracedRun>& runs);

}  // namespace lehr
