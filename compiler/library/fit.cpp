// Fits of a Program, and what can be asked of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "compiler/fitting/chains.h"
#include "compiler/fitting/held_out.h"
#include "compiler/library/impl.h"
#include "compiler/options/fit_settings.h"
#include "runtime/files/npz.h"

namespace lehr {
namespace {

/// Options have the names that they have here.
Error plain(Error e) { return spelled(std::move(e), ""); }

Error wrong(std::string where, std::string text) { return {ExitCode::usage, std::move(where), std::move(text), {}}; }

/// A model that is well without data may not be with what is missing in them.
Result<Bound> bound_to(const Program::Impl& p, std::span<const DataView> views, const Settings& settings) {
  Result<Dataset> dataset = dataset_of(views);
  if (!dataset) return dataset.error();
  Diagnostics diagnostics;
  Result<std::optional<Bound>> bound =
      bind_and_analyse(p.resolved, p.complete, std::move(*dataset), settings, diagnostics);
  if (!bound) return plain(bound.error());
  if (!*bound) return Error{ExitCode::model, p.source.name, render(diagnostics, p.source), {}};
  return std::move(**bound);
}

std::vector<std::string> one_line_each(const std::vector<Caution>& cautions) {
  std::vector<std::string> out;
  for (const Caution& c : cautions)
    out.push_back(c.notes.empty() ? c.text : fmt::format("{} ({})", c.text, fmt::join(c.notes, "; ")));
  return out;
}

PosteriorArray shown(const NamedArray& a) { return {a.name, a.shape, a.values}; }

}  // namespace

Result<Fit> Program::fit(std::span<const DataView> data, const FitOptions& options, const Callback& callback) const {
  Result<FitSettings> settings = settings_of(options);
  if (!settings) return plain(settings.error());
  Result<std::vector<NamedArray>> init = arrays_of(options.init);
  if (!init) return init.error();
  settings->init = std::move(*init);
  settings->init_source = "init";
  Result<Bound> bound = bound_to(*impl_, data, impl_->settings);
  if (!bound) return bound.error();
  auto out = std::make_shared<Fit::Impl>();
  out->settings = fitted_settings(bound->analysed, bound->data);
  Result<std::unique_ptr<Fitting>> made = Fitting::make(std::move(*bound), std::move(*settings));
  if (!made) return plain(made.error());
  Fitting& fitting = **made;
  bool cancelled = false, cut_short = false, kept = false;
  std::vector<std::string> failures;
  std::optional<Error> failed_start;
  std::vector<GibbsReport> chains;
  for (std::int64_t r = 0; r < options.restarts && !cut_short; ++r) {
    Result<FitRun> run = fitting.start(static_cast<std::uint64_t>(r));
    if (!run && run.error().code == ExitCode::numerical) {
      failures.push_back(fmt::format("restart {} failed numerically: the start: {}", r, run.error().text));
      if (!failed_start) failed_start = plain(run.error());
      continue;
    }
    if (!run) return plain(run.error());
    std::vector<Sweep> trace;
    fitting.run(*run, [&](const SweepReport& s) {
      trace.push_back({r, s.iteration, s.elbo, s.temperature, s.objective});
      cancelled = callback && !callback(trace.back());
      return !cancelled;
    });
    cut_short = cancelled && (run->outcome.status == Status::interrupted || r + 1 < options.restarts);
    if (options.restarts > 1 && run->outcome.status == Status::numerical_failure)
      failures.push_back(fmt::format("restart {} failed numerically: {}", r, run->outcome.failure));
    if (auto* chain = std::get_if<GibbsReport>(&run->report)) chains.push_back(std::move(*chain));
    if (kept && !better(*run, out->run)) continue;
    kept = true;
    std::vector<Caution> cautions = fitting.cautions(*run);
    cautions.insert(cautions.begin(), run->at_start.begin(), run->at_start.end());
    out->warnings = one_line_each(cautions);
    out->global = fitting.instance().posterior(false);
    out->run = std::move(*run);
    out->trace = std::move(trace);
  }
  if (!kept) return *failed_start;
  std::vector<const GibbsReport*> whole;
  for (const GibbsReport& chain : chains)
    whole.push_back(&chain);
  if (whole = whole_chains(std::move(whole)); !whole.empty()) {
    const ChainSummary drawn = summarise(whole);
    out->run.posterior = out->global = drawn.moments;
    if (const auto& e = drawn.evidence) out->log_evidence = {e->log_evidence, e->error};
    std::ranges::move(one_line_each(cautions(drawn)), std::back_inserter(out->warnings));
  }
  out->warnings.insert(out->warnings.end(), failures.begin(), failures.end());
  out->warnings.insert(out->warnings.begin(), fitting.data().remarks.begin(), fitting.data().remarks.end());
  for (std::string& warning : out->warnings)
    warning = spelled(std::move(warning), "");
  if (cut_short && out->run.outcome.status != Status::numerical_failure) out->run.outcome.status = Status::interrupted;
  out->caveats = density::caveats(fitting.model(), fitting.schedule().conditionals.density);
  return Fit(std::move(out));
}

Result<Fit> Program::infer(const Fit& fit, std::span<const DataView> data) const {
  Result<Bound> bound = bound_to(*impl_, data, fit.impl().settings);
  if (!bound) return bound.error();
  auto out = std::make_shared<Fit::Impl>();
  out->settings = fit.impl().settings;
  out->global = fit.impl().global;
  FitSettings settings;
  settings.start = StartKind::means;
  settings.init = out->global;
  settings.init_source = "fit";
  settings.save_locals = true;
  Result<std::unique_ptr<Fitting>> made = Fitting::make(std::move(*bound), std::move(settings));
  if (!made) return plain(made.error());
  Fitting& fitting = **made;
  Result<FitRun> run = fitting.start(0);
  if (!run) return plain(run.error());
  if (Result<bool> r = fitting.run_items(*run, {.local_iterations = 1000, .local_tolerance = 1e-6}); !r)
    return r.error();
  out->run = std::move(*run);
  out->caveats = density::caveats(fitting.model(), fitting.schedule().conditionals.density);
  return Fit(std::move(out));
}

Result<HeldOutScore> Program::score(const Fit& fit, std::span<const DataView> data, std::optional<double> holdout,
                                    std::uint64_t seed) const {
  if (holdout && !contains(kPartRange, *holdout))
    return wrong("holdout", fmt::format("{} is not {}", *holdout, describe(kPartRange)));
  const Result<Dataset> dataset = dataset_of(data);
  if (!dataset) return dataset.error();
  HeldOutOptions options;
  options.fraction = holdout;
  options.seed = seed;
  const Result<std::unique_ptr<HeldOut>> held_out =
      HeldOut::make(impl_->source, impl_->resolved, impl_->complete, *dataset, fit.impl().settings, options);
  if (!held_out) return plain(held_out.error());
  const Result<Score> score = (*held_out)->score(fit.impl().global);
  if (!score) return plain(score.error());
  return HeldOutScore{score->total, score->observations, score->sequences};
}

Fit::Fit(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

FitStatus Fit::status() const {
  switch (impl_->run.outcome.status) {
    case Status::converged:
      return FitStatus::converged;
    case Status::max_iter:
      return FitStatus::max_iter;
    case Status::numerical_failure:
      return FitStatus::numerical_failure;
    case Status::interrupted:
      break;
  }
  return FitStatus::interrupted;
}

const std::string& Fit::failure() const { return impl_->run.outcome.failure; }
double Fit::elbo() const { return impl_->run.outcome.elbo; }
const std::vector<std::string>& Fit::elbo_caveats() const { return impl_->caveats; }
std::int64_t Fit::iterations() const { return impl_->run.outcome.iterations; }
std::int64_t Fit::restart() const { return static_cast<std::int64_t>(impl_->run.restart); }
double Fit::temperature() const {
  const auto* tempering = std::get_if<TemperingReport>(&impl_->run.report);
  return tempering ? tempering->temperature : 1;
}

std::optional<std::pair<double, double>> Fit::log_evidence() const { return impl_->log_evidence; }

const std::vector<Sweep>& Fit::trace() const { return impl_->trace; }
const std::vector<std::string>& Fit::warnings() const { return impl_->warnings; }

std::vector<PosteriorArray> Fit::posterior() const {
  std::vector<PosteriorArray> out;
  for (const NamedArray& a : impl_->run.posterior)
    out.push_back(shown(a));
  return out;
}

std::optional<PosteriorArray> Fit::find(std::string_view name) const {
  const auto& all = impl_->run.posterior;
  const auto it = std::ranges::find(all, name, &NamedArray::name);
  if (it == all.end()) return std::nullopt;
  return shown(*it);
}

Result<bool> Fit::save(const std::string& path) const { return write_npz(path, impl_->run.posterior); }

}  // namespace lehr
