#include "runtime/methods/batches.h"

#include <algorithm>
#include <numeric>

namespace lehr {

std::int64_t batches_of(std::int64_t items, std::int64_t size) {
  size = std::clamp<std::int64_t>(size, 1, items);
  return (items + size - 1) / size;
}

Batches::Batches(std::int64_t items, std::int64_t size, bool replacement, std::uint64_t seed)
    : size_(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, items))),
      replacement_(replacement),
      order_(static_cast<std::size_t>(items)),
      next_(order_.size()),
      rng_(seed, 0x5B17) {
  std::iota(order_.begin(), order_.end(), 0);
}

const std::vector<std::int64_t>& Batches::next() {
  batch_.clear();
  if (replacement_) {
    for (std::size_t i = 0; i < size_; ++i)
      batch_.push_back(static_cast<std::int64_t>(draw_below(rng_, order_.size())));
  } else {
    if (next_ >= order_.size()) {
      shuffle(rng_, order_);
      next_ = 0;
    }
    const std::size_t end = std::min(order_.size(), next_ + size_);
    batch_.assign(order_.begin() + static_cast<std::ptrdiff_t>(next_),
                  order_.begin() + static_cast<std::ptrdiff_t>(end));
    next_ = end;
  }
  std::ranges::sort(batch_);
  return batch_;
}

}  // namespace lehr
