// Sweeps whose items the caller updates range by range, on threads of its own. A range has its own table, scratch and
// sums in memory that the caller provides; adding it to the state adds the sums. A counter of stages
// (State::stage_number) ties a range to the stage that it was computed for.
#include <cstring>

#include "runtime/embedded/driver.h"
#include "runtime/embedded/run.h"

namespace lehr::embedded {
namespace {

constexpr std::uint64_t kMagic = 0x6c65687252414e47;  // "lehrRANG"

/// The header of a range, at the first 64-byte boundary of the caller's memory. Its table, sums and scratch follow.
struct Range {
  std::uint64_t magic;        // marks a range whose sums were not added yet
  const State* state;         // the state that it belongs to
  std::int64_t stage_number,  // State::stage_number of the stage that it was computed for
      items;                  // how many items it has
  lehr_buffer* table;         // the state's table with the range's own sums and scratch
};

/// Returns the header of the range in this memory.
Range* range_in(void* memory) { return reinterpret_cast<Range*>(aligned(reinterpret_cast<std::uintptr_t>(memory))); }

/// Returns the bytes of a range from the boundary on. If `r` is not null, it also writes its table and zeroes its sums
/// and scratch.
std::uint64_t lay_out(const Model& m, const State& s, const StepRow& stage, Range* r) {
  const View largest{m, nullptr, s.capacity};
  std::uint64_t at = aligned(sizeof(Range));
  const auto take = [&](std::uint64_t bytes) {
    unsigned char* const here = r ? reinterpret_cast<unsigned char*>(r) + at : nullptr;
    at += aligned(bytes);
    return here;
  };
  const std::uint64_t table = unsigned_of(m.buffer_count) * sizeof(lehr_buffer);
  auto* const entries = reinterpret_cast<lehr_buffer*>(take(table));
  if (r) {
    r->table = entries;
    std::memcpy(entries, s.table, table);
  }
  for (const std::span<const std::int64_t> own : {statistics_of(m, stage), scratch_of(m, stage)}) {
    for (const std::int64_t b : own) {
      unsigned char* const here = take(static_cast<std::uint64_t>(buffer_bytes(largest, m.buffers[b])));
      if (!r) continue;
      entries[b] = here;
      std::memset(here, 0, 8 * view_of(m, s).length(b));
    }
  }
  return at;
}

/// Ends the sweep of the caller, and returns `status`.
std::int32_t leave(const Run& r, std::int32_t status) {
  r.s.sweeping = 0;
  set(r.machine(), {});
  return status;
}

}  // namespace
}  // namespace lehr::embedded

using namespace lehr::embedded;

extern "C" {

std::int32_t lehr_step_begin(const Model* m, void* memory, const DataSet* data, double b) {
  if (!is_positive(b)) return kArgument;
  State* s = nullptr;
  const bool goes_on = !data && open(*m, memory, s) == kOk && s->swept;
  if (const std::int32_t status = begin(*m, memory, data, 0, s)) return status;
  const Run r{*m, *s};
  if (const std::int32_t status = sum_if_invalid(r)) return status;
  if (const std::int32_t status = begin_damped(r, goes_on)) return status;
  s->statistics_valid = 0;  // statistics are incomplete until the end of the sweep
  set(r.machine(), {.local_data = b, .global_data = b});
  s->temperature = 1 / b;
  s->sweeping = 1;
  s->next_step = s->items = s->items_left = 0;
  return kOk;
}

std::int32_t lehr_step_next(const Model* m, void* memory, std::int64_t* items) {
  State* s = nullptr;
  if (!items) return kNull;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (!s->sweeping) return kNoSweep;
  if (s->items_left != 0) return kArgument;
  const Run r{*m, *s};
  const StepRow* stage = nullptr;
  std::int32_t status = sweep_to_stage(r.machine(), s->next_step, stage);
  if (status == 0) {
    ++s->stage_number;
    *items = s->items = s->items_left = stage ? r.view().extent(stage->items) : 0;
    if (stage) return kOk;
  }
  *items = 0;
  status = end_damped(r, status, s->temperature, false);
  s->swept = s->statistics_valid = status == 0;
  return leave(r, status);
}

std::size_t lehr_range_bytes(const Model* m, void* memory) {
  State* s = nullptr;
  if (open(*m, memory, s) != kOk) return 0;
  std::uint64_t most = aligned(sizeof(Range));
  for (const StepRow& step : steps_of(*m)) {
    const std::uint64_t bytes = step.stage && step.operations > 0 ? lay_out(*m, *s, step, nullptr) : 0;
    if (bytes > most) most = bytes;
  }
  return most + kAlignment - 1;
}

std::int32_t lehr_step_items(const Model* m, void* memory, void* range, std::size_t bytes, std::int64_t from,
                             std::int64_t to) {
  State* s = nullptr;
  if (!range) return kNull;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (!s->sweeping || s->items == 0) return kNoSweep;
  if (from < 0 || from > to || to > s->items) return kArgument;
  if (bytes < lehr_range_bytes(m, memory)) return kShort;
  const StepRow& stage = m->steps[s->next_step - 1];
  Range* const r = range_in(range);
  lay_out(*m, *s, stage, r);
  Machine machine = machine_of(*m, *s);
  machine.table = r->table;
  const std::int32_t status = run_items(machine, stage.update, {from, to}, r->table);
  r->magic = status == 0 ? kMagic : 0;
  r->state = s;
  r->stage_number = s->stage_number;
  r->items = to - from;
  return status;
}

std::int32_t lehr_step_add(const Model* m, void* memory, void* range) {
  State* s = nullptr;
  if (!range) return kNull;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (!s->sweeping || s->items == 0) return kNoSweep;
  Range* const r = range_in(range);
  if (r->magic != kMagic || r->state != s || r->stage_number != s->stage_number || r->items > s->items_left)
    return kArgument;
  for (const std::int64_t b : statistics_of(*m, m->steps[s->next_step - 1])) {
    const std::span<double> sums = view_of(*m, *s).reals(b);
    const auto* const more = static_cast<const double*>(r->table[b]);
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += more[k];
  }
  s->items_left -= r->items;
  r->magic = 0;
  return kOk;
}

}  // extern "C"
