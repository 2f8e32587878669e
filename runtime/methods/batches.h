// Minibatches of items.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/rng.h"

namespace lehr {

/// Minibatches that a pass over the items takes.
std::int64_t batches_of(std::int64_t items, std::int64_t size);

class Batches {
 public:
  /// Of `size` items, at most all. Every pass is a permutation, or they are drawn with replacement.
  Batches(std::int64_t items, std::int64_t size, bool replacement, std::uint64_t seed);

  /// Ascending.
  const std::vector<std::int64_t>& next();

 private:
  std::size_t size_;
  bool replacement_;
  std::vector<std::int64_t> order_, batch_;
  std::size_t next_;
  Rng rng_;
};

}  // namespace lehr
