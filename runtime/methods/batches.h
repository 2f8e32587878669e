// Minibatches of items.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/rng.h"

namespace lehr {

/// Minibatches that a pass over the items takes.
std::int64_t batches_of(std::int64_t items, std::int64_t size);

/// Orders of 0 .. n - 1: a shuffled list of few numbers; of more a Feistel network over an even number of bits, gone
/// through again until it ends below n (Black & Rogaway 2002), which takes no memory.
class Permutation {
 public:
  explicit Permutation(std::int64_t n);
  /// Another one at random.
  void draw(Rng& rng);
  std::int64_t operator[](std::int64_t place) const;

 private:
  std::uint64_t n_;
  std::vector<std::int64_t> list_;
  int half_ = 1;  // bits
  std::array<std::uint64_t, 8> keys_ = {};
};

class Batches {
 public:
  /// Of `size` items, at most all. Every pass is a permutation, or they are drawn with replacement.
  Batches(std::int64_t items, std::int64_t size, bool replacement, std::uint64_t seed);

  /// Ascending.
  const std::vector<std::int64_t>& next();

 private:
  std::int64_t items_, size_;
  bool replacement_;
  Rng rng_;
  Permutation order_;
  std::int64_t next_;
  std::vector<std::int64_t> batch_;
};

}  // namespace lehr
