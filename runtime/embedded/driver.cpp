// Sweeps, steps and results of built objects: each function opens the state, checks its arguments, prepares what is
// invalid, runs the machine, and updates the flags of the state.
#include "runtime/embedded/driver.h"

#include "runtime/embedded/run.h"
#include "runtime/machine/random.h"
#include "runtime/machine/start.h"
#include "runtime/machine/temperature.h"

namespace lehr::embedded {
namespace {

/// Makes a random start from this seed. Returns a status.
std::int32_t start(const Run& r, std::uint64_t seed) {
  const auto start_as = [&](StartKind kind) {
    Rng rng(seed, 0);
    return machine::start(r.machine(), {.kind = kind, .order = r.s.order}, rng);
  };
  // If the start fails, other kinds follow, as in a fit, but only those that need no clustering.
  if (const std::int32_t status = start_as(StartKind::seeds)) {
    if (start_as(StartKind::means) != 0 && start_as(StartKind::flat) != 0) return status;
  }
  r.s.started = r.s.fresh = 1;
  r.s.statistics_valid = r.s.items_changed = 0;
  return 0;
}

/// Makes one sweep with these weights. `passes` limits the iterations over the local blocks of an item; 0: the accuracy
/// of the state does. Returns a status.
std::int32_t weighted_sweep(const Run& r, const Weights& w, std::int64_t passes = 0) {
  if (const std::int32_t status = sum_if_invalid(r)) return status;
  set(r.machine(), w);
  Machine machine = r.machine();
  if (passes > 0) machine.accuracy.iterations = passes;
  const std::int32_t status = sweep(machine, {.scale = r.s.scale});
  set(r.machine(), {});
  r.s.swept = r.s.statistics_valid = status == 0;
  return status;
}

/// Makes one sweep with these weights at a temperature (see end_damped()), and a shorter one where it would lower the
/// objective. Returns a status.
std::int32_t step(const Model& m, void* memory, const DataSet* data, const Weights& w, double temperature,
                  bool entropy) {
  State* s = nullptr;
  const bool goes_on = !data && open(m, memory, s) == kOk && s->swept;
  if (const std::int32_t status = begin(m, memory, data, 0, s)) return status;
  const Run r{m, *s};
  if (const std::int32_t status = sum_if_invalid(r)) return status;
  if (const std::int32_t status = begin_damped(r, goes_on)) return status;
  set(r.machine(), w);
  const std::int32_t status = end_damped(r, sweep(r.machine(), {.scale = s->scale}), temperature, entropy);
  set(r.machine(), {});
  s->swept = s->statistics_valid = status == 0;
  return status;
}

/// Computes the ELBO of what was last inferred; kNotSwept or kNotFinite if there is none.
std::int32_t last_elbo(const Run& r, Elbo& out) {
  if (!r.s.swept) return kNotSwept;
  if (const std::int32_t status = elbo(r.machine(), out)) return status;
  return is_possible(out.value) ? kOk : kNotFinite;
}

/// Writes one part of the ELBO of the state. Returns a status.
std::int32_t part_of_bound(const Model* m, void* memory, double Elbo::*part, double* nats) {
  State* s = nullptr;
  Elbo parts;
  if (!nats) return kNull;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (const std::int32_t status = last_elbo({*m, *s}, parts)) return status;
  *nats = parts.*part;
  return kOk;
}

/// Infers the items in memory until the ELBO converges. Returns a status.
std::int32_t infer_present(const Run& r) {
  const std::int32_t status = infer_items(r.machine(), SweepScope::local, r.s.scale);
  r.s.swept = r.s.statistics_valid = status == 0;
  return status;
}

/// Returns the numbers of one scalar draw: 1, or for a category its probabilities, which are one-hot in a draw.
std::size_t values_of_element(const View& v, const ParameterRow& row) {
  const BufferRow& buffer = v.model.buffers[row.buffer];
  return row.support == Support::category ? unsigned_of(v.extent(v.model.axes[buffer.first_axis + buffer.axes - 1]))
                                          : 1;
}

/// Infers the items of a data set from their priors. Returns a status.
std::int32_t infer(const Model& m, void* memory, const DataSet* data, State*& s) {
  if (const std::int32_t status = begin(m, memory, data, 0, s)) return status;
  const Run r{m, *s};
  if (const std::int32_t status = reset_items(r)) return status;
  return infer_present(r);
}

}  // namespace
}  // namespace lehr::embedded

using namespace lehr::embedded;

extern "C" {

const Model* lehr_model(const Model* m) { return m; }

std::uint64_t lehr_abi(const Model* m) { return m->hash; }

std::size_t lehr_state_bytes(const Model* m, const GivenSizes* sizes) { return state_bytes(*m, sizes); }

std::int32_t lehr_init(const Model* m, void* memory, std::size_t bytes, const GivenSizes* sizes, const DataSet* data,
                       std::uint64_t seed) {
  State* s = nullptr;
  if (const std::int32_t status = create(*m, memory, bytes, sizes, s)) return status;
  begin_priors({*m, *s});
  if (!data) return kOk;
  const std::int32_t status = begin(*m, memory, data, 0, s);
  return status == kNotStarted ? start({*m, *s}, seed) : status;
}

std::int32_t lehr_set_accuracy(const Model* m, void* memory, std::int64_t iterations, double tolerance) {
  State* s = nullptr;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (iterations < 1 || !(tolerance >= 0)) return kArgument;
  s->accuracy = {iterations, tolerance};
  return kOk;
}

std::int32_t lehr_step(const Model* m, void* memory, const DataSet* data, double b) {
  return is_positive(b) ? step(*m, memory, data, {.local_data = b, .global_data = b}, 1 / b, false) : kArgument;
}

std::int32_t lehr_entropy_step(const Model* m, void* memory, const DataSet* data, double b) {
  return is_positive(b) ? step(*m, memory, data, {.local = b, .global = b}, 1 / b, true) : kArgument;
}

std::int32_t lehr_svi_step(const Model* m, void* memory, const DataSet* batch, std::int64_t total, double rho,
                           double b) {
  if (m->batch_slot < 0) return kNoBatches;
  if (!is_positive(b) || !(rho > 0 && rho <= 1) || total < 1 || total > std::int64_t{1} << 47) return kArgument;
  State* s = nullptr;
  if (const std::int32_t status = begin(*m, memory, batch, total, s)) return status;
  const Run r{*m, *s};
  if (const std::int32_t status = reset_items(r)) return status;
  const Weights w{.local_data = b, .global_data = b, .step = rho};
  set(r.machine(), w);
  // A block that comes before the items needs the statistics of this minibatch, so its items are inferred first.
  if (reads_statistics_first(*m)) {
    if (const std::int32_t status = infer_present(r)) return status;
  }
  return weighted_sweep(r, w);
}

std::int32_t lehr_infer(const Model* m, void* memory, const DataSet* data) {
  State* s = nullptr;
  return infer(*m, memory, data, s);
}

std::int32_t lehr_gibbs_step(const Model* m, void* memory, const DataSet* data, std::uint64_t seed, std::uint64_t chain,
                             std::int64_t sweeps, double b) {
  if (!is_positive(b) || sweeps < 0 || sweeps > std::int64_t{1} << 40) return kArgument;
  State* s = nullptr;
  if (const std::int32_t status = begin(*m, memory, data, 0, s)) return status;
  const Run r{*m, *s};
  set_key(r.machine(), seed, chain, sweeps * m->step_count);
  return weighted_sweep(r, {.local_data = b, .global_data = b}, 1);
}

std::size_t lehr_draw_count(const Model* m, void* memory) {
  State* s = nullptr;
  if (open(*m, memory, s) != kOk) return 0;
  const View v = view_of(*m, *s);
  std::size_t count = 0;
  for (const ParameterRow& row : parameters_of(*m)) {
    if (!row.auxiliary) count += v.length(row.buffer) / values_of_element(v, row);
  }
  return count;
}

std::int32_t lehr_draw(const Model* m, void* memory, double* values, std::size_t count) {
  if (!values) return kNull;
  State* s = nullptr;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (!s->swept) return kNotSwept;
  if (count != lehr_draw_count(m, memory)) return kSize;
  const View v = view_of(*m, *s);
  const std::int64_t* const key = v.random_key();
  for (const ParameterRow& row : parameters_of(*m)) {
    if (row.auxiliary) continue;
    const std::span<const double> x = v.reals(row.buffer);
    const std::size_t n = values_of_element(v, row);
    for (std::size_t i = 0; i < x.size(); i += n) {
      const auto element = static_cast<std::int64_t>(i / n);
      *values++ = row.support == Support::category
                      ? static_cast<double>(value_of_copy(x.subspan(i, n), key, row.buffer, element))
                      : x[i];
    }
  }
  return kOk;
}

std::int32_t lehr_elbo(const Model* m, void* memory, double* nats) {
  return part_of_bound(m, memory, &Elbo::value, nats);
}

std::int32_t lehr_data_energy(const Model* m, void* memory, double* nats) {
  return part_of_bound(m, memory, &Elbo::data_energy, nats);
}

std::int32_t lehr_score(const Model* m, void* memory, const DataSet* data, double* nats) {
  State* s = nullptr;
  Elbo parts;
  if (!nats) return kNull;
  if (const std::int32_t status = infer(*m, memory, data, s)) return status;
  if (const std::int32_t status = last_elbo({*m, *s}, parts)) return status;
  *nats = parts.data_energy + parts.local_prior + parts.local_entropy;
  return kOk;
}

std::int32_t lehr_item_energies(const Model* m, void* memory, const DataSet* data, double* nats, std::size_t count) {
  if (!nats) return kNull;
  State* s = nullptr;
  if (const std::int32_t status = begin(*m, memory, data, 0, s)) return status;
  const Run r{*m, *s};
  const std::span<const double> energies = r.view().reals(m->item_energies);
  const std::span<const double> inverse = r.view().reals(m->item_inverse);
  if (count != energies.size()) return kSize;
  r.scale(m->item_energies, 0);
  if (const std::int32_t status = sweep(r.machine(), {.scope = SweepScope::local, .scale = s->scale})) return status;
  s->swept = s->statistics_valid = 1;
  const ItemRange all{0, static_cast<std::int64_t>(count)};
  if (const std::int32_t status = run_items(r.machine(), m->item_outer, all, s->table)) return status;
  for (std::size_t i = 0; i < count; ++i)
    nats[i] = energies[i] / inverse[i];
  return kOk;
}

std::int32_t lehr_temper(const Model*, const double* temperatures, const double* log_normalisers, std::int64_t levels,
                         double energy, double* posterior, double* inverse_temperature) {
  if (!temperatures || !log_normalisers || !inverse_temperature) return kNull;
  if (levels < 1 || energy - energy != 0) return kArgument;
  for (std::int64_t k = 0; k < levels; ++k) {
    if (!is_positive(temperatures[k]) || log_normalisers[k] - log_normalisers[k] != 0) return kArgument;
  }
  const std::size_t n = unsigned_of(levels);
  *inverse_temperature = temperature_factor({temperatures, n}, {log_normalisers, n}, energy, posterior);
  return kOk;
}

const double* lehr_get(const Model* m, std::int64_t parameter, void* memory, std::size_t* count) {
  State* s = nullptr;
  const bool good = open(*m, memory, s) == kOk;
  const std::int64_t buffer = m->parameters[parameter].buffer;
  if (count) *count = good ? view_of(*m, *s).length(buffer) : 0;
  return good ? static_cast<const double*>(s->table[buffer]) : nullptr;
}

std::int32_t lehr_set(const Model* m, std::int64_t parameter, void* memory, const double* values, std::size_t count) {
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
  s->swept = s->statistics_valid = s->sweeping = 0;
  return kOk;
}

}  // extern "C"
