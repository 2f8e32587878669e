// Preparation of steps: sums of the data, expectations after lehr_set, and items whose factors are not stored. Also
// sweeps that may lower the ELBO, and what is copied for them.
#include "runtime/embedded/run.h"

#include <cstring>

namespace lehr::embedded {
namespace {

/// Computes the sums of the data alone. If `total` is not 0, the data are a minibatch of so many items, and its sums
/// are scaled up. Returns a status.
std::int32_t prepare(const Run& r, std::int64_t total) {
  State& s = r.s;
  for (std::int64_t k = 0; k < r.m.size_count; ++k)
    s.outer_sizes[k] = s.sizes[k];
  s.scale = 1;
  if (total > 0) {
    s.scale = static_cast<double>(total) / static_cast<double>(s.sizes[r.m.batch_slot]);
    s.outer_sizes[r.m.batch_slot] = total;
  }
  if (const std::int32_t status = call_on_data(r.machine(), r.m.prepare)) return status;
  s.prepared = 1;
  for (std::int64_t k = 0; k < r.m.summed_count && s.scale != 1; ++k)
    r.scale(r.m.summed[k], s.scale);
  return 0;
}

/// The state and its copies, for machine::judge_sweep().
class Copies {
 public:
  explicit Copies(const Run& r) : r_(r), machine_(r.machine()) {}
  const Machine& machine() const { return machine_; }
  void save(Copy to) const {
    each([&](std::int64_t b, std::size_t bytes) { std::memcpy(copy(to, b), r_.s.table[b], bytes); });
  }
  void load(Copy from) const {
    each([&](std::int64_t b, std::size_t bytes) { std::memcpy(r_.s.table[b], copy(from, b), bytes); });
    invalidate_sums(machine_);
  }
  const double* saved(Copy of, std::int64_t b) const { return static_cast<const double*>(copy(of, b)); }
  std::int32_t sweep() const { return machine::sweep(machine_, {.scale = r_.s.scale}); }
  std::int32_t infer(Elbo& out) const {
    const std::int32_t status = infer_items(machine_, SweepScope::local, r_.s.scale);
    return status != 0 ? status : elbo(machine_, out);
  }
  /// Built objects have no other way than that of the sweep.
  template <class Objective>
  bool climb(double, const Objective&, Elbo&) const {
    return false;
  }

 private:
  /// Returns a copy of a buffer.
  lehr_buffer copy(Copy c, std::int64_t b) const {
    return r_.s.copies[static_cast<std::int64_t>(c) * r_.m.buffer_count + b];
  }
  /// Calls f with every buffer of q and its bytes.
  template <class F>
  void each(const F& f) const {
    for (std::int64_t b = 0; b < r_.m.buffer_count; ++b)
      if (is_of_q(r_.m.buffers[b]) && r_.view().length(b) > 0) f(b, 8 * r_.view().length(b));
  }

  const Run& r_;
  const Machine machine_;
};

}  // namespace

std::int32_t reset_items(const Run& r) {
  set(r.machine(), {});
  r.s.statistics_valid = r.s.items_changed = 0;
  return items_to_priors(r.machine());
}

std::int32_t begin(const Model& m, void* memory, const DataSet* data, std::int64_t total, State*& s) {
  if (const std::int32_t status = open(m, memory, s)) return status;
  s->sweeping = 0;
  if (const std::int32_t status = adopt(m, *s, data)) return status;
  const Run r{m, *s};
  if (total > 0 && total < s->sizes[m.batch_slot]) return kArgument;
  const double items = total > 0 ? static_cast<double>(s->sizes[m.batch_slot]) : 1;
  const double scale = total > 0 ? static_cast<double>(total) / items : 1;
  s->swept = 0;
  set(r.machine(), {});
  if (!s->prepared || scale != s->scale) {
    if (const std::int32_t status = prepare(r, total)) {
      s->has_data = 0;  // data that cannot be prepared are refused
      return status;
    }
  }
  if (!s->started) return kNotStarted;
  if (s->expectations_stale) {
    if (const std::int32_t status = call_on_data(r.machine(), m.expectations)) return status;
    s->expectations_stale = 0;
  }
  return s->items_changed ? reset_items(r) : 0;
}

/// Data may be other ones at the same address. So a state whose ELBO is not known is judged by its items' optimum, but
/// the sweep starts from the state itself.
std::int32_t begin_damped(const Run& r, bool goes_on) {
  if (!may_fall(r.m)) return 0;
  Copies copies(r);
  State& s = r.s;
  if (s.fresh) {
    if (const std::int32_t status = start_damped(copies, s.reached)) return status;
    s.fresh = 0;
  } else if (goes_on) {
    if (const std::int32_t status = elbo(r.machine(), s.reached)) return status;
  } else {
    copies.save(Copy::before);
    if (copies.infer(s.reached) != 0 || !is_possible(s.reached.value)) s.reached = {.value = -INFINITY};
    copies.load(Copy::before);
  }
  copies.save(Copy::before);
  return 0;
}

std::int32_t end_damped(const Run& r, std::int32_t status, double temperature, bool entropy) {
  if (!may_fall(r.m)) return status;
  Copies copies(r);
  Elbo now;
  if (status == 0) status = elbo(r.machine(), now);
  return judge_sweep(copies, status, now, r.s.reached,
                     [&](const Elbo& x) {
                       return entropy ? x.value + (temperature - 1) * x.entropy
                                      : x.value - (1 - 1 / temperature) * x.data_energy;
                     })
      .status;
}

std::int32_t sum_if_invalid(const Run& r) {
  return reads_statistics_first(r.m) && !r.s.statistics_valid ? sum_statistics(r.machine()) : 0;
}

}  // namespace lehr::embedded
