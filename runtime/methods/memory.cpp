#include "runtime/methods/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace lehr {

void Memory::Free::operator()(void* p) const { std::free(p); }

Memory::Memory(const std::vector<std::size_t>& lengths)
    : owned_(lengths.size()), lengths_(lengths.size()), table_(lengths.size()) {
  for (std::size_t b = 0; b < lengths.size(); ++b)
    resize(b, lengths[b]);
}

void Memory::resize(std::size_t b, std::size_t length) {
  const std::size_t bytes = (std::max<std::size_t>(length, 1) * 8 + 63) / 64 * 64;
  owned_[b].reset();
  owned_[b].reset(std::aligned_alloc(64, bytes));
  if (!owned_[b]) throw std::bad_alloc();
  std::memset(owned_[b].get(), 0, bytes);
  lengths_[b] = length;
  table_[b] = owned_[b].get();
}

std::span<double> Memory::reals(std::size_t b) const { return {static_cast<double*>(table_[b]), lengths_[b]}; }
std::span<std::int64_t> Memory::integers(std::size_t b) const {
  return {static_cast<std::int64_t*>(table_[b]), lengths_[b]};
}

}  // namespace lehr
