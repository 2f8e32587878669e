// The layout of a state in the caller's memory, and the adoption of data sets. Sizes that are given are capacities;
// each data set then has sizes of its own up to these.
#include "runtime/embedded/state.h"

#include <cstring>

#include "runtime/machine/start.h"

namespace lehr::embedded {
namespace {

constexpr std::uint64_t kMagic = 0x6c65687253544154;  // "lehrSTAT"

/// Returns the 8-byte member at a position of a struct of the generated header.
template <class T>
T field(const void* of, std::int64_t position) {
  T out;
  std::memcpy(&out, static_cast<const char*>(of) + 8 * position, sizeof out);
  return out;
}

/// Reads the capacity of every slot, and computes those that follow from others. Returns false if a size is impossible.
bool read_capacities(const Model& m, const GivenSizes* given, std::int64_t* capacity) {
  std::int64_t at = 1;
  for (std::int64_t k = 0; k < m.size_count; ++k) {
    const SizeRow& row = m.sizes[k];
    capacity[k] = row.rule == SizeRule::one_more ? -1 : field<std::int64_t>(given, at++);
    if (row.rule == SizeRule::one_more) continue;
    if (capacity[k] < 1 || capacity[k] > kLargest || (row.rule != SizeRule::nested && capacity[k] < row.least))
      return false;
  }
  // A size may follow from one that itself follows from another, so the pass is repeated.
  for (std::int64_t pass = 0; pass < m.size_count; ++pass) {
    for (std::int64_t k = 0; k < m.size_count; ++k) {
      if (m.sizes[k].rule != SizeRule::one_more) continue;
      const Extent base = m.sizes[k].base;
      const std::int64_t n = base >= 0 ? base : capacity[-(base + 1)];
      if (n >= 0) capacity[k] = n + 1;
    }
  }
  for (std::int64_t k = 0; k < m.size_count; ++k) {
    if (capacity[k] < m.sizes[k].least && m.sizes[k].rule == SizeRule::one_more) return false;
  }
  return true;
}

/// Returns the bytes of a state from the boundary on; 0 if they exceed kLargest. If `s` is not null, it also sets the
/// pointers of the state and of its table.
std::uint64_t lay_out(const Model& m, const std::int64_t* capacity, State* s) {
  const View v{m, nullptr, capacity};
  auto* const base = reinterpret_cast<unsigned char*>(s);
  std::uint64_t at = aligned(sizeof(State));
  const auto take = [&](std::uint64_t bytes) {
    unsigned char* here = base ? base + at : nullptr;
    at += aligned(bytes);
    return here;
  };
  for (std::int64_t k = 0; k < m.buffer_count; ++k) {
    if (buffer_bytes(v, m.buffers[k]) < 0) return 0;
  }
  const std::uint64_t sizes = 8 * static_cast<std::uint64_t>(m.size_count);
  const std::uint64_t table = 8 * static_cast<std::uint64_t>(m.buffer_count);
  const std::uint64_t copies = may_fall(m) ? 2 : 0;
  unsigned char* const parts[] = {take(sizes),         take(sizes), take(sizes), take(sizes),
                                  take(sizes),         take(table), take(table), take(8 * order_length(v)),
                                  take(copies * table)};
  if (s) {
    s->sizes = reinterpret_cast<std::int64_t*>(parts[0]);
    s->outer_sizes = reinterpret_cast<std::int64_t*>(parts[1]);
    s->next_sizes = reinterpret_cast<std::int64_t*>(parts[2]);
    s->capacity = reinterpret_cast<std::int64_t*>(parts[3]);
    s->run_sizes = reinterpret_cast<std::int64_t*>(parts[4]);
    s->table = reinterpret_cast<lehr_buffer*>(parts[5]);
    s->run_table = reinterpret_cast<lehr_buffer*>(parts[6]);
    s->order = reinterpret_cast<std::int64_t*>(parts[7]);
    s->copies = reinterpret_cast<lehr_buffer*>(parts[8]);
  }
  for (std::int64_t k = 0; k < m.buffer_count; ++k) {
    if (m.buffers[k].role == Role::data) continue;
    const auto bytes = static_cast<std::uint64_t>(buffer_bytes(v, m.buffers[k]));
    unsigned char* const here = take(bytes);
    if (s) s->table[k] = here;
    for (std::uint64_t c = 0; c < copies && is_of_q(m.buffers[k]); ++c) {
      unsigned char* const copy = take(bytes);
      if (s) s->copies[c * unsigned_of(m.buffer_count) + unsigned_of(k)] = copy;
    }
    if (at > static_cast<std::uint64_t>(kLargest)) return 0;
  }
  return at;
}

/// The most run-time sizes of a model, for arrays on the stack.
constexpr std::int64_t kMostSizes = 256;

/// Checks the struct of sizes and reads the capacities. Returns kOk, kNull, kAbi or kSize.
Status read_sizes(const Model& m, const GivenSizes* given, std::int64_t* capacity) {
  if (!given) return kNull;
  if (field<std::uint64_t>(given, 0) != m.hash) return kAbi;
  return m.size_count <= kMostSizes && read_capacities(m, given, capacity) ? kOk : kSize;
}

}  // namespace

std::int64_t buffer_bytes(const View& v, const BufferRow& row) {
  std::int64_t n = 8;
  for (std::int64_t k = 0; k < row.axes; ++k) {
    const std::int64_t extent = v.extent(v.model.axes[row.first_axis + k]);
    if (__builtin_mul_overflow(n, extent, &n) || n > kLargest) return -1;
  }
  return n;
}

std::size_t state_bytes(const Model& m, const GivenSizes* given) {
  std::int64_t capacity[kMostSizes];
  if (read_sizes(m, given, capacity) != kOk) return 0;
  const std::uint64_t bytes = lay_out(m, capacity, nullptr);
  return bytes == 0 ? 0 : bytes + kAlignment - 1;
}

Status create(const Model& m, void* memory, std::size_t bytes, const GivenSizes* given, State*& out) {
  if (!memory) return kNull;
  std::int64_t capacity[kMostSizes];
  if (const Status status = read_sizes(m, given, capacity)) return status;
  const std::uint64_t needed = lay_out(m, capacity, nullptr);
  if (needed == 0) return kSize;
  const std::uint64_t skipped =
      aligned(reinterpret_cast<std::uintptr_t>(memory)) - reinterpret_cast<std::uintptr_t>(memory);
  if (bytes < needed + skipped) return kShort;
  auto* const s = reinterpret_cast<State*>(static_cast<unsigned char*>(memory) + skipped);
  std::memset(static_cast<void*>(s), 0, needed);
  lay_out(m, capacity, s);
  for (std::int64_t k = 0; k < m.size_count; ++k)
    s->sizes[k] = s->outer_sizes[k] = s->capacity[k] = capacity[k];
  s->magic = kMagic;
  s->hash = m.hash;
  s->self = s;  // pointers of the table become wrong if the state is moved
  s->accuracy = {};
  s->scale = 1;
  out = s;
  return kOk;
}

Status open(const Model& m, void* memory, State*& out) {
  if (!memory) return kNull;
  const std::uintptr_t at = aligned(reinterpret_cast<std::uintptr_t>(memory));
  auto* const s = reinterpret_cast<State*>(at);
  if (s->magic != kMagic || s->hash != m.hash || s->self != s) return kNotAState;
  out = s;
  return kOk;
}

Status adopt(const Model& m, State& s, const DataSet* data) {
  if (!data) return s.has_data ? kOk : kNoData;
  std::int64_t at = 0;
  for (std::int64_t k = 0; k < m.size_count; ++k) {
    const SizeRow& row = m.sizes[k];
    s.next_sizes[k] = row.rule == SizeRule::fixed || row.rule == SizeRule::longest ? s.capacity[k] : -1;
    if (row.rule != SizeRule::items) continue;
    s.next_sizes[k] = field<std::int64_t>(data, at++);
    if (s.next_sizes[k] < 1 || s.next_sizes[k] < row.least || s.next_sizes[k] > s.capacity[k]) return kSize;
  }
  // From here on the table may have wrong arrays, so there is no data set until all are checked.
  s.has_data = s.prepared = s.swept = s.sweeping = 0;
  bool same = true;
  for (std::int64_t k = 0; k < m.array_count; ++k) {
    auto* const array = const_cast<void*>(field<const void*>(data, at++));
    if (!array) return kNull;
    if (reinterpret_cast<std::uintptr_t>(array) % 8 != 0) return kData;
    lehr_buffer& entry = s.table[m.arrays[k].buffer];
    same = same && entry == array;
    entry = array;
  }
  const View v{m, s.table, s.next_sizes};
  if (const Status status = derive_sizes(v, s)) return status;
  for (std::int64_t k = 0; k < m.array_count; ++k) {
    if (const Status status = check_array(v, m.arrays[k])) return status;
  }
  for (std::int64_t k = 0; k < m.size_count; ++k) {
    if (s.sizes[k] != s.next_sizes[k]) s.items_changed = 1;
    s.sizes[k] = s.outer_sizes[k] = s.next_sizes[k];
  }
  if (!same || s.items_changed) s.statistics_valid = 0;
  s.has_data = 1;
  return kOk;
}

}  // namespace lehr::embedded
