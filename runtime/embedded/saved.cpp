// Saved states and messages. A saved state is a header, the run-time sizes, and every buffer of q and of carried
// priors. It has the byte order of the machine, which is little-endian on all targets. A checksum covers all of it.
// Loading checks everything before it writes anything.
#include <cstring>

#include "runtime/embedded/driver.h"

namespace lehr::embedded {
namespace {

constexpr std::uint64_t kMagic = 0x6c65687253415645;  // "lehrSAVE"

/// The header of a saved state.
struct Header {
  std::uint64_t magic,     // marks a saved state
      hash,                // Model::hash of its model
      bytes;               // length of the saved state
  std::int64_t started,    // State::started, which is 1
      size_count;          // Model::size_count
  std::uint64_t checksum;  // of the header, with 0 here, and of everything after it
};

/// Continues a checksum over these bytes. Each step is invertible (an exclusive or, a multiplication by an odd number,
/// a shift), so a change of one word always changes the result.
std::uint64_t checksum(std::uint64_t so_far, const void* from, std::size_t bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  for (std::size_t at = 0; at + 8 <= bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const unsigned char*>(from) + at, 8);
    so_far = (so_far ^ word) * kOdd;
    so_far ^= so_far >> 29;
  }
  return so_far;
}

/// Returns the checksum of a saved state; `rest` is what follows the header.
std::uint64_t checksum(Header h, const void* rest) {
  h.checksum = 0;
  return checksum(checksum(0, &h, sizeof h), rest, h.bytes - sizeof h);
}

/// Returns true if a saved state contains the buffer.
bool is_saved(const BufferRow& b) { return is_of_q(b) || b.role == Role::prior; }

/// Returns the bytes of a saved state with these sizes; 0 if they are impossible.
std::size_t saved_bytes(const View& v) {
  std::size_t bytes = sizeof(Header) + 8 * static_cast<std::size_t>(v.model.size_count);
  for (std::int64_t k = 0; k < v.model.buffer_count; ++k) {
    if (!is_saved(v.model.buffers[k])) continue;
    const std::int64_t own = buffer_bytes(v, v.model.buffers[k]);
    if (own < 0) return 0;
    bytes += static_cast<std::size_t>(own);
  }
  return bytes;
}

/// Checks that saved sizes are those of this state, except those of the items. Sets `fits` to true if the items fit its
/// capacity. Returns kOk, kAltered or kSize.
Status compare_sizes(const Model& m, const State& s, const std::int64_t* sizes, bool& fits) {
  fits = true;
  for (std::int64_t k = 0; k < m.size_count; ++k)
    if (sizes[k] < 0 || sizes[k] > kLargest) return kAltered;
  for (std::int64_t k = 0; k < m.size_count; ++k) {
    const SizeRow& row = m.sizes[k];
    const std::int64_t base = row.base >= 0 ? row.base : sizes[-(row.base + 1)];
    if (row.rule == SizeRule::one_more && sizes[k] != base + 1) return kAltered;
    if (row.rule == SizeRule::fixed && sizes[k] != s.capacity[k]) return kSize;
    fits = fits && (sizes[k] <= s.capacity[k] || row.rule == SizeRule::longest);
  }
  return kOk;
}

}  // namespace
}  // namespace lehr::embedded

using namespace lehr::embedded;

extern "C" {

std::size_t lehr_saved_bytes(const Model* m, void* memory) {
  State* s = nullptr;
  return open(*m, memory, s) == kOk ? saved_bytes(view_of(*m, *s)) : 0;
}

std::int32_t lehr_save(const Model* m, void* memory, void* saved, std::size_t bytes) {
  State* s = nullptr;
  if (!saved) return kNull;
  if (const Status status = open(*m, memory, s)) return status;
  if (!s->started) return kNotStarted;
  if (s->sweeping) return kArgument;
  const View v = view_of(*m, *s);
  Header h{kMagic, m->hash, saved_bytes(v), s->started, m->size_count, 0};
  if (bytes < h.bytes) return kShort;
  auto* at = static_cast<unsigned char*>(saved) + sizeof h;
  const auto put = [&](const void* from, std::size_t n) {
    std::memcpy(at, from, n);
    at += n;
  };
  put(s->sizes, 8 * static_cast<std::size_t>(m->size_count));
  for (std::int64_t k = 0; k < m->buffer_count; ++k) {
    if (is_saved(m->buffers[k])) put(s->table[k], 8 * v.length(k));
  }
  h.checksum = checksum(h, static_cast<unsigned char*>(saved) + sizeof h);
  std::memcpy(saved, &h, sizeof h);
  return kOk;
}

std::int32_t lehr_load(const Model* m, void* memory, const void* saved, std::size_t bytes) {
  State* s = nullptr;
  if (!saved) return kNull;
  if (const Status status = open(*m, memory, s)) return status;
  Header h;
  if (bytes < sizeof h) return kTruncated;
  std::memcpy(&h, saved, sizeof h);
  if (h.magic != kMagic) return kAltered;
  if (h.hash != m->hash) return kOtherModel;
  if (h.bytes > bytes) return kTruncated;
  const std::size_t sizes_bytes = 8 * static_cast<std::size_t>(m->size_count);
  if (h.size_count != m->size_count || h.bytes < sizeof h + sizes_bytes || h.bytes % 8 != 0) return kAltered;
  const auto* at = static_cast<const unsigned char*>(saved) + sizeof h;
  if (checksum(h, at) != h.checksum) return kAltered;
  std::memcpy(s->next_sizes, at, sizes_bytes);
  bool fits = true;
  if (const Status status = compare_sizes(*m, *s, s->next_sizes, fits)) return status;
  const View v{*m, s->table, s->next_sizes};
  if (saved_bytes(v) != h.bytes) return kAltered;
  // From here on nothing can fail, so that a refused state changes nothing.
  at += sizes_bytes;
  for (std::int64_t k = 0; k < m->buffer_count; ++k) {
    if (!is_saved(m->buffers[k])) continue;
    const std::size_t n = 8 * v.length(k);
    if (fits || !m->buffers[k].on_items) std::memcpy(s->table[k], at, n);
    at += n;
  }
  for (std::int64_t k = 0; k < m->size_count && fits; ++k)
    s->sizes[k] = s->outer_sizes[k] = s->next_sizes[k];
  invalidate_sums(machine_of(*m, *s));
  s->started = 1;
  s->has_data = s->swept = s->sweeping = s->expectations_stale = s->fresh = 0;
  s->statistics_valid = fits;
  s->items_changed = !fits;
  s->scale = 1;
  return kOk;
}

const char* lehr_error(const Model* m, std::int32_t status) {
  constexpr std::int32_t kFailBlock = 100, kFailData = 10000;  // as the compiler numbers them
  static const char* const kText[kStatusCount] = {
      "done",
      "a pointer is null",
      "the sizes were made for another version of the header: set their member abi to the constant of the "
      "header that "
      "belongs to this object",
      "a size is not positive, is less than the model needs, exceeds the capacity of the state, or makes "
      "the state too "
      "large",
      "the memory is shorter than needed",
      "not a state of this model: it was not initialised here, or was moved",
      "a value of the data is outside its domain: not finite, negative where it must not be, a category "
      "outside its "
      "plate, or an array that is not aligned to 8 bytes",
      "row offsets must start at 0, never fall, and end within the capacity of the state",
      "an argument is outside its range",
      "no data were given yet",
      "there are no factors yet: init without data, and nothing loaded",
      "nothing was inferred yet from the present data and factors: make a step or infer first",
      "this model cannot be fitted from minibatches alone",
      "the saved state ends too early",
      "the saved state is altered, or not a saved state",
      "the saved state is of another model, of other settings, or of another version",
      "the bound is not finite: data that no value of the variables could have given, or numbers that left "
      "their range",
      "there are no items to work on: no sweep was begun, or its next items were not asked for",
      "the library has no prediction or score of this model: its message says why"};
  if (status >= 0 && status < kStatusCount) return kText[status];
  const std::int64_t blocks = m->block_count, data = m->failure_count - blocks;
  // Variables that are no matrices have no text.
  const char* const text =
      status >= kFailData && status - kFailData < data ? m->failures[blocks + status - kFailData] : "";
  if (*text) return text;
  if (status >= kFailData) return "a data matrix is not positive definite";
  if (status >= kFailBlock && status - kFailBlock < blocks) return m->failures[status - kFailBlock];
  return "unknown status";
}

}  // extern "C"
