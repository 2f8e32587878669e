// Aligned, zeroed memory for buffers. Arrays of 16 MB and more ask for large pages. Their rows are read in no order, so
// every row would need an address translation of its own.
#include "runtime/parallel/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace lehr {

namespace {

/// The size of a large page, and the smallest array that asks for them, in bytes.
constexpr std::size_t kLargePage = std::size_t{1} << 21, kLargeArray = 8 * kLargePage;

/// Allocates zeroed memory; throws std::bad_alloc.
void* zeros(std::size_t bytes) {
  const bool large = bytes >= kLargeArray;
  const std::size_t alignment = large ? kLargePage : 64, all = (bytes + alignment - 1) / alignment * alignment;
  void* const p = std::aligned_alloc(alignment, all);
  if (!p) throw std::bad_alloc();
  if (large) madvise(p, all, MADV_HUGEPAGE);  // only a hint: without large pages it is slower
  std::memset(p, 0, bytes);
  return p;
}

}  // namespace

void Memory::Free::operator()(void* p) const { std::free(p); }

Memory::Memory(const std::vector<std::size_t>& lengths)
    : owned_(lengths.size()), lengths_(lengths.size()), table_(lengths.size()) {
  for (std::size_t b = 0; b < lengths.size(); ++b)
    resize(b, lengths[b]);
}

void Memory::resize(std::size_t b, std::size_t length) {
  owned_[b].reset();
  owned_[b].reset(zeros(std::max<std::size_t>(length, 1) * 8));
  lengths_[b] = length;
  table_[b] = owned_[b].get();
}

std::span<double> Memory::reals(std::size_t b) const { return {static_cast<double*>(table_[b]), lengths_[b]}; }
std::span<std::int64_t> Memory::integers(std::size_t b) const {
  return {static_cast<std::int64_t*>(table_[b]), lengths_[b]};
}

}  // namespace lehr
