// Factors of the items of a model whose local blocks are all in one stage: an item can be inferred afresh whenever it is
// visited, so that stochastic steps need to keep no more of them than those of a minibatch.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/engine/memory.h"

namespace lehr {

/// Consecutive items.
struct ItemRange {
  std::int64_t begin = 0, end = 0;
};

/// Where each item's rows begin in packed arrays: applied one after another, the last gives the row.
using Offsets = std::vector<std::size_t>;  // buffers

struct ItemArray {
  std::size_t buffer;
  std::size_t width;                       // numbers in a row
  Offsets offsets;
};
/// A run-time size that counts items, or rows of a plate nested in them.
struct ItemSize {
  std::size_t slot;
  Offsets offsets;
};

/// What is generated for them, and what is known of them.
struct ItemSource {
  std::vector<ItemArray> arrays;           // parameters and expectations
  std::vector<ItemSize> sizes;
  Generated fresh, expectations;           // (begin, end), see StageFunctions in the compiler
  bool always_expectations = false;        // `fresh` leaves some out
  /// Makes improper factors standard ones; whether there was one. Buffers and sizes of the items at hand alone.
  std::function<bool(lehr_buffer const*, const std::int64_t* sizes)> repair;
};

class ItemFactors {
 public:
  /// `memory` and `sizes` are the engine's. `window`: items whose factors are kept at a time at least, 0 for all of
  /// them; then they are in `memory`, otherwise their buffers there are empty.
  ItemFactors(const Memory& memory, const std::vector<std::int64_t>& sizes, ItemSource source, std::int64_t window);

  std::int64_t window() const { return window_; }
  /// The sizes as they are where no item is.
  const std::vector<std::int64_t>& no_items() const { return no_items_; }

  /// Makes these runs the ones that are kept.
  void place(std::span<const ItemRange> runs);
  /// The factors of a kept run from their priors.
  std::int32_t form(std::size_t run);
  /// Buffers in which the items of a kept run have their own indices.
  lehr_buffer const* table(std::size_t run);
  /// The factors of a kept run in one array of the source, and the number of its first row.
  std::span<double> factors(std::size_t run, const ItemArray& array) const;
  std::size_t row(const ItemArray& array, std::int64_t item) const { return at(array.offsets, item); }
  std::int32_t expectations(std::size_t run);
  const std::vector<ItemArray>& arrays() const { return source_.arrays; }

 private:
  std::size_t at(const Offsets& offsets, std::int64_t item) const;
  bool repair(std::size_t run);

  const Memory& memory_;
  const std::vector<std::int64_t>& sizes_;
  ItemSource source_;
  std::int64_t window_;
  std::vector<std::int64_t> no_items_;
  std::vector<ItemRange> runs_;
  std::vector<std::vector<std::size_t>> begins_;  // by array, by run: in numbers
  Memory store_;                                  // by array
  std::vector<std::size_t> room_;
  std::vector<lehr_buffer> table_;
};

}  // namespace lehr
