// Fits of a Program, and what a Fit reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "compiler/fit/fit_summary.h"
#include "compiler/fit/many_fits.h"
#include "compiler/fit/whole_fit.h"
#include "compiler/library/impl.h"
#include "compiler/options/fit_settings.h"
#include "compiler/predict/unseen_groups.h"
#include "compiler/score/held_out.h"
#include "runtime/files/npz.h"

namespace lehr {

std::string line_of(const Diagnostic& warning) {
  std::vector<std::string> notes;
  for (const Note& note : warning.notes)
    notes.push_back(note.text);
  const std::string added = notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; "));
  return with_option_prefix(warning.text + added, "");
}

namespace {

/// Returns the options as fit.json records them.
FitRequest request_of(const Program::Impl& p, const FitOptions& o) {
  FitRequest out{p.source.name, p.source.text, "", o.method, o.anneal, o.temper, o.seed};
  out.precision = o.precision;
  out.locals = o.save_locals;
  return out;
}

/// Returns the task of fits by these options. `own` stores an analysis that they need in place of the program's.
Result<FitTask> task_of(const Program::Impl& p, const FitOptions& options, std::optional<Analysed>& own) {
  if (std::optional<Error> e = unused_value(options)) return without_option_prefix(std::move(*e));
  Result<FitSettings> settings = to_fit_settings(options);
  if (!settings) return without_option_prefix(settings.error());
  settings->warnings = unused_number_warnings(options);
  Result<std::vector<NamedArray>> init = arrays_of(options.init);
  if (!init) return init.error();
  settings->init = std::move(*init);
  settings->init_source = "init";
  model::Model resolved = p.resolved;
  resolved.guide.factorised = resolved.guide.factorised || options.guide == "factorised";
  resolved.guide.gaussian_links = options.links == "gaussian";
  Diagnostics ignored;
  if (resolved.guide.gaussian_links) own = analyse(resolved, {}, ignored);
  return FitTask{p.source,        std::move(resolved),  own ? *own : p.complete,
                 p.settings,      std::move(*settings), request_of(p, options),
                 options.restarts};
}

/// Makes the state of a Fit from a finished fit. Callers of the library, and fit.json with them, get each warning as
/// one text.
std::shared_ptr<Fit::Impl> state_of(WholeFit fit, Settings settings) {
  auto out = std::make_shared<Fit::Impl>();
  for (const TraceRow& row : fit.run.trace) {
    out->trace.push_back(
        {static_cast<std::int64_t>(fit.run.restart), row.iteration, row.elbo, row.temperature, row.objective});
    out->seconds.push_back(row.seconds);
  }
  for (Diagnostic& w : fit.warnings) {
    out->warnings.push_back(line_of(w));
    w = make_warning(out->warnings.back());
  }
  out->summary = std::move(fit.summary);
  out->summary["warnings"] = to_json(fit.warnings);
  out->elbo_notes = std::move(fit.elbo_notes);
  out->settings = std::move(settings);
  out->global = std::move(fit.global);
  out->log_evidence = fit.log_evidence;
  out->draws = std::move(fit.draws);
  out->run = std::move(fit.run);
  return out;
}

/// Returns an array as the library shows it.
PosteriorArray shown(const NamedArray& a) { return {a.name, a.shape, a.values}; }

}  // namespace

Result<Fit> Program::fit(std::span<const DataView> data, const FitOptions& options, const Callback& callback) const {
  std::optional<Analysed> own;
  const Result<FitTask> task = task_of(*impl_, options, own);
  if (!task) return task.error();
  Result<Dataset> dataset = dataset_of(data);
  if (!dataset) return dataset.error();
  const auto on_sweep = [&](std::uint64_t restart, const SweepReport& s) {
    return !callback || callback({static_cast<std::int64_t>(restart), s.iteration, s.elbo, s.temperature, s.objective});
  };
  Settings settings;
  Result<WholeFit> fit =
      fit_whole(*task, std::move(*dataset), task->how.threads, nullptr, on_sweep,
                [&](const BoundModel& bound) { settings = fitted_settings(bound.analysed, bound.data); });
  if (!fit) return without_option_prefix(fit.error());
  return Fit(state_of(std::move(*fit), std::move(settings)));
}

Result<std::vector<Result<Fit>>> Program::fit_many(std::span<const std::vector<DataView>> datasets,
                                                   const FitOptions& options,
                                                   const std::function<bool()>& goes_on) const {
  std::optional<Analysed> own;
  const Result<FitTask> task = task_of(*impl_, options, own);
  if (!task) return task.error();
  const ManyData data{datasets.size(), [&](std::size_t k) { return dataset_of(datasets[k]); }};
  std::vector<Result<Fit>> out(datasets.size(), Error{ExitCode::usage, "", "the fits were interrupted before it", {}});
  std::vector<Settings> settings(datasets.size());
  lehr::fit_many(
      *task, data, task->how.threads,
      {[&](std::size_t k, Result<WholeFit> fit) {
         if (fit) out[k] = Fit(state_of(std::move(*fit), std::move(settings[k])));
         else out[k] = without_option_prefix(fit.error());
       },
       [&](std::size_t k, const BoundModel& bound) { settings[k] = fitted_settings(bound.analysed, bound.data); },
       goes_on});
  return out;
}

Result<Fit> Program::infer(const Fit& fit, std::span<const DataView> data) const {
  if (std::optional<Error> e = model_mismatch(*impl_, fit.impl())) return *e;
  Result<Dataset> dataset = dataset_with_constants(data, *impl_, fit.impl());
  if (!dataset) return dataset.error();
  const std::shared_ptr<const Impl> of_fit = program_of(*impl_, fit.impl());
  Settings how = fit.impl().settings;
  const model::Model& m = of_fit->complete.model;
  const SavedFit saved = as_saved_fit(fit.impl());
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const ItemLabels names = item_labels(m, *dataset, saved, model::PlateId(k));
    if (!names.labels.empty()) how.labels.try_emplace(m.plates[k].name, names.labels);
  }
  Result<BoundModel> bound = bind_for_fit(of_fit->source, of_fit->resolved, of_fit->complete, how, std::move(*dataset));
  if (!bound) return without_option_prefix(bound.error());
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
  out->summary = fit_summary(request_of(*impl_, {}), fitting.model(), fitting.schedule().conditionals, fitting.data(),
                             inferred, {}, false, {});
  out->run = std::move(inferred);
  out->elbo_notes = texts_of(density::elbo_notes(fitting.model(), fitting.schedule().conditionals.density));
  return Fit(std::move(out));
}

Result<HeldOutScore> Program::score(const Fit& fit, std::span<const DataView> data, std::optional<double> holdout,
                                    std::uint64_t seed, bool per_item) const {
  if (holdout && !contains(kProportionRange, *holdout))
    return usage_error("holdout", fmt::format("{} is not {}", *holdout, describe(kProportionRange)));
  if (std::optional<Error> e = model_mismatch(*impl_, fit.impl())) return *e;
  const Result<Dataset> dataset = dataset_with_constants(data, *impl_, fit.impl());
  if (!dataset) return dataset.error();
  HeldOutOptions options;
  options.fraction = holdout;
  options.seed = seed;
  options.per_item = per_item;
  options.instance = impl_->instance;
  options.items = as_saved_fit(fit.impl()).items;
  std::ranges::copy(fit.impl().global, std::back_inserter(options.items));
  const std::shared_ptr<const Impl> of_fit = program_of(*impl_, fit.impl());
  const Result<std::unique_ptr<HeldOut>> held_out =
      HeldOut::make(of_fit->source, of_fit->resolved, of_fit->complete, *dataset, fit.impl().settings, options);
  if (!held_out) return without_option_prefix(held_out.error());
  const Result<Score> score = (*held_out)->score(fit.impl().global);
  if (!score) return without_option_prefix(score.error());
  HeldOutScore out{.total = score->total,
                   .observations = score->observations,
                   .sequences = score->sequences,
                   .standard_error = score->error};
  if (score->by_item) {
    out.items = score->by_item->density;
    out.item_observations = score->by_item->observations;
  }
  return out;
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
  if (!impl_->summary.is_object() || !impl_->summary.contains("tempering")) return 1;
  return impl_->summary["tempering"].value("temperature", 1.0);
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
