// Minibatches. A pass without replacement walks through a permutation; the items of a minibatch are sorted, because the
// sweep visits runs of consecutive items.
#include "runtime/inference/batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lehr {
namespace {

constexpr std::int64_t kListed = 1 << 15;  // longest permutation that is stored as a list

}  // namespace

std::int64_t batches_of(std::int64_t items, std::int64_t size) {
  size = std::clamp<std::int64_t>(size, 1, items);
  return (items + size - 1) / size;
}

Permutation::Permutation(std::int64_t n) : n_(static_cast<std::uint64_t>(n)), list_(n <= kListed ? n_ : 0) {
  std::iota(list_.begin(), list_.end(), 0);
  while ((std::uint64_t{1} << (2 * half_)) < n_)
    ++half_;
}

void Permutation::draw(Rng& rng) {
  shuffle(rng, list_);
  for (std::uint64_t& key : keys_) {
    if (list_.empty()) key = rng.next();
  }
}

std::int64_t Permutation::operator[](std::int64_t position) const {
  if (!list_.empty()) return list_[static_cast<std::size_t>(position)];
  const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
  auto x = static_cast<std::uint64_t>(position);
  do {
    std::uint64_t left = x >> half_, right = x & mask;
    for (const std::uint64_t key : keys_) {
      left ^= mix_bits(right + key) & mask;
      std::swap(left, right);
    }
    x = left << half_ | right;
  } while (x >= n_);
  return static_cast<std::int64_t>(x);
}

Batches::Batches(std::int64_t items, std::int64_t size, bool replacement, std::uint64_t seed)
    : items_(items),
      size_(std::clamp<std::int64_t>(size, 1, items)),
      replacement_(replacement),
      rng_(seed, 0x5B17),
      order_(items),
      next_(replacement ? 0 : items) {}

const std::vector<std::int64_t>& Batches::next() {
  batch_.clear();
  if (!replacement_ && next_ >= items_) {
    order_.draw(rng_);
    next_ = 0;
  }
  const std::int64_t end = replacement_ ? next_ + size_ : std::min(items_, next_ + size_);
  for (; next_ < end; ++next_)
    batch_.push_back(replacement_ ? static_cast<std::int64_t>(draw_below(rng_, static_cast<std::uint64_t>(items_)))
                                  : order_[next_]);
  std::ranges::sort(batch_);
  return batch_;
}

}  // namespace lehr
