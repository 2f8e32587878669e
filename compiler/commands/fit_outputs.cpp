// Writes the chains of a sampler. fit.json is written last, by the caller, with digests of these files.
#include "compiler/commands/fit_outputs.h"

#include <fmt/format.h>

#include "compiler/fit/chains.h"
#include "compiler/posterior/labelled_draws.h"
#include "runtime/files/netcdf.h"
#include "runtime/output/stan_csv.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Returns for how many draws draws.nc has log likelihoods and replicated observations: "every draw", "one draw in 10"
/// or "none".
std::string extent_of(const Fitting& fitting, const GibbsReport& chain) {
  const auto draws = static_cast<std::int64_t>(chain.log_joint.size());
  if (!fitting.predictive().why.empty()) return "none: " + fitting.predictive().why;
  if (chain.predictive.draws.empty()) return "none";
  if (std::ssize(chain.predictive.draws) == draws) return "every draw";
  const std::int64_t spacing = chain.predictive.draws.size() > 1 ? chain.predictive.draws[1] : draws;
  return fmt::format("one draw in {}", spacing);
}

}  // namespace

Result<std::vector<Diagnostic>> write_chains(const FitArguments& o, const Fitting& fitting, Runs& runs, FitFiles& files,
                                             nlohmann::json& summary) {
  const std::vector<const GibbsReport*> chains = complete_chains(runs.all);
  if (chains.empty()) return std::vector<Diagnostic>();
  for (std::size_t k = 0; k < chains.size(); ++k) {
    const std::string text = format_stan_csv(chains[k]->draws, chains[k]->log_joint, {"model = " + printable(o.model)});
    if (Result<bool> r = files.add(summary, fmt::format("draws_{}.csv", k + 1), text); !r) return r.error();
  }
  LabelledArrays draws = labelled_draws(fitting.model(), fitting.data(), fitting.references(), chains);
  const std::string extent = extent_of(fitting, *chains[0]);
  draws.attributes = {{"inference_library", "lehr"},
                      {"inference_library_version", LEHR_VERSION},
                      {"model", fitting.model().name},
                      {"method", o.method},
                      {"log_likelihood_and_posterior_predictive", extent}};
  const Result<std::string> bytes = format_netcdf(draws);
  if (!bytes) return bytes.error();
  if (Result<bool> r = files.add(summary, "draws.nc", *bytes); !r) return r.error();
  if (!o.quiet && extent != "every draw")
    print_to_stderr("draws.nc: log_likelihood and posterior_predictive: {}\n", extent);
  const ChainSummary drawn = summarise(chains);
  if (Result<bool> r = files.add(summary, "summary.csv", format_csv(drawn)); !r) return r.error();
  summary.merge_patch(to_json(drawn));
  // A sampler has no factors, so moments over all chains are saved as the posterior.
  runs.all[runs.best].posterior = drawn.moments;
  if (const auto& e = drawn.evidence; e && !o.quiet)
    fmt::print("log evidence {:.4f}, standard error {:.2g}, from {} temperatures\n", e->log_evidence, e->error,
               e->powers.size());
  std::vector<Diagnostic> out;
  const auto* best = std::get_if<GibbsReport>(&runs.all[runs.best].report);
  if (!best || !best->coupling)
    out = warnings(drawn, fitting.model(), fitting.data());  // exact samples are independent
  std::ranges::move(failed_chain_warnings(runs.all), std::back_inserter(out));
  if (const std::string& problem = chains[0]->predictive.problem; !problem.empty())
    out.push_back(make_warning("not every observation has a replicate in draws.nc: " + problem));
  return out;
}

}  // namespace lehr::commands
