// Chains of draws, taken together: moments and diagnostics of every number.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fitting/fit_summary.h"
#include "compiler/fitting/method.h"
#include "runtime/methods/diagnostics.h"

namespace lehr {

struct ChainSummary {
  std::vector<std::string> names;  // of the numbers: "mu.2.1"
  std::vector<Diagnosis> numbers;
  std::vector<NamedArray> moments;  // "mu.mean", "mu.sd" and all else of a Diagnosis, over the axes of each variable
  std::optional<Evidence> evidence = {};
};

/// Chains of one fit, with the same variables and the same number of draws each.
ChainSummary summarise(const std::vector<const GibbsReport*>& chains);
/// Those that have drawn, and as much as the first of them: the others were interrupted. Chains that failed count only
/// where all have.
std::vector<const GibbsReport*> whole_chains(const std::vector<TracedRun>& runs);

/// Entries of fit.json: the evidence under `sampling`; the largest r_hat, the least ess_bulk and ess_tail, there of all
/// numbers and under `variables` of those of each; null where they are of no number or not finite.
nlohmann::json to_json(const ChainSummary& summary);

/// name,mean,sd,mcse,ess_bulk,ess_tail,r_hat
std::string format_csv(const ChainSummary& summary);

/// Chains that have not mixed, and numbers that no chain has moved.
std::vector<Caution> cautions(const ChainSummary& summary, const model::Model& model, const BoundData& data);
/// Chains that failed beside others that did not.
std::vector<Caution> failed_chains(const std::vector<TracedRun>& runs);

}  // namespace lehr
