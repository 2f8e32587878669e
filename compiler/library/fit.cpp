// Fits of a Program: runs all restarts, keeps the best, and collects what a Fit reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "compiler/advice.h"
#include "compiler/fit/chains.h"
#include "compiler/fit/fit_summary.h"
#include "compiler/fit/write_fit.h"
#include "compiler/library/impl.h"
#include "compiler/options/fit_settings.h"
#include "compiler/posterior/labelled_draws.h"
#include "compiler/score/held_out.h"
#include "runtime/files/npz.h"

namespace lehr {
namespace {

/// Binds data to the model and derives its updates. A model that is valid without data may be invalid for missing
/// values, hence the error of ExitCode::model.
Result<BoundModel> bound_to(const Program::Impl& p, std::span<const DataView> views, const Settings& settings) {
  Result<Dataset> dataset = dataset_of(views);
  if (!dataset) return dataset.error();
  Diagnostics diagnostics;
  Result<std::optional<BoundModel>> bound =
      bind_and_analyse(p.resolved, p.complete, std::move(*dataset), settings, diagnostics);
  if (!bound) return without_option_prefix(bound.error());
  if (!*bound) return Error{ExitCode::model, p.source.name, render_tested(diagnostics, p.source), {}};
  return std::move(**bound);
}

/// Returns the program with the guide that the options ask for.
Program::Impl guided(Program::Impl p, const FitOptions& o) {
  p.resolved.guide.factorised = p.resolved.guide.factorised || o.guide == "factorised";
  return p;
}

/// Formats a warning with its notes as one line.
std::string line_of(const Diagnostic& warning) {
  std::vector<std::string> notes;
  for (const Note& note : warning.notes)
    notes.push_back(note.text);
  const std::string added = notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; "));
  return with_option_prefix(warning.text + added, "");
}

/// Appends a list to another one.
void append(std::vector<Diagnostic>& to, std::vector<Diagnostic> more) {
  std::ranges::move(more, std::back_inserter(to));
}

using Clock = std::chrono::steady_clock;

/// Returns the seconds since a time.
double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

/// Returns the options as fit.json records them.
FitRequest request_of(const Program::Impl& p, const FitOptions& o) {
  FitRequest out{p.source.name, p.source.text, "", o.method, o.anneal, o.temper, o.seed};
  out.precision = o.precision;
  out.locals = o.save_locals;
  return out;
}

/// All runs of a fit. Only the best has its posterior.
struct Runs {
  std::vector<TracedRun> all;
  std::optional<std::size_t> best;
  std::vector<NamedArray> global;    // global factors of the best run
  std::vector<Diagnostic> warnings;  // about the best run
  std::vector<Diagnostic> failures;  // restarts that failed
  bool cancelled = false;            // the callback cancelled the fit
};

/// Runs from a start and records the trace. Returns false if the callback cancelled it.
bool trace_run(Fitting& fitting, TracedRun& run, const Callback& callback, Clock::time_point begin) {
  bool cancelled = false;
  fitting.run(run, [&](const SweepReport& s) {
    if (cancelled) return false;  // a method may call again after it was cancelled
    run.trace.push_back({s.iteration, seconds_since(begin), s.elbo, s.temperature, s.objective});
    const auto r = static_cast<std::int64_t>(run.restart);
    cancelled = callback && !callback({r, s.iteration, s.elbo, s.temperature, s.objective});
    return !cancelled;
  });
  return !cancelled;
}

/// Runs all restarts. A restart that fails numerically is recorded; it is an error only if all fail to start.
Result<Runs> run_all(Fitting& fitting, std::int64_t restarts, const Callback& callback, Clock::time_point begin) {
  Runs out;
  std::optional<Error> failed_start;
  for (std::int64_t r = 0; r < restarts && !out.cancelled; ++r) {
    Result<FitRun> started = fitting.start(static_cast<std::uint64_t>(r));
    if (!started && started.error().code != ExitCode::numerical) return started.error();
    TracedRun& run = out.all.emplace_back();
    if (!started) {
      run.restart = static_cast<std::uint64_t>(r);
      run.started = false;
      run.outcome.status = Status::numerical_failure;
      run.outcome.elbo = std::nan("");
      out.failures.push_back(
          make_warning(fmt::format("restart {} failed numerically: the start: {}", r, started.error().text)));
      if (!failed_start) failed_start = started.error();
      continue;
    }
    static_cast<FitRun&>(run) = std::move(*started);
    if (!trace_run(fitting, run, callback, begin))
      out.cancelled = run.outcome.status == Status::interrupted || r + 1 < restarts;
    if (restarts > 1 && run.outcome.status == Status::numerical_failure)
      out.failures.push_back(make_warning(fmt::format("restart {} failed numerically: {}", r, run.outcome.failure)));
    if (out.best && !better(run, out.all[*out.best])) {
      run.posterior.clear();
      run.items.clear();
      continue;
    }
    if (out.best) {
      out.all[*out.best].posterior.clear();
      out.all[*out.best].items.clear();
    }
    out.best = out.all.size() - 1;
    out.warnings = run.initial_warnings;
    append(out.warnings, fitting.warnings(run));
    out.global = fitting.instance().posterior(false);
  }
  if (!out.best) return *failed_start;
  return out;
}

/// Stores the best run in the fit.
void take(Runs& runs, Fit::Impl& to) {
  TracedRun& best = runs.all[*runs.best];
  for (const TraceRow& row : best.trace) {
    to.trace.push_back(
        {static_cast<std::int64_t>(best.restart), row.iteration, row.elbo, row.temperature, row.objective});
    to.seconds.push_back(row.seconds);
  }
  to.global = std::move(runs.global);
  to.run = best;
  if (runs.cancelled && to.run.outcome.status != Status::numerical_failure) to.run.outcome.status = Status::interrupted;
}

/// For a sampler, replaces the results of the last chain by those of all chains together. Does nothing for other
/// methods.
void take_chains(const Fitting& fitting, Runs& runs, Fit::Impl& to, nlohmann::json& summary) {
  const std::vector<const GibbsReport*> chains = complete_chains(runs.all);
  if (chains.empty()) return;
  const ChainSummary drawn = summarise(chains);
  summary.merge_patch(to_json(drawn));
  to.run.posterior = to.global = drawn.moments;
  if (const auto& e = drawn.evidence) to.log_evidence = {e->log_evidence, e->error};
  append(runs.warnings, warnings(drawn, fitting.model(), fitting.data()));
  to.draws = labelled_draws(fitting.model(), fitting.data(), fitting.references(), chains);
}

/// Returns what the ELBO of a fit leaves out or bounds.
std::vector<std::string> elbo_notes_of(const Fitting& fitting) {
  return texts_of(density::elbo_notes(fitting.model(), fitting.schedule().conditionals.density));
}

/// Returns an array as the library shows it.
PosteriorArray shown(const NamedArray& a) { return {a.name, a.shape, a.values}; }

}  // namespace

Result<Fit> Program::fit(std::span<const DataView> data, const FitOptions& options, const Callback& callback) const {
  if (std::optional<Error> e = unused_value(options)) return without_option_prefix(std::move(*e));
  Result<FitSettings> settings = to_fit_settings(options);
  if (!settings) return without_option_prefix(settings.error());
  settings->warnings = unused_number_warnings(options);
  Result<std::vector<NamedArray>> init = arrays_of(options.init);
  if (!init) return init.error();
  settings->init = std::move(*init);
  settings->init_source = "init";
  const Clock::time_point begin = Clock::now();
  Result<BoundModel> bound = bound_to(guided(*impl_, options), data, impl_->settings);
  if (!bound) return bound.error();
  if (std::optional<Error> e = nothing_to_fit(*bound)) return *e;
  auto out = std::make_shared<Fit::Impl>();
  out->settings = fitted_settings(bound->analysed, bound->data);
  Result<std::unique_ptr<Fitting>> made = Fitting::make(std::move(*bound), std::move(*settings));
  if (!made) return without_option_prefix(made.error());
  const Fitting& fitting = **made;
  FitTimes times;
  times.compile = seconds_since(begin);
  Result<Runs> runs = run_all(**made, options.restarts, callback, begin);
  if (!runs) return without_option_prefix(runs.error());
  times.total = seconds_since(begin);
  nlohmann::json summary = fit_summary(request_of(*impl_, options), fitting.model(), fitting.schedule().conditionals,
                                       fitting.data(), runs->all[*runs->best], runs->all, runs->cancelled, times);
  take(*runs, *out);
  take_chains(fitting, *runs, *out, summary);
  std::vector<Diagnostic> warnings = fitting.data().warnings;
  append(warnings, std::move(runs->warnings));
  append(warnings, std::move(runs->failures));
  // Callers of the library, and fit.json with them, get each warning as one text.
  for (Diagnostic& w : warnings) {
    out->warnings.push_back(line_of(w));
    w = make_warning(out->warnings.back());
  }
  summary["warnings"] = to_json(warnings);
  out->elbo_notes = elbo_notes_of(fitting);
  out->summary = text_of(summary);
  return Fit(std::move(out));
}

Result<Fit> Program::infer(const Fit& fit, std::span<const DataView> data) const {
  if (std::optional<Error> e = model_mismatch(*impl_, fit.impl())) return *e;
  Result<BoundModel> bound = bound_to(program_of(*impl_, fit.impl()), data, fit.impl().settings);
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
  if (!made) return without_option_prefix(made.error());
  Fitting& fitting = **made;
  Result<FitRun> run = fitting.start(0);
  if (!run) return without_option_prefix(run.error());
  if (Result<bool> r = fitting.run_items(*run, {.local_iterations = 1000, .local_tolerance = 1e-6}); !r)
    return r.error();
  TracedRun inferred;
  static_cast<FitRun&>(inferred) = std::move(*run);
  out->summary = text_of(fit_summary(request_of(*impl_, {}), fitting.model(), fitting.schedule().conditionals,
                                     fitting.data(), inferred, {}, false, {}));
  out->run = std::move(inferred);
  out->elbo_notes = elbo_notes_of(fitting);
  return Fit(std::move(out));
}

Result<HeldOutScore> Program::score(const Fit& fit, std::span<const DataView> data, std::optional<double> holdout,
                                    std::uint64_t seed) const {
  if (holdout && !contains(kProportionRange, *holdout))
    return usage_error("holdout", fmt::format("{} is not {}", *holdout, describe(kProportionRange)));
  if (std::optional<Error> e = model_mismatch(*impl_, fit.impl())) return *e;
  const Result<Dataset> dataset = dataset_of(data);
  if (!dataset) return dataset.error();
  HeldOutOptions options;
  options.fraction = holdout;
  options.seed = seed;
  options.instance = impl_->instance;
  options.items = as_saved_fit(fit.impl()).items;
  std::ranges::copy(fit.impl().global, std::back_inserter(options.items));
  const Impl program = program_of(*impl_, fit.impl());
  const Result<std::unique_ptr<HeldOut>> held_out =
      HeldOut::make(program.source, program.resolved, program.complete, *dataset, fit.impl().settings, options);
  if (!held_out) return without_option_prefix(held_out.error());
  const Result<Score> score = (*held_out)->score(fit.impl().global);
  if (!score) return without_option_prefix(score.error());
  return HeldOutScore{score->total, score->observations, score->sequences, score->error};
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
const std::vector<std::string>& Fit::elbo_notes() const { return impl_->elbo_notes; }
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
