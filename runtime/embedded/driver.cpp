// Sweeps, steps and what is read from them. The loops of runtime/engine do the same with more to choose from.
#include "runtime/embedded/driver.h"

#include <cmath>

#include "runtime/embedded/start.h"

namespace lehr::embedded {
namespace {

/// Factors on the naturals: loops::Weight in the compiler; its `memory` stays 0.
struct Weights {
  double local_data = 1, global_data = 1, local = 1, global = 1, step = 1;
};

/// A state that is at work.
struct Run {
  const Model& m;
  State& s;

  View view() const { return view_of(m, s); }

  /// Updates outside the items, tables and the bound see as many items as those that are there stand for.
  std::int32_t call(std::int64_t function) const {
    return m.functions[function](s.table, s.outer_sizes, nullptr, nullptr);
  }
  /// Everything else sees the items that are there.
  std::int32_t on_items(const StepRow& stage, std::int64_t function) const {
    const std::int64_t integers[] = {0, view().extent(stage.items), s.local_iterations};
    const double reals[] = {s.local_tolerance};
    return m.functions[function](s.table, s.sizes, integers, reals);
  }
  std::int32_t on_data(std::int64_t function) const {
    return m.functions[function](s.table, s.sizes, nullptr, nullptr);
  }

  void set(const Weights& w) const {
    double* const to = static_cast<double*>(s.table[m.weights_buffer]);
    to[0] = w.local_data;
    to[1] = w.global_data;
    to[2] = w.local;
    to[3] = w.global;
    to[4] = w.step;
  }

  void fill(std::int64_t buffer, double value) const {
    for (double& x : view().reals(buffer))
      x = value;
  }
  void scale(std::int64_t buffer, double by) const {
    for (double& x : view().reals(buffer))
      x *= by;
  }
  void clear(const StepRow& stage) const {
    for (std::int64_t k = 0; k < stage.statistics; ++k)
      fill(m.statistics[stage.first_statistic + k], 0);
  }
  /// Sums over a batch stand for those over all items.
  void scale_up(const StepRow& stage) const {
    if (s.scale == 1 || !stage.batched) return;
    for (std::int64_t k = 0; k < stage.statistics; ++k)
      scale(m.statistics[stage.first_statistic + k], s.scale);
  }

  std::span<const StepRow> steps() const { return {m.steps, static_cast<std::size_t>(m.step_count)}; }
};

std::int32_t update(const Run& r, const StepRow& step) {
  if (!step.stage) return r.call(step.update);
  r.clear(step);
  if (const std::int32_t status = r.call(step.tables)) return status;
  const std::int32_t status = r.on_items(step, step.update);
  r.scale_up(step);
  return status;
}

std::int32_t sweep(const Run& r, bool locals_only) {
  for (const StepRow& step : r.steps()) {
    if (locals_only && !step.local) continue;
    if (const std::int32_t status = update(r, step)) return status;
  }
  return 0;
}

/// Statistics of the stored factors as they are, or of the items that were seeded.
std::int32_t sum_statistics(const Run& r, bool seeded, bool stored) {
  for (const StepRow& step : r.steps()) {
    const std::int64_t f = !seeded || (step.seed < 0 && stored) ? step.sum : step.seed;
    if (!step.stage || f < 0) continue;
    r.clear(step);
    if (const std::int32_t status = r.on_items(step, f)) return status;
    r.scale_up(step);
  }
  return 0;
}

/// Sums of the data alone, of `total` items where that is not 0.
std::int32_t prepare(const Run& r, std::int64_t total) {
  State& s = r.s;
  for (std::int64_t k = 0; k < r.m.size_count; ++k)
    s.outer_sizes[k] = s.sizes[k];
  s.scale = 1;
  if (total > 0) {
    s.scale = static_cast<double>(total) / static_cast<double>(s.sizes[r.m.batch_slot]);
    s.outer_sizes[r.m.batch_slot] = total;
  }
  if (const std::int32_t status = r.on_data(r.m.prepare)) return status;
  for (std::int64_t k = 0; k < r.m.summed_count && s.scale != 1; ++k)
    r.scale(r.m.summed[k], s.scale);
  return 0;
}

/// Factors of items that were never seen: their priors.
std::int32_t forget_items(const Run& r) {
  r.set({});
  for (const StepRow& step : r.steps()) {
    if (step.fresh < 0) continue;
    if (const std::int32_t status = r.on_items(step, step.fresh)) return status;
  }
  if (r.m.initialise_local >= 0) {
    if (const std::int32_t status = r.on_data(r.m.initialise_local)) return status;
  }
  r.s.sums_fresh = r.s.other_items = 0;
  bool stale = repair(r.view(), true);
  for (std::int64_t k = 0; k < r.m.parameter_count; ++k)
    stale = stale || (r.m.parameters[k].local && r.m.parameters[k].chain);  // its pairs
  if (!stale) return 0;
  for (const StepRow& step : r.steps()) {
    if (step.expectations < 0) continue;
    if (const std::int32_t status = r.on_items(step, step.expectations)) return status;
  }
  return r.m.initialise_local >= 0 ? r.on_data(r.m.expectations) : 0;
}

/// A block that comes before the items of some stage reads the statistics of their factors.
bool reads_statistics_first(const Model& m) {
  for (std::int64_t k = 1; k < m.step_count; ++k) {
    if (m.steps[k].stage && !m.steps[k].refresh) return true;
  }
  return false;
}

/// One stage holds all local factors, and stores some.
bool one_stage(const Run& r) {
  bool out = false;
  for (const StepRow& step : r.steps())
    out = out || step.fresh >= 0;
  return out;
}

/// A start is its global factors, where one stage holds all others: those of the items follow from them.
std::int32_t follow_items(const Run& r) {
  if (!one_stage(r)) return 0;
  if (const std::int32_t status = forget_items(r)) return status;
  return reads_statistics_first(r.m) ? sweep(r, true) : 0;
}

std::int32_t start(const Run& r, std::uint64_t seed) {
  Rng rng(seed, 0);
  const Start start{r.view(), StartKind::seeds, nullptr, r.s.order};
  if (const std::int32_t status = r.on_data(r.m.initialise)) return status;
  start_factors(start, rng);
  if (one_stage(r)) {
    if (const std::int32_t status = r.on_data(r.m.expectations)) return status;
    if (const std::int32_t status = forget_items(r)) return status;
  }
  const bool stored = start_elements(start, rng);
  if (const std::int32_t status = r.on_data(r.m.expectations)) return status;
  const bool picked = start_items(start, rng);
  if (stored || picked) {
    if (const std::int32_t status = sum_statistics(r, true, stored)) return status;
    for (const StepRow& step : r.steps()) {
      if (step.stage || step.seeded) continue;
      if (const std::int32_t status = r.call(step.update)) return status;
    }
  }
  if (const std::int32_t status = follow_items(r)) return status;
  r.s.started = 1;
  r.s.other_items = 0;
  return 0;
}

/// What every step begins with: the state, the data, and everything that follows from them.
std::int32_t begin(const Model& m, void* memory, const DataSet* data, std::int64_t total, State*& s) {
  if (const std::int32_t status = open(m, memory, s)) return status;
  bool fresh = false;
  if (const std::int32_t status = adopt(m, *s, data, fresh)) return status;
  const Run r{m, *s};
  if (total > 0 && total < s->sizes[m.batch_slot]) return kArgument;
  const double items = total > 0 ? static_cast<double>(s->sizes[m.batch_slot]) : 1;
  const double scale = total > 0 ? static_cast<double>(total) / items : 1;
  s->swept = 0;
  r.set({});
  if (fresh || scale != s->scale) {
    if (const std::int32_t status = prepare(r, total)) {
      s->has_data = 0;
      return status;
    }
  }
  if (!s->started) return kNotStarted;
  if (s->expectations_stale) {
    if (const std::int32_t status = r.on_data(m.expectations)) return status;
    s->expectations_stale = 0;
  }
  return s->other_items ? forget_items(r) : 0;
}

std::int32_t weighted_sweep(const Run& r, const Weights& w) {
  if (reads_statistics_first(r.m) && !r.s.sums_fresh) {
    if (const std::int32_t status = sum_statistics(r, false, false)) return status;
  }
  r.set(w);
  const std::int32_t status = sweep(r, false);
  r.set({});
  r.s.swept = r.s.sums_fresh = status == 0;
  return status;
}

bool is_positive(double x) { return x > 0 && x - x == 0; }

/// The bound and its parts as they are: loops::ElboPart in the compiler.
std::int32_t bound(const Run& r, const double*& parts) {
  constexpr double kImpossible = -1e200;  // logarithms of 0 stand as a huge negative number
  if (!r.s.swept) return kNotSwept;
  if (const std::int32_t status = r.call(r.m.elbo)) return status;
  parts = static_cast<const double*>(r.s.table[r.m.elbo_buffer]);
  return parts[0] - parts[0] == 0 && parts[0] >= kImpossible ? kOk : kNotFinite;
}

std::int32_t part_of_bound(const Model* m, void* memory, int part, double* nats) {
  State* s = nullptr;
  const double* parts = nullptr;
  if (!nats) return kNull;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (const std::int32_t status = bound({*m, *s}, parts)) return status;
  *nats = parts[part];
  return kOk;
}

/// Steps of the items alone; where there are several, until the bound has settled.
std::int32_t infer_items(const Run& r) {
  constexpr int kPasses = 100;
  constexpr double kSettled = 1e-10;
  int steps = 0;
  for (const StepRow& step : r.steps())
    steps += step.local && !step.refresh;
  double before = 0;
  for (int pass = 0; pass < (steps > 1 ? kPasses : 1); ++pass) {
    if (const std::int32_t status = sweep(r, true)) return status;
    r.s.swept = r.s.sums_fresh = 1;
    const double* parts = nullptr;
    if (steps <= 1 || bound(r, parts) != kOk) return 0;
    const double now = parts[0];
    if (pass > 0 && std::fabs(now - before) <= kSettled * (1 + std::fabs(now))) return 0;
    before = now;
  }
  return 0;
}

std::int32_t infer(const Model& m, void* memory, const DataSet* data, State*& s) {
  if (const std::int32_t status = begin(m, memory, data, 0, s)) return status;
  const Run r{m, *s};
  if (const std::int32_t status = forget_items(r)) return status;
  return infer_items(r);
}

}  // namespace
}  // namespace lehr::embedded

using namespace lehr::embedded;

extern "C" {

std::uint64_t lehr_abi(const Model* m) { return m->hash; }

std::size_t lehr_state_bytes(const Model* m, const GivenSizes* sizes) { return state_bytes(*m, sizes); }

std::int32_t lehr_init(const Model* m, void* memory, std::size_t bytes, const GivenSizes* sizes,
                       const DataSet* data, std::uint64_t seed) {
  State* s = nullptr;
  if (const std::int32_t status = create(*m, memory, bytes, sizes, s)) return status;
  if (!data) return kOk;
  const std::int32_t status = begin(*m, memory, data, 0, s);
  return status == kNotStarted ? start({*m, *s}, seed) : status;
}

std::int32_t lehr_set_accuracy(const Model* m, void* memory, std::int64_t iterations, double tolerance) {
  State* s = nullptr;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (iterations < 1 || !(tolerance >= 0)) return kArgument;
  s->local_iterations = iterations;
  s->local_tolerance = tolerance;
  return kOk;
}

std::int32_t lehr_step(const Model* m, void* memory, const DataSet* data, double b) {
  if (!is_positive(b)) return kArgument;
  State* s = nullptr;
  if (const std::int32_t status = begin(*m, memory, data, 0, s)) return status;
  return weighted_sweep({*m, *s}, {.local_data = b, .global_data = b});
}

std::int32_t lehr_entropy_step(const Model* m, void* memory, const DataSet* data, double b) {
  if (!is_positive(b)) return kArgument;
  State* s = nullptr;
  if (const std::int32_t status = begin(*m, memory, data, 0, s)) return status;
  return weighted_sweep({*m, *s}, {.local = b, .global = b});
}

std::int32_t lehr_svi_step(const Model* m, void* memory, const DataSet* batch, std::int64_t total, double rho,
                           double b) {
  if (m->batch_slot < 0) return kNoBatches;
  if (!is_positive(b) || !(rho > 0 && rho <= 1) || total < 1 || total > std::int64_t{1} << 47)
    return kArgument;
  State* s = nullptr;
  if (const std::int32_t status = begin(*m, memory, batch, total, s)) return status;
  const Run r{*m, *s};
  if (const std::int32_t status = forget_items(r)) return status;
  const Weights w{.local_data = b, .global_data = b, .step = rho};
  r.set(w);
  if (reads_statistics_first(*m)) {
    if (const std::int32_t status = infer_items(r)) return status;
  }
  return weighted_sweep(r, w);
}

std::int32_t lehr_infer(const Model* m, void* memory, const DataSet* data) {
  State* s = nullptr;
  return infer(*m, memory, data, s);
}

std::int32_t lehr_elbo(const Model* m, void* memory, double* nats) {
  return part_of_bound(m, memory, 0, nats);
}

std::int32_t lehr_data_energy(const Model* m, void* memory, double* nats) {
  return part_of_bound(m, memory, 1, nats);
}

std::int32_t lehr_score(const Model* m, void* memory, const DataSet* data, double* nats) {
  State* s = nullptr;
  const double* parts = nullptr;
  if (!nats) return kNull;
  if (const std::int32_t status = infer(*m, memory, data, s)) return status;
  if (const std::int32_t status = bound({*m, *s}, parts)) return status;
  *nats = parts[1] + parts[2];
  return kOk;
}

std::int32_t lehr_item_energies(const Model* m, void* memory, const DataSet* data, double* nats,
                                std::size_t count) {
  if (!nats) return kNull;
  State* s = nullptr;
  if (const std::int32_t status = begin(*m, memory, data, 0, s)) return status;
  const Run r{*m, *s};
  const std::span<const double> energies = r.view().reals(m->item_energies);
  const std::span<const double> inverse = r.view().reals(m->item_inverse);
  if (count != energies.size()) return kSize;
  r.fill(m->item_energies, 0);
  if (const std::int32_t status = sweep(r, true)) return status;
  s->swept = s->sums_fresh = 1;
  const std::int64_t range[] = {0, static_cast<std::int64_t>(count)};
  if (const std::int32_t status = m->functions[m->item_outer](s->table, s->sizes, range, nullptr))
    return status;
  for (std::size_t i = 0; i < count; ++i)
    nats[i] = energies[i] / inverse[i];
  return kOk;
}

/// r_m proportional to exp(energy / T_m - log C(T_m)), and its E[1/T]: runtime/engine/temper.h.
std::int32_t lehr_temper(const Model*, const double* temperatures, const double* log_normalisers,
                         std::int64_t levels, double energy, double* posterior, double* inverse_temperature) {
  if (!temperatures || !log_normalisers || !inverse_temperature) return kNull;
  if (levels < 1 || energy - energy != 0) return kArgument;
  double top = -1e308;
  for (std::int64_t k = 0; k < levels; ++k) {
    if (!is_positive(temperatures[k]) || log_normalisers[k] - log_normalisers[k] != 0) return kArgument;
    const double log_r = energy / temperatures[k] - log_normalisers[k];
    top = top < log_r ? log_r : top;
  }
  double total = 0, inverse = 0;
  for (std::int64_t k = 0; k < levels; ++k) {
    const double r = std::exp(energy / temperatures[k] - log_normalisers[k] - top);
    total += r;
    inverse += r / temperatures[k];
    if (posterior) posterior[k] = r;
  }
  for (std::int64_t k = 0; posterior && k < levels; ++k)
    posterior[k] /= total;
  *inverse_temperature = inverse / total;
  return kOk;
}

const double* lehr_get(const Model* m, std::int64_t parameter, void* memory, std::size_t* count) {
  State* s = nullptr;
  const bool good = open(*m, memory, s) == kOk;
  const std::int64_t buffer = m->parameters[parameter].buffer;
  if (count) *count = good ? view_of(*m, *s).length(buffer) : 0;
  return good ? static_cast<const double*>(s->table[buffer]) : nullptr;
}

std::int32_t lehr_set(const Model* m, std::int64_t parameter, void* memory, const double* values,
                      std::size_t count) {
  State* s = nullptr;
  if (!values) return kNull;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  const std::span<double> to = view_of(*m, *s).reals(m->parameters[parameter].buffer);
  if (count != to.size()) return kSize;
  for (std::size_t k = 0; k < count; ++k) {
    if (values[k] - values[k] != 0) return kData;
  }
  for (std::size_t k = 0; k < count; ++k)
    to[k] = values[k];
  s->expectations_stale = 1;
  s->swept = s->sums_fresh = 0;
  return kOk;
}

}  // extern "C"
