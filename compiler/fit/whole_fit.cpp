// Runs all restarts of a fit, keeps the best, and collects what is reported of it.
#include "compiler/fit/whole_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "compiler/advice.h"
#include "compiler/fit/chains.h"
#include "compiler/posterior/labelled_draws.h"

namespace lehr {
namespace {

using Clock = std::chrono::steady_clock;

/// Returns the seconds since a time.
double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

/// Appends a list to another one.
void append(std::vector<Diagnostic>& to, std::vector<Diagnostic> more) {
  std::ranges::move(more, std::back_inserter(to));
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
bool trace_run(Fitting& fitting, TracedRun& run, const OnRestartSweep& on_sweep, Clock::time_point begin) {
  bool cancelled = false;
  fitting.run(run, [&](const SweepReport& s) {
    if (cancelled) return false;  // a method may call again after it was cancelled
    run.trace.push_back({s.iteration, seconds_since(begin), s.elbo, s.temperature, s.objective});
    cancelled = on_sweep && !on_sweep(run.restart, s);
    return !cancelled;
  });
  return !cancelled;
}

/// Runs all restarts. A restart that fails numerically is recorded; it is an error only if all fail to start.
Result<Runs> run_all(Fitting& fitting, std::int64_t restarts, const OnRestartSweep& on_sweep, Clock::time_point begin) {
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
    if (!trace_run(fitting, run, on_sweep, begin))
      out.cancelled = run.outcome.status == Status::interrupted || r + 1 < restarts;
    if (restarts > 1 && run.outcome.status == Status::numerical_failure)
      out.failures.push_back(make_warning(fmt::format("restart {} failed numerically: {}", r, run.outcome.failure)));
    if (out.best && !better(run, out.all[*out.best])) {
      run.posterior.clear();
      run.items.clear();
      run.sds.clear();
      continue;
    }
    if (out.best) {
      out.all[*out.best].posterior.clear();
      out.all[*out.best].items.clear();
      out.all[*out.best].sds.clear();
    }
    out.best = out.all.size() - 1;
    out.warnings = run.initial_warnings;
    append(out.warnings, fitting.warnings(run));
    out.global = fitting.instance().posterior(false);
  }
  if (!out.best) return *failed_start;
  return out;
}

/// For a sampler, replaces the results of the last chain by those of all chains together. Does nothing for other
/// methods.
void take_chains(const Fitting& fitting, Runs& runs, WholeFit& to) {
  const std::vector<const GibbsReport*> chains = complete_chains(runs.all);
  if (chains.empty()) return;
  const ChainSummary drawn = summarise(chains);
  to.summary.merge_patch(to_json(drawn));
  to.run.posterior = to.global = drawn.moments;
  if (const auto& e = drawn.evidence) to.log_evidence = {e->log_evidence, e->error};
  append(runs.warnings, warnings(drawn, fitting.model(), fitting.data()));
  to.draws = labelled_draws(fitting.model(), fitting.data(), fitting.references(), chains);
}

}  // namespace

Result<BoundModel> bind_for_fit(const Source& source, const model::Model& resolved, const Analysed& complete,
                                const Settings& settings, Dataset dataset, FitCache* cache) {
  Diagnostics diagnostics;
  Result<std::optional<BoundModel>> bound =
      bind_and_analyse(resolved, complete, std::move(dataset), settings, diagnostics, cache);
  if (!bound) return bound.error();
  // A model that is valid without data may be invalid for missing values.
  if (!*bound) return Error{ExitCode::model, source.name, render_tested(diagnostics, source), {}};
  return std::move(**bound);
}

Result<WholeFit> fit_whole(const FitTask& task, Dataset dataset, std::size_t threads, FitCache* cache,
                           const OnRestartSweep& on_sweep, const OnBound& on_bound) {
  const Clock::time_point begin = Clock::now();
  Result<BoundModel> bound =
      bind_for_fit(task.source, task.resolved, task.complete, task.settings, std::move(dataset), cache);
  if (!bound) return bound.error();
  if (std::optional<Error> e = nothing_to_fit(*bound)) return *e;
  if (on_bound) on_bound(*bound);
  FitSettings how = task.how;
  how.threads = threads;
  how.cache = cache;
  Result<std::unique_ptr<Fitting>> made = Fitting::make(std::move(*bound), std::move(how));
  if (!made) return made.error();
  Fitting& fitting = **made;
  FitTimes times;
  times.compile = seconds_since(begin);
  Result<Runs> runs = run_all(fitting, task.restarts, on_sweep, begin);
  if (!runs) return runs.error();
  times.total = seconds_since(begin);
  WholeFit out;
  const TracedRun& best = runs->all[*runs->best];
  out.summary = fit_summary(task.request, fitting.model(), fitting.schedule().conditionals, fitting.data(), best,
                            runs->all, runs->cancelled, times);
  out.run = best;
  if (runs->cancelled && out.run.outcome.status != Status::numerical_failure)
    out.run.outcome.status = Status::interrupted;
  out.global = std::move(runs->global);
  take_chains(fitting, *runs, out);
  out.warnings = fitting.data().warnings;
  append(out.warnings, std::move(runs->warnings));
  append(out.warnings, std::move(runs->failures));
  out.elbo_notes = texts_of(density::elbo_notes(fitting.model(), fitting.schedule().conditionals.density));
  return out;
}

}  // namespace lehr
