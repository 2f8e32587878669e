// Partitions the items of a stage, or the iterations of a parallel region, into chunks of about equal work. The result
// depends on the model, the data and ChunkSize alone, never on threads or processes. So the sums of a chunk always have
// the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/threshold.h"

namespace lehr {

/// The largest number of items that generated code processes together in vector registers. The remainder of a range is
/// processed one by one, which may round differently. A range that begins at a multiple of this number gives the same
/// bits as a pass over all items.
inline constexpr std::int64_t kItemsTogether = 64;

/// Default of ChunkSize::operations: the minimum work of a chunk of a stage's items, in estimated operations. Items
/// with less than twice this work are one chunk.
inline constexpr Threshold<double> kChunkOperations("outline_parallel_loops.operations", 2'000'000);
/// Default of ChunkSize::of_sum: the minimum work of a chunk for each number that it sums, in estimated operations.
inline constexpr Threshold<double> kChunkOfSum("outline_parallel_loops.of_sum", 300);
/// Default of ChunkSize::outside: the minimum work of a chunk of iterations of a parallel region, in estimated
/// operations.
inline constexpr Threshold<double> kChunkOutside("outline_parallel_loops.outside", 500'000);

/// How much work a chunk must have at least, in estimated operations.
struct ChunkSize {
  double operations = thresholds_of_environment()[kChunkOperations];  // least operations of a chunk of a stage's items
  double of_sum = thresholds_of_environment()[kChunkOfSum];  // least operations of a chunk for each number that it
                                                             // sums; twice as much if the sums exceed caches
  /// Least operations of a chunk of iterations of a parallel region, which all threads wait for.
  double outside = thresholds_of_environment()[kChunkOutside];
};

/// How the items of a stage, or the iterations of a parallel region, are divided into chunks, which threads take one by
/// one.
struct Partition {
  std::vector<machine::ItemRange> runs;  // consecutive items, in order; a run belongs to one chunk
  std::vector<std::size_t> begin;        // index of the first run of each chunk

  /// Returns the number of chunks.
  std::size_t count() const { return begin.size(); }
  /// Returns the runs of a chunk.
  std::span<const machine::ItemRange> of(std::size_t chunk) const {
    const std::size_t end = chunk + 1 < begin.size() ? begin[chunk + 1] : runs.size();
    return {runs.data() + begin[chunk], end - begin[chunk]};
  }
  /// Returns true if both have the same runs in the same chunks.
  bool operator==(const Partition& o) const;
};

/// Returns true if these runs of items are too little work for more than one chunk; the caller then does it without
/// other threads.
bool is_one_chunk(const machine::Machine& m, const machine::ParallelWork& loop,
                  std::span<const machine::ItemRange> runs, const ChunkSize& least);

/// Partitions these runs of items into chunks of about equal work, counted in items and their nested elements. With a
/// `loader`, the runs index all out-of-core items instead of those in memory.
Partition partition_into_chunks(const machine::Machine& m, const machine::ParallelWork& loop,
                                std::span<const machine::ItemRange> runs, const ChunkSize& least,
                                const machine::ItemLoader* loader = nullptr);

/// The consecutive chunks of one process: `begin`, ..., `end` - 1.
struct ChunkRange {
  std::size_t begin,  // the first chunk of the process
      end;            // one past the last chunk of the process
};
/// Returns the chunks of process `part`, if `chunks` chunks are distributed evenly over `parts` processes.
inline ChunkRange chunks_of_process(std::size_t chunks, std::size_t part, std::size_t parts) {
  return {chunks * part / parts, chunks * (part + 1) / parts};
}

}  // namespace lehr
