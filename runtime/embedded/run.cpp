// Preparation of steps: sums of the data, expectations after lehr_set, and items whose factors are not stored.
#include "runtime/embedded/run.h"

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

std::int32_t sum_if_invalid(const Run& r) {
  return reads_statistics_first(r.m) && !r.s.statistics_valid ? sum_statistics(r.machine()) : 0;
}

}  // namespace lehr::embedded
