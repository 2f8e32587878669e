// Results of all chains of a sampler. A sampler has no factors, so its posterior is the moments over all chains.
#include "compiler/commands/chain_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

std::vector<Diagnostic> add_chains(const Fitting& fitting, const DrawnChains& drawn, Runs& runs,
                                   nlohmann::json& summary) {
  summary.merge_patch(to_json(drawn.summary));
  runs.all[runs.best].posterior = drawn.summary.moments;
  std::vector<Diagnostic> out;
  const auto* best = std::get_if<GibbsReport>(&runs.all[runs.best].report);
  if (!best || !best->coupling)
    out = warnings(drawn.summary, fitting.model(), fitting.data());  // exact samples are independent
  std::ranges::move(failed_chain_warnings(runs.all), std::back_inserter(out));
  if (const std::string& problem = drawn.chains[0]->predictive.problem; !problem.empty())
    out.push_back(make_warning(fmt::format("not every observation has a replicate in {}: {}", kDrawsFile, problem)));
  return out;
}

void print_chains(const DrawnChains& drawn) {
  if (drawn.predictive_extent != "every draw")
    print_to_stderr("{}: log_likelihood and posterior_predictive: {}\n", kDrawsFile, drawn.predictive_extent);
  if (const auto& e = drawn.summary.evidence)
    fmt::print("log evidence {:.4f}, standard error {:.2g}, from {} temperatures\n", e->log_evidence, e->error,
               e->powers.size());
}

}  // namespace lehr::commands
