// Draws minibatches of items: consecutive pieces of a random permutation for each pass, or draws with replacement.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/rng.h"

namespace lehr {

/// Returns how many minibatches of `size` items one pass over all items takes. A size outside 1 .. items counts as the
/// nearest of these.
std::int64_t batches_of(std::int64_t items, std::int64_t size);

/// A random permutation of 0 .. n - 1. Small ones are shuffled lists. Large ones take no memory: a Feistel network
/// permutes the numbers of an even number of bits. It is applied again until the result is below n (cycle walking,
/// Black & Rogaway 2002).
class Permutation {
 public:
  /// Makes the permutation for n >= 1; call draw() before reading it.
  explicit Permutation(std::int64_t n);
  /// Replaces the permutation by a random one.
  void draw(Rng& rng);
  /// Returns the number at a position.
  std::int64_t operator[](std::int64_t position) const;

 private:
  std::uint64_t n_;                         // the length
  std::vector<std::int64_t> list_;          // the shuffled list; empty: a Feistel network
  int half_ = 1;                            // bits of each half of the network
  std::array<std::uint64_t, 8> keys_ = {};  // keys of its rounds
};

/// An endless sequence of random minibatches of items, for stochastic variational inference.
class Batches {
 public:
  /// Begins a sequence of minibatches of `size` items, at most all of them. Without replacement, every pass over the
  /// items is a new permutation. The sequence is a function of `seed`.
  Batches(std::int64_t items, std::int64_t size, bool replacement, std::uint64_t seed);

  /// Draws the next minibatch and returns its items, ascending. With replacement, an item may occur more than once.
  /// Without, the last minibatch of a pass may be smaller. The reference is valid until the next call.
  const std::vector<std::int64_t>& next();

 private:
  std::int64_t items_,               // number of items
      size_;                         // items of a minibatch
  bool replacement_;                 // true: items are drawn with replacement
  Rng rng_;                          // source of the draws
  Permutation order_;                // order of the items in the present pass
  std::int64_t next_;                // position in the pass of the next item
  std::vector<std::int64_t> batch_;  // the last minibatch
};

}  // namespace lehr
