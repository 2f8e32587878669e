// `lehr diagnose`: estimates how far a variational fit is from the posterior, in three ways: Pareto k-hat of importance
// ratios (Yao et al. 2018), standard deviations by linear response (Giordano et al. 2018), and posterior predictive
// checks. The data are given again, and the fit is first restored on them as a Solution.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/console/data_arguments.h"
#include "compiler/console/diagnosis_report.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/number_option.h"
#include "compiler/console/progress_reporter.h"
#include "compiler/console/settings.h"
#include "compiler/diagnose/restored_fit.h"
#include "compiler/options/help_texts.h"
#include "compiler/posterior/posterior_prior.h"
#include "runtime/files/member_file.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct DiagnoseOptions {
  std::string directory, model, out;
  DataArguments data;
  std::int64_t draws = 1000, replicates = 200;
  std::uint64_t seed = 1;
  SweepOptions local = {1000, 1e-8};
  std::int64_t most = kMostNumbers;
};

/// Returns true if a chain (hidden Markov or Gaussian) is a global factor. A saved fit has only the marginals of its
/// elements and not their pairwise dependence, so its ELBO cannot be computed again.
bool has_global_chain(const schedule::Schedule& s) {
  for (std::size_t k = 0; k < s.conditionals.blocks.size(); ++k)
    if (s.conditionals.blocks[k].chain && !s.stage_of[k]) return true;
  return false;
}

/// Warns if the ELBO with these data differs from that of the fit, since the data are then probably not those of the
/// fit. If the fit had not converged, a larger ELBO is expected, and only a smaller one is reported.
void compare_elbo(const SavedFit& fit, double elbo) {
  const double more = (elbo - fit.elbo) / (1 + std::abs(fit.elbo));
  const double most = fit.status == name_of(Status::converged) ? 1e-3 : INFINITY;  // it may still have grown
  if (std::isfinite(more) && (more < -1e-3 || more > most))
    print_diagnostics({make_warning(fmt::format("the ELBO of the fit with these data is {:.6f}, and it was {:.6f}: are "
                                                "they what it was made from?",
                                                elbo, fit.elbo))},
                      printable(fit.directory));
}

/// Replaces the prior of the model by the posterior of an earlier fit, if the fit was made by `lehr update`. Changes
/// the model, its analysis and the data; does nothing for other fits.
Result<bool> put_prior(const SavedFit& fit, model::Model& resolved, Analysed& complete, Dataset& data) {
  if (fit.prior.empty()) return true;
  const Result<SavedFit> prior = read_fit(fit.prior);
  if (!prior) {
    Error e = prior.error();
    e.notes = {fmt::format("{} was made by `lehr update` from the fit that was there", printable(fit.directory))};
    return e;
  }
  Result<PosteriorAsPrior> carried = make_posterior_prior(resolved, complete, *prior, fit.forget);
  if (!carried) return carried.error();
  Diagnostics diagnostics;
  std::optional<Analysed> analysed = analyse(carried->model, {}, diagnostics);
  if (!analysed) return Error{ExitCode::internal, fit.directory, "the model with this prior is not well", {}};
  resolved = std::move(carried->model);
  complete = std::move(*analysed);
  data.merge(carried->parameters);
  return true;
}

/// Runs all three diagnoses, writes diagnosis.json and prints the report.
ExitCode diagnose(DiagnoseOptions o) {
  std::variant<FittedModel, ExitCode> opened = read_fitted(o.directory, o.model);
  if (const ExitCode* code = std::get_if<ExitCode>(&opened)) return *code;
  auto& [fit, source, resolved, complete] = std::get<FittedModel>(opened);
  Result<Dataset> dataset = read_data(o.data, resolved);
  if (!dataset) return complain(dataset.error());
  add_constants(resolved, fit, *dataset);
  if (Result<bool> r = put_prior(fit, resolved, complete, *dataset); !r) return complain_of(r.error(), source.name);
  Result<RestoredFit> solution = restore_fit(source, resolved, complete, std::move(*dataset), fit, o.local);
  if (!solution) return complain_of(solution.error(), source.name);
  if (!has_global_chain(solution->analysed().schedule)) compare_elbo(fit, solution->elbo);
  Diagnosed d;
  d.model = fit.model;
  d.draws = o.draws;
  d.items = solution->items;
  Result<ImportanceRatios> ratios = importance_ratios(*solution, {}, o.draws, o.seed, ProgressReporter("draws"));
  if (ratios) {
    d.pareto = pareto_diagnosis(ratios->log_ratios, ratios->noise);
    d.ratios = std::move(*ratios);
  } else {
    d.ratios_missing_reason = ratios.error().text;
  }
  if (o.most == 0) {
    d.response_missing_reason = "not asked for";
  } else {
    d.response = linear_response(*solution->instance, solution->analysed(), o.most);
    d.response_missing_reason = d.response.failure;
  }
  if (d.ratios_missing_reason.empty() && !d.pareto.equal && d.response.failure.empty() &&
      !d.response.variables.empty()) {
    const Result<ImportanceRatios> wider =
        importance_ratios(*solution, d.response, o.draws, o.seed, ProgressReporter("draws"));
    d.has_widened = static_cast<bool>(wider);
    if (wider) d.widened = pareto_diagnosis(wider->log_ratios, wider->noise);
  }
  d.predictive = predictive_checks(*solution, o.replicates, o.seed);
  const std::string json = to_json(d).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const std::string named = (std::filesystem::path(o.directory) / kDiagnosisFile).string();
  if (Result<bool> r = o.out.empty() ? write_file_no_follow(named, json) : write_output(o.out, json); !r)
    return complain(r.error());
  fmt::print("{}", to_text(d));
  return ExitCode::done;
}

}  // namespace

void add_diagnose(CLI::App& app, Action& action) {
  const auto o = std::make_shared<DiagnoseOptions>();
  CLI::App* c = app.add_subcommand("diagnose", "Check whether a variational fit can be trusted");
  c->add_option("DIR", o->directory, "Directory written by `lehr fit` with method cavi or svi")->required();
  add_data(*c, o->data, "Data that the fit was made from, given as for `lehr fit` (docs/data.md)")->required();
  add_number(
      *c, "--draws", o->draws, kKhatDrawsRange,
      "Posterior draws for the Pareto k-hat, which tells how far the fit is from the exact posterior; at least 100");
  add_number(*c, "--replicates", o->replicates, kDrawsRange, "Data sets drawn for posterior predictive checks");
  add_number(*c, "--most", o->most, kIterationsRange,
             "No linear response, which corrects standard deviations, if the variables that all items share have more "
             "numbers than this: each takes some six sweeps; 0: none");
  add_number(*c, "--seed", o->seed, kSeedRange, kSeedHelp);
  c->add_option("--out", o->out, fmt::format("File for all results (JSON); default: DIR/{}", kDiagnosisFile))
      ->type_name("FILE");
  c->add_option("--model", o->model, "Model file, if it has moved since the fit")->type_name("FILE");
  add_no_cache(*c);
  c->footer(
      "Examples:\n"
      "  lehr diagnose out/regression --data x=points.csv:a,b --data y=points.csv:c\n"
      "  lehr diagnose out/gmm --data x=points.csv:a,b --draws 4000\n"
      "k-hat tells how far the factors are from the posterior, linear response what they leave out of the standard\n"
      "deviations, posterior predictive checks whether the model makes such data. docs/checking.md explains each.");
  c->callback([o, &action] { action = [o] { return diagnose(*o); }; });
}

}  // namespace lehr::commands
