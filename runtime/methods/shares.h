// Where the items of a stage, or the turns of a phase, are cut into shares: by the model and the data alone, so that
// whoever works on a share, its sums are the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/threshold.h"

namespace lehr {

/// Generated code works on at most so many items at once, and on what is left over one by one, which may round
/// differently. A piece that begins at a multiple of this number has the bits that it has among all items.
inline constexpr std::int64_t kItemsTogether = 64;

inline constexpr Threshold<double> kShareOperations("shares.operations", 2'000'000);
inline constexpr Threshold<double> kShareOfSum("shares.of_sum", 300);
inline constexpr Threshold<double> kShareOutside("shares.outside", 500'000);

/// What is worth a share of its own.
struct ShareSize {
  double operations = kShareOperations;  // at least this many,
  double of_sum =
      kShareOfSum;  // and as many for each number that a share adds up, twice where caches cannot hold them;
  double outside = kShareOutside;  // at least this many of turns that all threads wait for
};

/// Runs of items, and where those of each share begin among them.
struct Cut {
  std::vector<machine::ItemRange> runs;
  std::vector<std::size_t> begin;

  std::size_t count() const { return begin.size(); }
  std::span<const machine::ItemRange> of(std::size_t share) const {
    const std::size_t end = share + 1 < begin.size() ? begin[share + 1] : runs.size();
    return {runs.data() + begin[share], end - begin[share]};
  }
  bool operator==(const Cut& o) const;
};

/// Whether these runs are one share.
bool is_one_share(const machine::Machine& m, const machine::Shareable& what, std::span<const machine::ItemRange> runs,
                  const ShareSize& least);

/// These runs of items in shares of about as much work. With a supply, the runs are of all items, and not of those that
/// are there.
Cut cut_into_shares(const machine::Machine& m, const machine::Shareable& what, std::span<const machine::ItemRange> runs,
                    const ShareSize& least, const machine::Supply* supply = nullptr);

/// The consecutive shares of one of `parts` processes or machines.
struct ShareRange {
  std::size_t begin, end;
};
inline ShareRange part_of(std::size_t shares, std::size_t part, std::size_t parts) {
  return {shares * part / parts, shares * (part + 1) / parts};
}

}  // namespace lehr
