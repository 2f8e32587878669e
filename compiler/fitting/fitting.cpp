#include "compiler/fitting/fitting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/fitting/lost_digits.h"

namespace lehr {
namespace {

/// "[3, 0]" of a row-major position; empty for a number.
std::string subscripts(const std::vector<std::int64_t>& shape, std::size_t position) {
  std::vector<std::size_t> out(shape.size());
  for (std::size_t k = shape.size(); k-- > 0;) {
    out[k] = position % static_cast<std::size_t>(shape[k]);
    position /= static_cast<std::size_t>(shape[k]);
  }
  return out.empty() ? "" : fmt::format("[{}]", fmt::join(out, ", "));
}

}  // namespace

Result<std::optional<Bound>> bind_and_analyse(const model::Model& resolved, const Analysed& complete, Dataset dataset,
                                              const Settings& settings, Diagnostics& diagnostics) {
  Result<BoundData> data = lehr::bind(complete.model, std::move(dataset), settings);
  if (!data) return data.error();
  density::ExpandOptions options;
  for (const BoundArray& a : data->observed)
    options.may_be_missing.push_back(a.has_missing);
  if (std::ranges::count(options.may_be_missing, true) == 0)
    return std::optional<Bound>(Bound{complete, std::move(*data)});
  std::optional<Analysed> analysed = analyse(resolved, options, diagnostics);
  if (!analysed) return std::optional<Bound>();
  return std::optional<Bound>(Bound{std::move(*analysed), std::move(*data)});
}

bool better(const FitRun& a, const FitRun& b) {
  const bool a_failed = a.outcome.status == Status::numerical_failure;
  const bool b_failed = b.outcome.status == Status::numerical_failure;
  if (a_failed != b_failed) return b_failed;
  return a.outcome.elbo > b.outcome.elbo;
}

Result<double> infer_items(Instance& instance, const SweepOptions& options) {
  const Engine& engine = instance.engine();
  machine::Machine m = engine.machine();
  m.accuracy = {options.local_iterations, options.local_tolerance};
  Elbo elbo;
  std::int32_t status = machine::infer_items(m, machine::Which::stages);
  if (status == 0) status = engine.elbo(elbo);
  if (status != 0) return Error{ExitCode::numerical, "", engine.describe(status), {}};
  if (!std::isfinite(elbo.value)) return Error{ExitCode::numerical, "", "the ELBO of the items is not finite", {}};
  return elbo.value;
}

Fitting::Fitting(Bound bound, FitSettings settings) : bound_(std::move(bound)), settings_(std::move(settings)) {}

Result<std::unique_ptr<Fitting>> Fitting::make(Bound bound, FitSettings settings) {
  settings.inference.fresh = settings.method.svi;
  std::unique_ptr<Fitting> out(new Fitting(std::move(bound), std::move(settings)));
  if (std::optional<Error> e = out->compile()) return *e;
  return out;
}

std::optional<Error> Fitting::compile() {
  loops::LowerOptions lowering{.gradients = settings_.method.svi && settings_.inference.adaptive,
                               .batches = settings_.method.svi};
  if (settings_.method.temper && settings_.method.temper->local) {
    Result<Analysed> tempered = with_item_temperatures(bound_.analysed);
    if (!tempered) return tempered.error();
    bound_.analysed = std::move(*tempered);
    const model::PlateId item = model()[*analysed().inverse_temperatures].axes[0];
    const std::int64_t items = std::max<std::int64_t>(0, data().sizes[item.index()]);
    bound_.data.givens.push_back({std::vector<double>(static_cast<std::size_t>(items), 1.0)});
  }
  // A model of local variables alone has no other posterior to show.
  const bool all_local =
      std::all_of(schedule().stage_of.begin(), schedule().stage_of.end(), [](const auto& s) { return s.has_value(); });
  settings_.save_locals = settings_.save_locals || all_local;
  lowering.save_locals = settings_.save_locals;
  // Normalisers are found from the factors of all items.
  const bool keep = !settings_.method.svi || settings_.save_locals || settings_.method.temper;
  Result<std::unique_ptr<Instance>> made =
      Instance::make(analysed(), data(), lowering, settings_.backend, keep ? 0 : settings_.inference.batch);
  if (!made) return made.error();
  instance_ = std::move(*made);
  return std::nullopt;
}

Result<FitRun> Fitting::start(std::uint64_t restart) {
  FitRun run;
  run.restart = restart;
  if (Result<bool> r = instance_->start(settings_.seed, restart, settings_.start); !r) return r.error();
  if (!settings_.init.empty()) {
    Result<bool> of_items = instance_->set(settings_.init, settings_.init_source);
    if (!of_items) return of_items.error();
    const Engine& engine = instance_->engine();
    if (const std::int32_t s = *of_items ? 0 : machine::follow_items(engine.machine()))
      return Error{ExitCode::data, settings_.init_source, engine.describe(s), {}};
  }
  if (const auto& temper = settings_.method.temper) {
    Result<Tempering> t = Tempering::make(*temper, model(), schedule(), data(), *instance_, settings_.seed);
    if (!t) return t.error();
    run.tempering = std::move(*t);
    Result<std::vector<Caution>> seen = foresee(*run.tempering);
    if (!seen) return seen.error();
    run.at_start = std::move(*seen);
  }
  return run;
}

Result<std::vector<Caution>> Fitting::foresee(const Tempering& t) {
  std::vector<Caution> out;
  if (t.normaliser != "prior" || t.log_c.size() < 2) return out;
  // E / T - log C(T) is largest at T = 1 only where E is not below the slope of log C over 1 / T there; log C
  // is convex.
  const double needed = (t.log_c[1] - t.log_c[0]) / (1 / t.temperatures[1] - 1 / t.temperatures[0]);
  double reached = 0;
  const Engine& engine = instance_->engine();
  if (const std::int32_t status = energy_within_reach(engine, settings_.inference, reached))
    return Error{ExitCode::numerical, "", engine.describe(status), {}};
  if (reached >= needed) return out;
  out.push_back(
      {fmt::format("the normaliser (prior) keeps the temperature above 1: it expects data with a log density of "
                   "{:.6g} nats, and ten sweeps bring these data to {:.6g}",
                   needed, reached),
       {"normaliser=posterior is found from the factors as they are, and comes down with them"}});
  return out;
}

void Fitting::run(FitRun& run, const OnSweep& on_sweep) {
  run.outcome = settings_.inference.max_iterations > 0 ? infer(run, on_sweep) : evaluate_start(on_sweep);
  take_posterior(run);
  run.symmetric = instance_->equal_components();
}

std::int64_t Fitting::most_iterations() const {
  const SviOptions& o = settings_.inference;
  return settings_.method.svi && o.max_iterations > 0 ? steps_of(instance_->engine(), o) : o.max_iterations;
}

void Fitting::take_posterior(FitRun& run) {
  run.posterior = instance_->posterior(settings_.save_locals);
  if (run.outcome.status == Status::numerical_failure) return;
  for (const NamedArray& a : run.posterior) {
    const auto bad = std::find_if(a.values.begin(), a.values.end(), [](double x) { return !std::isfinite(x); });
    if (bad == a.values.end()) continue;
    run.outcome.status = Status::numerical_failure;
    run.outcome.failure = fmt::format("a parameter is not a finite number: {}{}", a.name,
                                      subscripts(a.shape, static_cast<std::size_t>(bad - a.values.begin())));
    return;
  }
}

Result<bool> Fitting::run_items(FitRun& run) {
  const Result<double> elbo = infer_items(*instance_, settings_.inference);
  if (!elbo) return elbo.error();
  run.outcome.status = Status::converged;
  run.outcome.elbo = *elbo;
  take_posterior(run);
  if (run.outcome.status == Status::numerical_failure) return Error{ExitCode::numerical, "", run.outcome.failure, {}};
  return true;
}

std::vector<Caution> Fitting::cautions(const FitRun& run) const {
  std::vector<Caution> out;
  if (run.outcome.decreases > 0) {
    out.push_back({fmt::format("the ELBO fell in {} of {} sweeps, which coordinate ascent cannot do",
                               run.outcome.decreases, run.outcome.iterations),
                   {"data far from zero in units of their spread lose digits: centre and scale them",
                    "if they are centred, please report this model"}});
  }
  if (run.outcome.status == Status::numerical_failure) return out;
  if (const auto lost = lost_digits(model(), schedule(), data(), run.posterior)) {
    out.push_back(
        {fmt::format("the ELBO is only right to about {:.1g} nats: it is made of log gamma functions of numbers up "
                     "to {:.2g} ({}), which leave few digits to their differences",
                     lost->nats, lost->largest, lost->name),
         {"bounds that differ by less are equal"}});
  }
  // A local temperature stays above 1 for every item that the model does not explain.
  if (run.tempering && !run.tempering->local && run.temper_report.temperature > 1.05) {
    Caution high{fmt::format("the temperature ended at {:.2f} and not near 1: the data do not look as the model makes "
                             "them, or the normaliser ({}) does not suit it",
                             run.temper_report.temperature, run.tempering->normaliser),
                 {}};
    if (!settings_.method.svi) high.notes.push_back("a phase at temperature 1 followed all the same");
    out.push_back(std::move(high));
  }
  if (!run.symmetric.empty() && settings_.inference.max_iterations > 0) {
    out.push_back({fmt::format("all elements of {} are equal: a symmetric solution, from which no sweep leads away",
                               fmt::join(run.symmetric, ", ")),
                   {"another start (seed, init points), or less heat where there was annealing"}});
  }
  return out;
}

Outcome Fitting::evaluate_start(const OnSweep& on_sweep) {
  const Engine& engine = instance_->engine();
  Outcome out;
  Elbo elbo;
  const std::int32_t status = evaluate(engine, settings_.inference, elbo);
  out.elbo = elbo.value;
  if (status != 0) {
    out.status = Status::numerical_failure;
    out.failure = engine.describe(status);
  } else if (!std::isfinite(out.elbo)) {
    out.status = Status::numerical_failure;
    out.failure = "the ELBO is not finite";
  } else {
    on_sweep({0, out.elbo, 1, out.elbo});
  }
  return out;
}

Outcome Fitting::infer(FitRun& run, const OnSweep& on_sweep) {
  const Engine& engine = instance_->engine();
  const Method& method = settings_.method;
  SviOptions options = settings_.inference;
  options.seed = settings_.seed + 1000003 * run.restart;
  if (run.tempering && method.svi) {
    if (run.tempering->local) options.items = run.tempering->items();
    else options.grid = run.tempering->grid();
    return run_svi(engine, options, on_sweep, &run.temper_report);
  }
  if (run.tempering && run.tempering->local)
    return run_items_tempered(engine, options, run.tempering->items(), on_sweep, run.temper_report);
  if (run.tempering) return run_tempered(engine, run.tempering->options(options), on_sweep, run.temper_report);
  if (method.anneal) {
    if (method.svi && std::holds_alternative<AutoAnneal>(*method.anneal)) {
      return run_auto_svi(engine, options, on_sweep, run.probe.emplace());
    }
    if (const auto* automatic = std::get_if<AutoAnneal>(&*method.anneal)) {
      AutoOptions a;
      static_cast<CaviOptions&>(a) = options;
      a.cycles = automatic->cycles;
      a.budget = automatic->sweeps;
      run.automatic.emplace();
      return run_auto(engine, a, on_sweep, *run.automatic);
    }
    options.annealing = std::get<Annealing>(*method.anneal);
  }
  return method.svi ? run_svi(engine, options, on_sweep) : run_cavi(engine, options, on_sweep);
}

}  // namespace lehr
