// Runs of a fit: compiles for the method, starts, runs, and examines the result. bound_model.cpp binds the data.
//
// The examination looks for results that seem right and are not. These are numbers that are not finite, digits lost in
// rounding, symmetric solutions, points that ran to 0, and correlations that independent factors ignore.
#include "compiler/fit/fitting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/fit/checks/largest_elbo.h"
#include "compiler/fit/checks/limited_means.h"
#include "compiler/fit/checks/link_narrowing.h"
#include "compiler/fit/checks/outlier.h"
#include "compiler/fit/checks/rounding.h"
#include "compiler/fit/checks/run_away.h"
#include "compiler/fit/checks/unbounded_points.h"
#include "compiler/fit/item_solution.h"
#include "compiler/fit/linear_response.h"
#include "compiler/fit/methods/chain_start.h"
#include "compiler/gibbs_analysis.h"
#include "compiler/instance/barren.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

/// Couplings above this are reported. The standard deviations of two Normal variables so correlated are below 0.44 of
/// the true ones: sqrt(1 - 0.9^2).
constexpr double kStrongCoupling = 0.9;

/// Returns the warning that a start of the wanted kind failed and another one took its place.
Diagnostic passed_over(StartKind wanted, const Instance::Started& started) {
  return make_warning(fmt::format("no start from {}: {}", name_of(wanted), started.failure),
                      {fmt::format("the run began at a start of kind {} ({})", name_of(started.kind), option("init"))});
}

/// Returns the advice to take the standard deviations of draws, if the model has a sampler.
std::vector<std::string> gibbs_instead(const model::Model& resolved, const BoundData& data, const Analysed& analysed) {
  if (!derive_for_gibbs(resolved, expand_options(data), analysed)) return {};
  return {option("method") + " gibbs has means and standard deviations of its draws"};
}

/// Returns a warning of each observed variable that is latent where it is missing, and whose distribution a latent
/// category or bit chooses: the two have separate factors, each of which makes the other too certain.
std::vector<std::string> gaps_beside_categories(const model::Model& resolved, const model::Model& m) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < resolved.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (!v.clamped || !resolved.variables[k].observed) continue;
    for (const model::VariableRef* r : references_under(m, roots_of(m[v.statement]))) {
      const model::Variable& by = m[r->variable];
      const bool chooses = by.support == math::Support::category || by.support == math::Support::bit;
      if (!chooses || (by.observed && !by.clamped) || is_joint(by)) continue;
      out.push_back(
          fmt::format("missing entries of '{}' and '{}' have separate factors: '{}' is too certain there, and "
                      "the standard deviations of these entries are too small",
                      v.name, by.name, by.name));
      break;
    }
  }
  return out;
}

}  // namespace

bool better(const FitRun& a, const FitRun& b) {
  const bool a_failed = a.outcome.status == Status::numerical_failure;
  const bool b_failed = b.outcome.status == Status::numerical_failure;
  if (a_failed != b_failed) return b_failed;
  return a.outcome.elbo > b.outcome.elbo;
}

Result<double> infer_items(Instance& instance, const SweepOptions& options, machine::SweepScope scope) {
  const Engine& engine = instance.engine();
  Elbo elbo;
  const std::int32_t status = infer_items(engine, options, scope, elbo);
  if (status != 0) return Error{ExitCode::numerical, "", engine.describe(status), {}};
  if (!std::isfinite(elbo.value)) return Error{ExitCode::numerical, "", "the ELBO of the items is not finite", {}};
  return elbo.value;
}

Fitting::Fitting(BoundModel bound, FitSettings settings) : bound_(std::move(bound)), settings_(std::move(settings)) {}

Result<std::unique_ptr<Fitting>> Fitting::make(BoundModel bound, FitSettings settings) {
  const Requirements requirements = std::visit([](const auto& m) { return m.requirements(); }, settings.method);
  std::unique_ptr<Fitting> out(new Fitting(std::move(bound), std::move(settings)));
  if (std::optional<Error> e = out->cannot_use(requirements)) return *e;
  out->far_ = ill_scaled_columns(out->model(), out->data());
  // What inference has to find out is found out before the model is analysed and compiled for the method.
  if (std::optional<Error> e = requirements.draws ? out->sampling_too_imprecise() : std::nullopt) return *e;
  if (std::optional<Error> e = out->analyse_for_method(requirements)) return *e;
  if (std::optional<Error> e = out->compile(requirements)) return *e;
  if (std::optional<Error> e = out->settings_.response ? out->no_response() : std::nullopt) return *e;
  return out;
}

/// Reads the requirements of the method: some need all items at once.
std::optional<Error> Fitting::not_streamed(const Requirements& requirements) const {
  const auto refused = [](std::string why) {
    return Error{ExitCode::usage, option("stream"), "items are not read in pieces " + std::move(why), {}};
  };
  if (!requirements.streams)
    return refused("by this method: " + option("method") + " svi does, and cavi without searches and noise");
  if (settings_.response) return refused("with " + option("sds") + " linear-response, which infers all many times");
  if (settings_.save_locals) return refused("with " + option("save-locals") + ", which keeps the factors of all");
  if (settings_.start == StartKind::points || settings_.start == StartKind::allocations)
    return refused("by this start, which looks at all of them: " + option("init") + " seeds, means and flat do");
  return std::nullopt;
}

ItemSource Fitting::item_source(const Requirements& requirements) const {
  if (!bound_.streamed) return {};
  // The functions share ownership of the opened data with the fit.
  return {requirements.window > 0 ? requirements.window : settings_.at_a_time, bound_.streamed->plate(),
          [s = bound_.streamed, model = model()](auto runs) {
            BoundData out = s->read(runs);
            add_masks(model, s->barren(out), out);
            out.observed.resize(model.variables.size());
            return out;
          },
          [s = bound_.streamed](model::PlateId nested, std::int64_t item) { return s->row(nested, item); }};
}

/// Factors of out-of-core items that the next sweep reads must be stored between the sweeps, in a spill file.
std::optional<Error> Fitting::add_spill_file() try {
  Engine& engine = instance_->engine();
  const machine::Model& m = engine.model();
  // Collects the local variables whose factors persist and are not in memory.
  std::set<std::string> names;
  for (const machine::ParameterRow& row : machine::parameters_of(m)) {
    const std::string& name = instance_->name_of(row.buffer);
    if (row.local && !row.streamed && engine.is_partial(row.buffer)) names.insert(name.substr(0, name.find('.')));
  }
  if (names.empty() || !engine.machine().loader->loads_by_chunks) return std::nullopt;
  const auto refused = [&](std::string why, std::vector<std::string> notes) {
    return Error{ExitCode::model, "", fmt::format("the data cannot be read in pieces: {}", why), std::move(notes)};
  };
  const std::string variables = fmt::format("'{}'", fmt::join(names, "', '"));
  if (!machine::has_single_stage(m)) return refused(variables + " are updated in more than one visit of an item", {});
  if (settings_.spill.empty())
    return refused(fmt::format("the factors of {} go on from sweep to sweep", variables),
                   {option("spill") + " DIR keeps them in files there"});
  engine.keep_items_in(std::make_unique<Spill>(settings_.spill));
  return std::nullopt;
} catch (const SpillFailure& e) {
  return e.error;
}

std::optional<Error> Fitting::cannot_use(const Requirements& requirements) const {
  if (std::optional<Error> e = bound_.streamed ? not_streamed(requirements) : std::nullopt) return e;
  if (std::optional<Error> e = requirements.batches ? not_by_minibatches(model()) : std::nullopt) return e;
  return requirements.envelope ? not_binary(model(), schedule().conditionals) : std::nullopt;
}

Result<Analysed> Fitting::analysed_for(const Requirements& requirements, const schedule::PlanOptions& options) const {
  Analysed out = analysed();
  if (requirements.item_temperatures) {
    Result<Analysed> tempered = with_item_temperatures(out, options);
    if (!tempered) return tempered.error();
    out = std::move(*tempered);
  }
  // A sampler replaces every factor by a sample factor. It starts from the resolved model, since auxiliary variables of
  // local bounds are not those of a sampler.
  if (requirements.draws) {
    const density::ExpandOptions expand = with_masks(expand_options(data()), find_barren(bound_.resolved, bound_.data));
    return analyse_for_gibbs(bound_.resolved, expand, out, options);
  }
  return requirements.item_temperatures ? std::move(out) : with_options(std::move(out), options);
}

std::optional<Error> Fitting::analyse_for_method(const Requirements& requirements) {
  schedule::PlanOptions options;
  if (requirements.likelihood) options.tempering = schedule::Tempering::likelihood;
  // Sums of the data may become tables by what the data name, if all data are there.
  if (!requirements.batches && !bound_.streamed) options.sizes = data().sizes;
  options.invariances = requirements.invariances;
  options.thresholds = settings_.passes.thresholds;
  const auto analyse = [&] { return analysed_for(requirements, options); };
  if (settings_.cache) key_ = program_key(bound_.key, analysed(), data());
  Result<Analysed> prepared = key_ ? *settings_.cache->prepared.find_or_make(*key_, analyse) : analyse();
  if (!prepared) return prepared.error();
  bound_.analysed = std::move(*prepared);
  // Lists of what differs in the data are of these data alone.
  if (!options.sizes.empty() && !settings_.cache && !settings_.replaces_data && !requirements.item_temperatures)
    bound_.analysed = with_separate_pairs(std::move(bound_.analysed), bound_.data, options);
  // Each item's inverse temperature is a given of the model, 1 until the method sets it.
  if (requirements.item_temperatures) {
    const model::PlateId item = model()[*analysed().inverse_temperatures].axes[0];
    const std::int64_t items = std::max<std::int64_t>(0, data().sizes[item.index()]);
    bound_.data.givens.push_back({std::vector<double>(static_cast<std::size_t>(items), 1.0)});
  }
  if (!requirements.draws) return std::nullopt;
  bound_.data.observed.resize(model().variables.size());
  if (std::optional<Error> e = has_fractional_weights()) return e;
  predictive_ = plan_predictive(analysed(), data(), settings_.predictive);
  return std::nullopt;
}

Result<std::unique_ptr<Instance>> Fitting::make_instance(const Requirements& requirements) const {
  const loops::LowerOptions lowering{.save_locals = settings_.save_locals || predictive_.draws > 0,
                                     .gradients = requirements.gradients,
                                     .envelope = requirements.envelope,
                                     .states = requirements.likelihood,
                                     .batches = requirements.batches || bound_.streamed,
                                     .single = settings_.single};
  const std::int64_t window = settings_.save_locals ? 0 : requirements.window;
  if (!key_)
    return Instance::make(analysed(), data(), lowering, settings_.backend, window, item_source(requirements),
                          settings_.passes);
  const auto program = settings_.cache->programs.find_or_make(
      *key_, [&] { return Instance::compile(analysed(), data(), lowering, settings_.backend, settings_.passes); });
  if (!*program) return program->error();
  return Instance::make(analysed(), data(), **program, window);
}

std::optional<Error> Fitting::compile(const Requirements& requirements) {
  // If all variables are local, their factors are the only result, so they are always saved.
  const bool all_local = std::ranges::all_of(schedule().stage_of, [](const auto& s) { return s.has_value(); });
  settings_.save_locals = settings_.save_locals || all_local;
  // Sweeps write per-item parameters that no sweep reads only if these are saved.
  std::visit([&](auto& m) { m.options.item_parameters = settings_.save_locals; }, settings_.method);
  if (bound_.streamed && all_local)
    return Error{ExitCode::model, "", "the data cannot be read in pieces: all variables are those of single items", {}};
  Result<std::unique_ptr<Instance>> made = make_instance(requirements);
  if (!made) return made.error();
  instance_ = std::move(*made);
  instance_->set_offsets(bound_.references);
  if (std::optional<Error> e = settings_.group ? cannot_distribute() : std::nullopt) return e;
  if (std::optional<Error> e = bound_.streamed ? add_spill_file() : std::nullopt) return e;
  instance_->engine().work_with(settings_.threads, {}, settings_.group);
  instance_->engine().divide(settings_.parts);
  return std::nullopt;
}

Result<bool> Fitting::replace(BoundData data) {
  bound_.data = std::move(data);
  add_sizes(model(), bound_.data);
  add_masks(model(), find_barren(bound_.resolved, bound_.data), bound_.data);
  return instance_->replace(bound_.data);
}

Result<FitRun> Fitting::start(std::uint64_t restart) {
  FitRun run;
  run.restart = restart;
  const Result<Instance::Started> started = instance_->start(settings_.seed, restart, settings_.start);
  if (!started) return started.error();
  const std::vector<NamedArray> init =
      settings_.after ? chain_start(*settings_.after, settings_.seed, restart) : settings_.init;
  // Factors that are given replace those of the start. Without local ones among them, the local factors follow the
  // global ones.
  if (!init.empty()) {
    Result<bool> of_items = instance_->set(init, settings_.init_source);
    if (!of_items) return of_items.error();
    const Engine& engine = instance_->engine();
    engine.workers().forget_spilled();
    if (const std::int32_t s = *of_items ? 0 : machine::finish_item_start(engine.machine()))
      return Error{ExitCode::data, settings_.init_source, engine.describe(s), {}};
  }
  const RunContext context{analysed(),  data(),        *instance_,    settings_.seed, restart, settings_.save_locals,
                           predictive_, started->kind, !init.empty(), references()};
  Result<PreparedRun> ready = std::visit([&](const auto& m) { return m.prepare(context); }, settings_.method);
  if (!ready) return ready.error();
  ready_ = std::move(*ready);
  const bool is_bound = ready_.fixed_point && !bound_.streamed;
  instance_->engine().limit_elbo(is_bound ? largest_elbo(model(), schedule().conditionals.density) : INFINITY);
  run.report = ready_.report;
  run.initial_warnings = settings_.warnings;
  std::ranges::copy(ready_.warnings, std::back_inserter(run.initial_warnings));
  if (!started->failure.empty() && init.empty() && !ready_.many_starts)
    run.initial_warnings.push_back(passed_over(settings_.start, *started));
  return run;
}

void Fitting::run(FitRun& run, const OnSweep& on_sweep, Journal* journal) {
  instance_->engine().follow(journal);
  run.outcome = iteration_limit() > 0 ? ready_.run(on_sweep, run.report) : evaluate_start(on_sweep);
  instance_->engine().follow(nullptr);
  // The journal is of a finished run, whose results the caller restores.
  if (journal && journal->replays()) return;
  store_posterior(run);
  check_run_away(run);
  check_rounding(run);
  run.symmetric = instance_->symmetric_components();
  check_sds(run);
  if (ready_.fixed_point && !bound_.streamed && run.outcome.status == Status::converged && run.sds.empty())
    run.coupled = correlated_pairs(*instance_, analysed(), kStrongCoupling);
  if (ready_.fixed_point && !bound_.streamed && !settings_.group && run.outcome.status == Status::converged) {
    const std::string held = held_by_limits(analysed(), data(), instance_->posterior(true, LocationOrigin::reference));
    run.narrow += (held.empty() || run.narrow.empty() ? "" : "; ") + held;
  }
  // Suggests only guides with which the model can be fitted.
  drop_invalid_guides(run.coupled, bound_.resolved, expand_options(data()));
}

std::int64_t Fitting::iteration_limit() const {
  return std::visit([&](const auto& m) { return m.iteration_limit(instance_->engine()); }, settings_.method);
}

void Fitting::store_posterior(FitRun& run) {
  run.posterior = instance_->posterior(settings_.save_locals);
  run.items.clear();
  const bool draws = std::visit([](const auto& m) { return m.requirements().draws; }, settings_.method);
  // Local solutions are stored for later predictions of the same items.
  if (!draws && !settings_.group && !bound_.streamed) {
    run.items = items_to_save(analysed(), data(), bound_.digests, *instance_, run.posterior);
  }
  run.far =
      square_cancellation(model(), schedule(), instance_->posterior(settings_.save_locals, LocationOrigin::reference));
  if (run.outcome.status == Status::numerical_failure) return;
  for (const NamedArray& a : run.posterior) {
    const auto bad = std::find_if(a.values.begin(), a.values.end(), [](double x) { return !std::isfinite(x); });
    if (bad == a.values.end()) continue;
    run.outcome.status = Status::numerical_failure;
    run.outcome.failure = fmt::format("a parameter is not a finite number: {}{}", a.name,
                                      subscripts(a.shape, static_cast<std::size_t>(bad - a.values.begin())));
    return;
  }
  // The ELBO is useless if a single log gamma function has a rounding error above a nat.
  if (const auto lost = log_gamma_cancellation(model(), schedule(), data(), run.posterior);
      lost && lost->of_largest > kMaxRoundingError) {
    run.outcome.status = Status::numerical_failure;
    run.outcome.failure = fmt::format(
        "the ELBO is lost in rounding: the log gamma function of {:.2g} ({}) is only right to about {:.1g} nats",
        lost->largest, lost->name, lost->of_largest);
  }
}

std::optional<Error> Fitting::no_response() const {
  const auto refused = [&](std::string why) {
    return Error{ExitCode::usage, option("sds"), "there is no linear response: " + std::move(why),
                 gibbs_instead(bound_.resolved, data(), analysed())};
  };
  const std::int64_t numbers = response_numbers(*instance_, analysed());
  if (numbers == 0) return refused("no variable that all items share has a factor with standard deviations");
  if (numbers > kMostNumbers)
    return refused(
        fmt::format("the variables that all items share have {} numbers, of {} at most", numbers, kMostNumbers));
  return std::nullopt;
}

void Fitting::check_sds(FitRun& run) {
  if (!ready_.fixed_point || settings_.group || settings_.single || bound_.streamed) return;
  if (run.outcome.status != Status::converged) {
    if (settings_.response && run.outcome.status == Status::max_iter)
      run.narrow = "the standard deviations are those of the factors: linear response is that of a converged fit";
    return;
  }
  const std::int64_t visits = settings_.response ? std::numeric_limits<std::int64_t>::max()
                                                 : cheap_visits(*instance_, analysed(), run.outcome.iterations);
  const LinearResponse response = linear_response(*instance_, analysed(), kMostNumbers, visits);
  if (response.costly) {
    const std::int64_t numbers = response_numbers(*instance_, analysed());
    if (numbers == 0 || schedule().conditionals.blocks.size() < 2) return;
    if (settings_.response_if_cheap)
      run.uncorrected = numbers > kMostNumbers ? Uncorrected::large : Uncorrected::costly;
    run.narrow = narrowed(sampled_response(*instance_, analysed()));
    return;
  }
  if (response.failure.empty()) {
    const bool given = settings_.response || settings_.response_if_cheap;
    if (given) run.sds = arrays_of(response);
    run.narrow = given ? left_as_they_are(response) : narrowed(response);
  } else if (settings_.response || settings_.response_if_cheap) {
    run.uncorrected = Uncorrected::undefined;
    run.narrow =
        "the standard deviations are those of the factors, as there is no linear response: " + response.failure;
  }
}

void Fitting::check_run_away(FitRun& run) {
  const Status status = run.outcome.status;
  if (!ready_.fixed_point || bound_.streamed || (status != Status::converged && status != Status::max_iter)) return;
  const SweepOptions options = std::visit([](const auto& m) { return SweepOptions(m.options); }, settings_.method);
  const std::optional<std::string> name = run_away(*instance_, schedule(), model(), options);
  if (!name) return;
  run.outcome.status = Status::numerical_failure;
  run.outcome.failure = fmt::format(
      "the posterior of '{}' is improper: the ELBO does not fall where it is thousands of times as far", *name);
  run.cures = {"give it a proper prior: the data do not say how far it is, as where a line separates all 0 from all 1"};
}

void Fitting::check_rounding(FitRun& run) {
  Outcome& out = run.outcome;
  const auto fail = [&](const std::string& why) {
    const std::string outlier = far_.empty() && !bound_.streamed ? outlier_clause(model(), data()) : "";
    out.status = Status::numerical_failure;
    out.failure = why + outlier;
    if (!outlier.empty() && run.cures.empty())
      run.cures = {"correct this value, or leave it empty if it marks a missing one",
                   "StudentT has heavier tails, for outliers"};
  };
  if (out.status == Status::numerical_failure) return fail(out.failure + far_column_clause(far_));
  const bool draws = std::visit([](const auto& m) { return m.requirements().draws; }, settings_.method);
  if (draws || bound_.streamed || out.iterations == 0 || out.status == Status::interrupted || !has_real_data(model()))
    return;
  const SweepOptions options = std::visit([](const auto& m) { return SweepOptions(m.options); }, settings_.method);
  std::optional<PrecisionProblem> why = check_precision(*instance_, analysed(), data(), settings_.save_locals, far_,
                                                        options, settings_.single ? kInSingle : kInDouble);
  // Factors that far data couple converge very slowly, and then the solution is wherever the run stopped.
  if ((!why || !why->lost) && !far_.empty() && (out.status == Status::max_iter || out.decreases > 0))
    why = PrecisionProblem{"it has not converged" + far_column_clause(far_)};
  if (!why) return;
  if (!why->lost) {
    run.rounding = why->text;
    return;
  }
  fail(why->text);
}

/// A weight w multiplies the log likelihood by w in coordinate ascent, but a sampler draws one variable for each copy.
std::optional<Error> Fitting::has_fractional_weights() const {
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    const model::Variable& v = model().variables[k];
    const conditionals::BlockId b = schedule().conditionals.block_of[k];
    if (v.observed || !b.valid() || !schedule().conditionals[b].drawn) continue;
    for (const model::PlateId p : v.axes) {
      const std::optional<model::GivenId> times = model()[model()[p].set].times;
      const auto whole = [](double w) { return w == std::floor(w); };
      if (!times || std::ranges::all_of(data().givens[times->index()].values, whole)) continue;
      return Error{ExitCode::data,
                   option("method"),
                   fmt::format("'{}' has weights that are no whole numbers, and '{}' is drawn for each of the copies",
                               model()[*times].name, v.name),
                   {option("method") + " cavi takes weights as powers of the likelihood"}};
    }
  }
  return std::nullopt;
}

std::optional<Error> Fitting::sampling_too_imprecise() const {
  if (far_.empty()) return std::nullopt;
  // Coordinate ascent instead of the sampler shows what rounding does to these data; 50 sweeps come near a solution.
  constexpr std::int64_t kSweeps = 50;
  const auto lost = [&](const std::string& why) { return Error{ExitCode::numerical, "", why, {}}; };
  Result<std::unique_ptr<Instance>> made =
      Instance::make(analysed(), data(), {}, settings_.backend, 0, {}, settings_.passes.without_reports());
  if (!made) return made.error();
  Instance& instance = **made;
  if (const auto r = instance.start(settings_.seed, 0, StartKind::means); !r)
    return lost(r.error().text + far_column_clause(far_));
  CaviOptions options;
  options.max_iterations = kSweeps;
  const Outcome out = run_cavi(instance.engine(), options, [](const SweepReport&) { return true; });
  if (out.status == Status::numerical_failure) return lost(out.failure + far_column_clause(far_));
  const auto why = check_precision(instance, analysed(), data(), false, far_, options);
  return why && why->lost ? std::optional(lost(why->text)) : std::nullopt;
}

Result<bool> Fitting::run_items(FitRun& run, const SweepOptions& options) {
  const Result<double> elbo = infer_items(*instance_, options);
  if (!elbo) return elbo.error();
  run.outcome.status = Status::converged;
  run.outcome.elbo = *elbo;
  store_posterior(run);
  if (run.outcome.status == Status::numerical_failure) return Error{ExitCode::numerical, "", run.outcome.failure, {}};
  return true;
}

std::vector<Diagnostic> Fitting::warnings(const FitRun& run) const {
  std::vector<Diagnostic> out;
  const auto warn = [&](std::string text, std::vector<std::string> cures = {}) {
    out.push_back(make_warning(std::move(text), std::move(cures)));
  };
  const bool draws = std::visit([](const auto& m) { return m.requirements().draws; }, settings_.method);
  for (std::string& text : draws ? std::vector<std::string>() : gaps_beside_categories(bound_.resolved, model()))
    warn(std::move(text), gibbs_instead(bound_.resolved, data(), analysed()));
  // Each strong coupling gets a warning, with the guide that makes one factor of it if there is one.
  for (const CorrelatedPair& c : run.coupled) {
    const std::string cure = c.guide.empty() ? "" : fmt::format("; `{};` makes them one factor", c.guide);
    warn(fmt::format("{} and {} are strongly coupled ({:.2f}): their standard deviations are too small{}", c.first,
                     c.second, c.correlation, cure));
  }
  // For couplings without a guide, the last warning gets a note with other remedies.
  if (std::ranges::any_of(run.coupled, [](const CorrelatedPair& c) { return c.guide.empty(); })) {
    std::vector<std::string> cures = other_remedies(run.coupled, analysed());
    if (derive_for_gibbs(bound_.resolved, expand_options(data()), analysed()))
      cures.push_back(option("method") + " gibbs");
    out.back().note(
        "factors are independent of each other" +
        (cures.empty() ? "" : fmt::format("; what they have in common stays with {}", fmt::join(cures, " or "))));
  }
  if (!run.narrow.empty()) {
    std::vector<std::string> cures;
    const bool costly = run.uncorrected == Uncorrected::costly;
    if (costly || (!settings_.response && !settings_.response_if_cheap))
      cures = {option("sds") + " linear-response writes corrected ones",
               "a guide joint() of variables that depend on each other makes one factor of them"};
    else if (run.outcome.status == Status::max_iter) cures = {option("max-iter") + " lets it make more sweeps"};
    else cures = gibbs_instead(bound_.resolved, data(), analysed());
    warn(run.narrow, std::move(cures));
  }
  if (!draws && !run.posterior.empty()) {
    const bool corrected = !run.sds.empty() || run.uncorrected == Uncorrected::undefined;
    const bool correctable = run.outcome.status == Status::converged && may_respond();
    const auto instead = [&] { return gibbs_instead(bound_.resolved, data(), analysed()); };
    std::ranges::move(link_warnings(analysed(), corrected, correctable, instead), std::back_inserter(out));
  }
  // A decreasing ELBO is explained by rounding if there is a warning of that already.
  if (!run.rounding.empty()) {
    warn(run.rounding, {"centre the data, or subtract a trend first: they keep more digits"});
  } else if (run.outcome.decreases > 0) {
    warn(fmt::format("the ELBO fell in {} of {} sweeps, which coordinate ascent cannot do", run.outcome.decreases,
                     run.outcome.iterations),
         {"data far from zero in units of their spread lose digits: centre and scale them",
          "if they are centred, please report this model"});
  }
  if (const auto point = unbounded_point(model(), schedule(), data(), run.posterior)) {
    warn(fmt::format("'{}' has left for 0, where the density of its prior ({}) is infinite: the ELBO grows "
                     "without bound, and says nothing",
                     point->name, point->family),
         {"a point is where the density is highest: give it a prior with a maximum, a shape of 1 or more"});
  }
  if (run.outcome.status == Status::numerical_failure) return out;
  if (const auto lost = log_gamma_cancellation(model(), schedule(), data(), run.posterior)) {
    warn(fmt::format("the ELBO is only right to about {:.1g} nats: it is made of log gamma functions of numbers up "
                     "to {:.2g} ({}), which leave few digits to their differences",
                     lost->nats, lost->largest, lost->name),
         {"bounds that differ by less are equal"});
  }
  if (run.far.nats > 0) {
    warn(fmt::format("the ELBO is only right to about {:.1g} nats: it is made of squares of means of up to "
                     "{:.2g} standard deviations ({}), which leave few digits to their differences",
                     run.far.nats, run.far.largest, run.far.name),
         {"bounds that differ by less are equal; the distance from a value near the mean loses nothing"});
  }
  std::ranges::move(lehr::warnings(run.report, run.outcome), std::back_inserter(out));
  if (!run.symmetric.empty() && iteration_limit() > 0) {
    warn(fmt::format("all elements of {} are equal: a symmetric solution, from which no sweep leads away",
                     fmt::join(run.symmetric, ", ")),
         {"another start (seed, init points), or less heat where there was annealing"});
  }
  return out;
}

std::optional<Error> Fitting::cannot_distribute() const {
  if (instance_->engine().can_distribute()) return std::nullopt;
  std::vector<std::string> plates;
  for (const schedule::Step& step : schedule().steps) {
    const auto* stage = std::get_if<schedule::ItemStage>(&step);
    if (!stage) continue;
    const std::string& name = model()[model()[stage->item].set].name;
    if (std::ranges::find(plates, name) == plates.end()) plates.push_back(name);
  }
  const std::string why =
      plates.empty()      ? "a sweep has nothing to do with single items: sums of the data are all it reads"
      : plates.size() > 1 ? fmt::format("it has items of several plates: {}", fmt::join(plates, ", "))
                          : fmt::format("what is updated once a sweep reads elements of '{}' one by one", plates[0]);
  return Error{
      ExitCode::model,
      "",
      "the items of this model cannot be distributed among processes: " + why,
      {fmt::format(
          "`lehr emit MODEL {} schedule` shows what a sweep is made of; threads of one process share what there is",
          option("as"))}};
}

Outcome Fitting::evaluate_start(const OnSweep& on_sweep) {
  const Engine& engine = instance_->engine();
  const SweepOptions options = std::visit([](const auto& m) { return SweepOptions(m.options); }, settings_.method);
  Outcome out;
  Elbo elbo;
  if (const std::int32_t status = evaluate(engine, options, elbo)) return failure(engine, status, out);
  out.elbo = elbo.value;
  if (std::isfinite(out.elbo)) {
    on_sweep({0, out.elbo, 1, out.elbo});
  } else {
    out.status = Status::numerical_failure;
    out.failure = "the ELBO is not finite";
  }
  return out;
}

}  // namespace lehr
