// Writes the draws of a sampler: those of each complete chain as CSV, those of all chains as NetCDF, and the summary of
// every number.
#include "compiler/fit/write_fit.h"
#include "compiler/posterior/labelled_draws.h"
#include "runtime/files/netcdf.h"
#include "runtime/output/stan_csv.h"
#include "runtime/terminal/printable.h"

namespace lehr {

Result<bool> write_chains(const FitOutput& fit, const AddFile& add) {
  if (!fit.drawn) return true;
  const std::string model = "model = " + printable(fit.summary.value("model_file", ""));
  for (const GibbsReport* const chain : fit.drawn->chains)
    if (Result<bool> r = add(format_stan_csv(chain->draws, chain->log_joint, {model})); !r) return r;
  return true;
}

Result<bool> write_draws(const FitOutput& fit, const AddFile& add) {
  if (!fit.drawn) return true;
  const Fitting& fitting = *fit.fitting;
  LabelledArrays draws = labelled_draws(fitting.model(), fitting.data(), fitting.references(), fit.drawn->chains);
  draws.attributes = {{"inference_library", "lehr"},
                      {"inference_library_version", LEHR_VERSION},
                      {"model", fitting.model().name},
                      {"method", fit.summary.value("method", "")},
                      {"log_likelihood_and_posterior_predictive", fit.drawn->predictive_extent}};
  const Result<std::string> bytes = format_netcdf(draws);
  if (!bytes) return bytes.error();
  return add(*bytes);
}

Result<bool> write_numbers(const FitOutput& fit, const AddFile& add) {
  return fit.drawn ? add(format_csv(fit.drawn->summary)) : true;
}

}  // namespace lehr
