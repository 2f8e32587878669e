// The partition of items into chunks. How many chunks there are follows from the work and from the sums that each has
// to add up; where they end, from the items and their nested elements.
#include "runtime/parallel/chunks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/machine/items.h"

namespace lehr {

using machine::ItemRange;
using machine::Machine;
using machine::ParallelWork;

namespace {

constexpr double kFewChunks = 32, kMostChunks = 4096;  // limits for little, and for very much work
constexpr double kCached = 1 << 20;                    // numbers that are assumed to fit into caches
/// Items of a chunk from which on chunks end at multiples of kItemsTogether.
constexpr Threshold<std::int64_t> kManyItems("outline_parallel_loops.many_items", 512);
/// Operations that are worth a chunk beyond kFewChunks, for groups of many machines.
constexpr double kLarge = 1e9;

/// Returns the number of items in the runs.
std::int64_t count(std::span<const ItemRange> runs) {
  std::int64_t out = 0;
  for (const ItemRange& run : runs)
    out += run.end - run.begin;
  return out;
}

/// Measures work by position: the number of items before an item, and of the nested elements in them.
class Position {
 public:
  Position(const Machine& m, const ParallelWork& loop, const machine::ItemLoader* loader)
      : m_(m), items_(loop.items), loader_(loader) {
    for (std::int64_t slot = 0; slot < m.model->size_count; ++slot) {
      const machine::Extent size = -(slot + 1);
      if (size != items_ && machine::row_of(m, items_, size, 0) >= 0) nested_.push_back(size);
    }
  }
  /// Returns the work before an item.
  std::int64_t operator()(std::int64_t item) const {
    std::int64_t out = item;
    for (const machine::Extent size : nested_)
      out += loader_ ? loader_->row(loader_->context, -(size + 1), item) : machine::row_of(m_, items_, size, item);
    return out;
  }

  /// Returns the end of the shortest run from `begin` with at least this much work, by bisection; `last` at most.
  std::int64_t end_of(std::int64_t begin, std::int64_t last, std::int64_t much) const {
    const std::int64_t before = (*this)(begin);
    std::int64_t low = begin + 1, high = last;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if ((*this)(middle)-before < much) low = middle + 1;
      else high = middle;
    }
    return low;
  }

 private:
  const Machine& m_;
  machine::Extent items_;
  const machine::ItemLoader* loader_;
  std::vector<machine::Extent> nested_;
};

/// Returns the number of chunks that these runs are worth, at least 1.
double count_chunks(const Machine& m, const ParallelWork& loop, std::span<const ItemRange> runs,
                    const ChunkSize& least) {
  const auto items = static_cast<double>(count(runs));
  const double operations = items * static_cast<double>(loop.operations),
               of_chunk = loop.of_stage ? least.operations : least.outside;
  if (operations < 2 * of_chunk) return 1;
  double sums = 0;
  for (const std::int64_t b : loop.sums)
    sums += static_cast<double>(m.view().length(b));
  const double of_sum = sums > kCached ? 2 * least.of_sum : least.of_sum;
  const double worth = operations / std::max(of_chunk, of_sum * sums),
               most = std::clamp(operations / kLarge, kFewChunks, kMostChunks);
  const double parts = std::clamp(std::floor(std::min(worth, items)), 1.0, most);
  // Few chunks are a power of two: then as many processes have one branch of the sum tree each and send one message.
  return parts < kFewChunks ? static_cast<double>(std::bit_floor(static_cast<std::size_t>(parts))) : parts;
}

}  // namespace

bool Partition::operator==(const Partition& o) const {
  const auto same = [](const ItemRange& a, const ItemRange& b) { return a.begin == b.begin && a.end == b.end; };
  return begin == o.begin && std::ranges::equal(runs, o.runs, same);
}

bool is_one_chunk(const Machine& m, const ParallelWork& loop, std::span<const ItemRange> runs, const ChunkSize& least) {
  return count_chunks(m, loop, runs, least) < 2;
}

Partition partition_into_chunks(const Machine& m, const ParallelWork& loop, std::span<const ItemRange> runs,
                                const ChunkSize& least, const machine::ItemLoader* loader) {
  const auto parts = static_cast<std::size_t>(count_chunks(m, loop, runs, least));
  if (parts == 1) return {{runs.begin(), runs.end()}, {0}};
  const Position position(m, loop, loader);
  std::int64_t all = 0;
  for (const ItemRange& run : runs)
    all += position(run.end) - position(run.begin);
  // With many items, chunks end at multiples of kItemsTogether, so that code vectorises all items but the last ones.
  const std::int64_t group =
      count(runs) >= thresholds_of_environment()[kManyItems] * static_cast<std::int64_t>(parts) ? kItemsTogether : 1;
  Partition out{{}, {0}};
  std::int64_t seen = 0;
  const auto end_of_chunk = [&] {
    return all * static_cast<std::int64_t>(out.begin.size()) / static_cast<std::int64_t>(parts);
  };
  for (ItemRange rest : runs) {
    while (rest.begin < rest.end) {
      const std::int64_t length = position.end_of(rest.begin, rest.end, end_of_chunk() - seen) - rest.begin,
                         end = std::min(rest.end, rest.begin + (length + group - 1) / group * group);
      out.runs.push_back({rest.begin, end});
      seen += position(end) - position(rest.begin);
      rest.begin = end;
      // After the last item no chunk begins, though a heavy one may have left fewer than were planned.
      if (seen >= end_of_chunk() && seen < all && out.begin.size() < parts) out.begin.push_back(out.runs.size());
    }
  }
  return out;
}

}  // namespace lehr
