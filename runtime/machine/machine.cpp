// The sweep over a compiled model: runs its steps in order, distributes the items of stages over threads, and keeps
// weights, random keys and cached reductions consistent with the factors. Freestanding: no allocation, no exceptions,
// so that the same source serves fits and built objects.
#include "runtime/machine/machine.h"

#include <algorithm>
#include <cmath>

#include "runtime/machine/damping.h"
#include "runtime/machine/items.h"
#include "runtime/machine/start.h"

namespace lehr::machine {
namespace {

/// Calls a generated function: by its address if it has one, else through Machine::code.
std::int32_t call(const Machine& m, std::int64_t f, lehr_buffer const* table, const std::int64_t* sizes,
                  const std::int64_t* integers, const double* reals) {
  if (const lehr_function address = m.model->functions[f]) return address(table, sizes, integers, reals);
  return m.code->call(m.code->context, f, table, sizes, integers, reals);
}

/// Runs a parallel region on the workers: clears its sums, then executes all of its iterations. Items in a window play
/// no part in it.
std::int32_t run_phase(Machine m, const PrerequisiteRow& phase, const std::int64_t* sizes) {
  m.sizes = sizes;
  m.window = nullptr;
  const ParallelWork loop = iterations_of(*m.model, phase);
  const ItemRange all{0, m.view().extent(phase.trip_count)};
  const ItemWork work{phase.function};
  for (const std::int64_t b : loop.sums) {
    for (double& x : m.view().reals(b))
      x = 0;
  }
  return m.workers ? m.workers->run(m.workers->context, m, loop, &all, 1, work) : work_on(m, 0, {&all, 1}, work);
}

/// Calls a function without arguments after its cached reductions, if they are not valid, and its parallel regions.
std::int32_t call_with_phases(const Machine& m, std::int64_t f, const std::int64_t* sizes) {
  for (const PrerequisiteRow& phase : prerequisites_of(*m.model)) {
    if (phase.of != f) continue;
    const bool sums = phase.valid >= 0;
    if (sums && m.view().reals(phase.valid)[0] != 0) continue;
    const std::int32_t status = sums ? call_with_phases(m, phase.function, sizes) : run_phase(m, phase, sizes);
    if (status != 0) return status;
  }
  return call(m, f, m.table, sizes, nullptr, nullptr);
}

/// Sets buffers of doubles to zero.
void clear(const Machine& m, std::span<const std::int64_t> buffers) {
  for (const std::int64_t b : buffers) {
    for (double& x : m.view().reals(b))
      x = 0;
  }
}

/// Multiplies sums over a minibatch by `scale`, so that they stand for those over all items.
void scale_up(const Machine& m, std::span<const std::int64_t> buffers, double scale) {
  if (scale == 1) return;
  for (const std::int64_t b : buffers) {
    for (double& x : m.view().reals(b))
      x *= scale;
  }
}

/// Loads the data of out-of-core items. Returns their new index ranges, one a run; items that code vectorises together
/// must be of one run.
std::span<const ItemRange> load_items(const Machine& m, std::span<const ItemRange> runs) {
  return {m.loader->load_items(m.loader->context, runs.data(), runs.size()), runs.size()};
}

/// Visits all items in slices that fit the loader or the window. Calls `body(range of indices in memory, range among
/// all items)` until a status is not 0.
template <class Body>
std::int32_t each_slice(const Machine& m, const StepRow& stage, const Body& body) {
  const std::int64_t items = m.whole().extent(stage.items), most = m.loader   ? m.loader->items
                                                                   : m.window ? m.window->items
                                                                              : items;
  for (std::int64_t begin = 0; begin < items; begin += most) {
    const ItemRange slice{begin, items - begin < most ? items : begin + most};
    if (const std::int32_t status = body(m.loader ? load_items(m, {&slice, 1})[0] : slice, slice)) return status;
  }
  return 0;
}

/// Does `work` on these runs of items, which must be in memory together, on the workers if there are any. All work on
/// items passes through here.
std::int32_t run_on_workers(const Machine& m, const StepRow& stage, std::span<const ItemRange> runs,
                            const ItemWork& work) {
  if (m.workers && stage.operations > 0)
    return m.workers->run(m.workers->context, m, items_of(*m.model, stage), runs.data(), runs.size(), work);
  if (work.from_priors) assign_window(m, runs);
  return work_on(m, 0, runs, work);
}

/// Does `work` on all items, in memory or out of core.
std::int32_t visit_all(const Machine& m, const StepRow& stage, const ItemWork& work) {
  if (m.loader && m.loader->loads_by_chunks && stage.operations > 0) {
    const ItemRange all{0, m.whole().extent(stage.items)};
    return m.workers->run(m.workers->context, m, items_of(*m.model, stage), &all, 1, work);
  }
  return each_slice(m, stage, [&](ItemRange slice, ItemRange) { return run_on_workers(m, stage, {&slice, 1}, work); });
}

/// Completes the statistics of a stage after all of its items have been visited.
std::int32_t finalise_stage(const Machine& m, const StepRow& stage) {
  return stage.finalise < 0 ? 0 : call(m, stage.finalise);
}

/// Visits the items of a stage part by part. After each part its statistics are completed and merged with the others.
std::int32_t update_parts(const Machine& m, const StepRow& stage, const PartedVisit& d, const ItemWork& work) {
  const std::int64_t items = m.view().extent(stage.items);
  for (std::int64_t k = d.first; k < d.last; ++k) {
    clear(m, statistics_of(*m.model, stage));
    const ItemRange part{items * k / d.count, items * (k + 1) / d.count};
    if (const std::int32_t status = run_on_workers(m, stage, {&part, 1}, work)) return status;
    if (const std::int32_t status = finalise_stage(m, stage)) return status;
    d.merge(d.context, stage, k);
  }
  return 0;
}

/// Returns true if a caller may distribute the items of the stage in ranges.
bool is_distributable(const StepRow& stage) { return stage.stage && stage.operations > 0; }

/// Prepares a visit of a stage: zero statistics, and natural-parameter tables of the present global factors.
std::int32_t open_stage(const Machine& m, const StepRow& stage) {
  clear(m, statistics_of(*m.model, stage));
  return call(m, stage.tables);
}

/// Visits the items of a stage (all, a minibatch, or part by part) and completes their statistics.
std::int32_t update_stage(const Machine& m, const StepRow& stage, const Plan& plan) {
  if (const std::int32_t status = open_stage(m, stage)) return status;
  const ItemWork work{stage.update, plan.form && !stage.refresh && has_single_stage(*m.model)};
  if (stage.batched && plan.division) return update_parts(m, stage, *plan.division, work);
  const bool some = stage.batched && !plan.batch.empty();
  const std::int32_t status = some ? run_on_workers(m, stage, m.loader ? load_items(m, plan.batch) : plan.batch, work)
                                   : visit_all(m, stage, work);
  if (status != 0) return status;
  if (const std::int32_t failed = finalise_stage(m, stage)) return failed;
  if (stage.batched) scale_up(m, statistics_of(*m.model, stage), plan.scale);
  return 0;
}

/// Runs one step of a sweep.
std::int32_t update(const Machine& m, const StepRow& step, const Plan& plan) {
  if (step.stage) return update_stage(m, step, plan);
  return plan.update ? plan.update->run(plan.update->context, step) : call(m, step.update);
}

/// Advances the step number in the random key, so that every step has random numbers of its own.
void count_step(const Machine& m) {
  if (std::int64_t* const key = m.view().random_key()) ++key[2];
}

/// Returns the buffer of weights that generated code reads.
double* weights_of(const Machine& m) { return static_cast<double*>(m.table[m.model->weights_buffer]); }
/// Returns the last weight: 1 if sums that the ELBO alone reads are computed, 0 if they may be left out.
double& bound_flag(const Machine& m) { return weights_of(m)[7]; }

/// A guard: while it lives, updates may leave out sums that the ELBO alone reads, if `is_left_out`.
class ElboSumsLeftOut {
 public:
  ElboSumsLeftOut(const Machine& m, bool is_left_out) : flag_(bound_flag(m)) { flag_ = is_left_out ? 0 : 1; }
  ~ElboSumsLeftOut() { flag_ = 1; }
  ElboSumsLeftOut(const ElboSumsLeftOut&) = delete;
  ElboSumsLeftOut& operator=(const ElboSumsLeftOut&) = delete;

 private:
  double& flag_;
};

/// Returns true if move_tangent_points() updates this stage: it consists of tangent points of local bounds alone.
bool touches(const Model& m, const StepRow& step) {
  return step.tangent_points && !step.refresh && !has_single_stage(m);
}

/// Returns true if the stage of `step` is repeated later in the sweep, which then recomputes its statistics. Sums for
/// the ELBO need not be computed at the first visit.
bool comes_again(const Model& m, const StepRow& step) {
  return step.stage && std::ranges::any_of(steps_of(m), [&](const StepRow& x) {
           return &x > &step && x.refresh && x.tables == step.tables;
         });
}

/// Returns true if a block belongs to an auxiliary variable, which the compiler added.
bool is_auxiliary(const Model& m, std::int64_t block) {
  return std::ranges::any_of(parameters_of(m), [&](const ParameterRow& x) { return x.block == block && x.auxiliary; });
}

/// Returns true if a sweep of this plan runs the step.
bool visits(const Model& m, const Plan& plan, const StepRow& step) {
  switch (plan.scope) {
    case SweepScope::all:
      return true;
    case SweepScope::ascent:
      return step.refresh != kForElbo;
    case SweepScope::local:
      return step.local;
    case SweepScope::stages:
      return step.stage;
    case SweepScope::sources:
      return step.local && !step.stage && is_auxiliary(m, step.block);
  }
  return true;
}

}  // namespace

ParallelWork items_of(const Model& m, const StepRow& stage) {
  return {stage.items, statistics_of(m, stage), scratch_of(m, stage), stage.operations, true};
}

ParallelWork iterations_of(const Model& m, const PrerequisiteRow& phase) {
  return {phase.trip_count,
          {m.statistics + phase.first_sum, unsigned_of(phase.sums)},
          {m.statistics + phase.first_scratch, unsigned_of(phase.scratch)},
          phase.operations,
          false};
}

std::int32_t call(const Machine& m, std::int64_t f) { return call_with_phases(m, f, m.outer); }
std::int32_t call_on_data(const Machine& m, std::int64_t f) { return call_with_phases(m, f, m.sizes); }
std::int32_t call_on_stored(const Machine& m, std::int64_t f) { return call_with_phases(m, f, m.stored_sizes); }

std::int32_t work_on(const Machine& m, std::size_t k, std::span<const ItemRange> runs, const ItemWork& work) {
  for (const ItemRange& run : runs) {
    if (const std::int32_t status = work.from_priors ? form(m, k, run) : 0) return status;
    if (const std::int32_t status = run_items(m, work.function, run, table_of(m, k, run))) return status;
    ++k;
  }
  return 0;
}

std::int32_t run_items(const Machine& m, std::int64_t f, ItemRange run, lehr_buffer const* table) {
  const std::int64_t integers[] = {run.begin, run.end, m.accuracy.iterations};
  const double reals[] = {m.accuracy.tolerance};
  return call(m, f, table, m.sizes, integers, reals);
}

void invalidate_sums(const Machine& m) {
  for (const PrerequisiteRow& phase : prerequisites_of(*m.model))
    if (phase.valid >= 0) m.view().reals(phase.valid)[0] = 0;
}

std::int32_t prepare(const Machine& m) {
  if (!m.loader) return call(m, m.model->prepare);
  load_items(m, {});
  if (const std::int32_t status = call_on_data(m, m.model->prepare)) return status;
  const StepRow& stage = *batch_stage(*m.model);
  if (stage.data < 0) return 0;
  return each_slice(m, stage, [&](ItemRange slice, ItemRange) { return run_items(m, stage.data, slice, m.table); });
}

void set(const Machine& m, const Weights& w) {
  const double values[] = {w.local_data, w.global_data, w.local, w.global, w.step, w.memory, w.item_parameters};
  for (std::size_t k = 0; k < std::size(values); ++k)
    weights_of(m)[k] = values[k];
  bound_flag(m) = 1;
}

void set_key(const Machine& m, std::uint64_t seed, std::uint64_t chain, std::int64_t steps) {
  std::int64_t* const key = m.view().random_key();
  if (!key) return;  // nothing is drawn
  key[0] = static_cast<std::int64_t>(seed);
  key[1] = static_cast<std::int64_t>(chain);
  key[2] = steps;
}

std::int32_t elbo(const Machine& m, Elbo& out) {
  if (const std::int32_t status = call(m, m.model->elbo)) return status;
  const auto* const x = static_cast<const double*>(m.table[m.model->elbo_buffer]);
  out = {x[0], x[1], x[2], x[3], x[4], x[5]};
  return 0;
}

bool is_possible(double elbo) { return elbo - elbo == 0 && elbo >= kImpossible; }

std::int32_t sweep(const Machine& m, const Plan& plan) {
  for (const StepRow& step : steps_of(*m.model)) {
    if (!visits(*m.model, plan, step)) continue;
    const bool again = plan.scope == SweepScope::all && comes_again(*m.model, step);
    const ElboSumsLeftOut left_out(m, plan.scope == SweepScope::ascent || again);
    count_step(m);
    // A repeated stage would change nothing: the global factors are those with which the items were just inferred.
    const bool items_only = plan.scope == SweepScope::local || plan.scope == SweepScope::stages;
    if (step.refresh && plan.form && items_only && has_single_stage(*m.model)) continue;
    if (const std::int32_t status = update(m, step, plan)) return status;
  }
  return 0;
}

std::int32_t sweep_to_stage(const Machine& m, std::int64_t& step, const StepRow*& stage) {
  stage = nullptr;
  if (step > 0) {
    const StepRow& before = m.model->steps[step - 1];
    if (const std::int32_t status = is_distributable(before) ? finalise_stage(m, before) : 0) return status;
  }
  while (step < m.model->step_count) {
    const StepRow& row = m.model->steps[step++];
    count_step(m);
    const bool distributable = is_distributable(row);
    if (const std::int32_t status = distributable ? open_stage(m, row) : update(m, row, {})) return status;
    if (!distributable) continue;
    stage = &row;
    return 0;
  }
  return 0;
}

std::int32_t sum_data(const Machine& m, std::span<const ItemRange> batch, double scale) {
  const StepRow* const stage = batch_stage(*m.model);
  if (!stage || stage->data < 0) return 0;
  clear(m, data_sums_of(*m.model, *stage));
  for (const ItemRange& run : m.loader ? load_items(m, batch) : batch) {
    if (const std::int32_t status = run_items(m, stage->data, run, m.table)) return status;
  }
  scale_up(m, data_sums_of(*m.model, *stage), scale);
  return 0;
}

std::int32_t sum_statistics(const Machine& m) {
  for (const StepRow& step : steps_of(*m.model)) {
    if (!step.stage || step.sum < 0) continue;
    clear(m, statistics_of(*m.model, step));
    if (const std::int32_t status = visit_all(m, step, {step.sum})) return status;
  }
  return 0;
}

bool may_fall(const Model& m) {
  return std::ranges::any_of(steps_of(m), [](const StepRow& x) { return x.tangent_points == kExpectations; });
}

std::int32_t move_expectations(const Machine& m) {
  for (const StepRow& step : steps_of(*m.model)) {
    if (step.tangent_points != kExpectations) continue;
    if (const std::int32_t status = update(m, step, {})) return status;
  }
  return 0;
}

bool is_logarithmic(const ParameterRow& row) {
  switch (row.parameter) {
    case Parameter::precision:
    case Parameter::rate:
      return row.event_rank < 2;
    case Parameter::df:
    case Parameter::shape_like:
      return true;
    case Parameter::value:
      return row.support == Support::positive;
    default:
      return false;
  }
}

bool stays_positive(const ParameterRow& row) {
  const bool is_real = row.support == Support::real || row.support == Support::vector;
  return is_logarithmic(row) ||
         (row.event_rank < 2 && row.parameter != Parameter::mean && !(row.parameter == Parameter::value && is_real));
}

std::int32_t move_tangent_points(const Machine& m) {
  for (const StepRow& step : steps_of(*m.model)) {
    if (!touches(*m.model, step)) continue;
    if (const std::int32_t status = update(m, step, {})) return status;
  }
  return 0;
}

std::int32_t seed_statistics(const Machine& m, const DeferredValues* deferred) {
  for (const StepRow& step : steps_of(*m.model)) {
    const std::int64_t f = step.seed < 0 ? step.sum : step.seed;
    if (!step.stage || f < 0 || touches(*m.model, step)) continue;
    clear(m, statistics_of(*m.model, step));
    if (const std::int32_t failed = step.seed_updates ? call(m, step.tables) : 0) return failed;
    const std::int32_t status = each_slice(m, step, [&](ItemRange slice, ItemRange items) -> std::int32_t {
      if (!m.stores_all_items()) {
        assign_window(m, {&slice, 1});
        if (const std::int32_t failed = has_single_stage(*m.model) ? form(m, 0, slice) : 0) return failed;
        if (deferred->put(deferred->context, m, slice, items)) {
          if (const std::int32_t failed = run_expectations(m, 0, slice)) return failed;
        }
      }
      return run_items(m, f, slice, table_of(m, 0, slice));
    });
    if (status != 0) return status;
  }
  return 0;
}

bool reads_statistics_first(const Model& m) {
  for (std::int64_t k = 1; k < m.step_count; ++k) {
    if (m.steps[k].stage && !m.steps[k].refresh) return true;
  }
  return false;
}

const StepRow* batch_stage(const Model& m) {
  for (const StepRow& step : steps_of(m)) {
    if (step.stage) return &step;
  }
  return nullptr;
}

std::int32_t infer_items(const Machine& m, SweepScope scope, double scale) {
  constexpr double kTolerance = 1e-12;  // relative change of the ELBO at which the rounds end
  const Plan plan{.scope = scope, .scale = scale};
  std::int64_t steps = 0;
  for (const StepRow& step : steps_of(*m.model))
    steps += visits(*m.model, plan, step) && !step.refresh;
  double before = 0;
  for (std::int64_t round = 0; round < (steps > 1 ? m.accuracy.iterations : 1); ++round) {
    if (const std::int32_t status = sweep(m, plan)) return status;
    if (steps <= 1) return 0;
    Elbo now;
    if (const std::int32_t status = elbo(m, now)) return status;
    if (!is_possible(now.value)) return 0;
    if (round > 0 && std::fabs(now.value - before) <= kTolerance * (1 + std::fabs(now.value))) return 0;
    before = now.value;
  }
  return 0;
}

std::int32_t update_globals(const Machine& m) {
  for (const StepRow& step : steps_of(*m.model)) {
    if (step.stage || step.seeded) continue;
    if (const std::int32_t status = call(m, step.update)) return status;
  }
  constexpr int kSteps = 200;  // enough for points that a local bound lets move by small steps
  for (int k = 0; k < kSteps; ++k) {
    for (const StepRow& step : steps_of(*m.model)) {
      if (step.moves_gradually != kRepeated) continue;
      if (const std::int32_t status = call(m, step.update)) return status;
    }
  }
  return 0;
}

}  // namespace lehr::machine
