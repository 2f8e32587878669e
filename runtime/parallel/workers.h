// Threads and processes that work on the items of a stage, or on the iterations of a parallel region, in chunks. The
// chunks depend on the model, the data and ChunkSize alone, and their sums are added in one fixed order (SumTree). So
// any number of threads and processes gives the same bits.
//
// Example, four chunks on two threads: each thread takes the next free chunk and updates its items with private
// scratch. It adds their statistics up in zeroed sums and puts these into the tree, which computes (s0 + s1) + (s2 +
// s3).
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/parallel/chunks.h"
#include "runtime/parallel/group.h"
#include "runtime/parallel/memory.h"
#include "runtime/parallel/pool.h"
#include "runtime/parallel/spill.h"
#include "runtime/parallel/sum_tree.h"

namespace lehr {

/// Returns the rows of a factor buffer in the machine's table that belong to consecutive items in memory, which are
/// sent to other processes or stored in a spill. Empty for buffers without rows of items. `items` is the extent of the
/// items.
std::span<double> rows_of(const machine::Machine& m, machine::Extent items, machine::ItemRange run,
                          std::int64_t buffer);

/// The threads of this process, as part of a group of processes if there is one, that divide the items of a stage or
/// the iterations of a parallel region among them in chunks. Implements machine::Workers. Any number of threads and
/// processes gives the same bits.
class Workers {
 public:
  /// Uses `threads` threads, 0 for one a processor. `least` is the least work of a chunk. With a `group` of more than
  /// one process, each process works on its part of the chunks and all get all sums; the model must then have one item
  /// stage, and nothing outside of it may read factors of items. `spill` stores the factors of out-of-core items
  /// between visits. If it is null, they are not stored. Group and spill must outlive the workers.
  explicit Workers(std::size_t threads = 0, const ChunkSize& least = {}, Group* group = nullptr,
                   Spill* spill = nullptr);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Returns the interface through which a machine calls these workers.
  const machine::Workers* hook() const { return &hook_; }

  /// Returns the chunks into which all items in memory of a stage are partitioned, for commands that distribute the
  /// chunks themselves, as `lehr stats --shard` does.
  Partition partition_items(const machine::Machine& m, const machine::ParallelWork& loop) const;
  /// Returns an empty tree for the sums of so many chunks; it reuses the memory of earlier sums.
  SumTree tree(const machine::ParallelWork& loop, std::size_t chunks) {
    return {chunks, spare_[{loop.sums.data(), loop.sums.size()}]};
  }
  /// Works on the chunks `mine` of `partition`, on all threads, and puts their sums and statuses into the tree.
  void work(const machine::Machine& m, const machine::ParallelWork& loop, const Partition& partition, ChunkRange mine,
            const machine::ItemWork& work, SumTree& sums);

  /// Sends the factors of items from the processes that updated them to all others, if they have not been sent since.
  /// All processes call it.
  void gather(const machine::Machine& m);
  /// Declares that a snapshot was loaded into the factors of items. In a snapshot, a process may have up-to-date
  /// factors of its own items only, so the next gather() sends them to the others again.
  void scatter() { is_spread_ = spread_.has_value(); }
  /// Returns true if the items are distributed over the processes of a group.
  bool is_distributed() const { return group_ != nullptr; }
  /// Makes items in the spill begin at their priors at their next visit, because a new start has begun.
  void forget_spilled() { spilled_.clear(); }

 private:
  /// What one thread works with: a copy of the machine whose scratch buffers are private, so that threads do not
  /// overwrite each other's.
  struct Worker {
    Memory store;                         // the private scratch buffers
    std::vector<lehr_buffer> table,       // the table of buffers of this thread
        run_table;                        // scratch: a second table, used while a run of items is processed
    std::vector<std::int64_t> run_sizes;  // scratch: run-time sizes, used while a run of items is processed
    machine::Machine machine;             // refers to the members above

    /// Prepares the thread's machine for work on `loop` of machine `m`.
    void prepare_for(const machine::Machine& m, const machine::ParallelWork& loop);
  };

  /// A chunk of out-of-core items in progress: its items are loaded piece by piece.
  struct ChunkProgress {
    std::size_t chunk;        // index of the chunk
    machine::ItemRange rest;  // items of the chunk that are still to do
    bool from_priors;         // true: items begin at their priors; false: their factors are read from the spill
    std::size_t before = 0;   // position in the chunk's spill file: numbers of the factors of the items done
    Sums sums;                // the sums of the items done
  };

  /// Does `work` on these runs of items or iterations, in chunks on all threads and processes, and adds their sums to
  /// the machine's buffers (machine::Workers::run). Returns 0 or the first failure status of the generated code.
  std::int32_t run(const machine::Machine& m, const machine::ParallelWork& loop,
                   std::span<const machine::ItemRange> runs, const machine::ItemWork& work);
  /// Starts the threads, if that has not been done.
  void start_threads();
  /// Adds the root of the tree to the machine's buffers, in all processes; returns the first status that is not 0.
  std::int32_t add_up(const machine::Machine& m, const machine::ParallelWork& loop, SumTree& sums, Group* group);
  /// Does `work` on all out-of-core items; each process loads those of its own chunks.
  std::int32_t run_out_of_core(const machine::Machine& m, const machine::ParallelWork& loop,
                               const machine::ItemWork& work);
  /// Loads the next piece of each of these chunks and works on the pieces at the same time, one thread a piece.
  void load_items(const machine::Machine& m, const machine::ParallelWork& loop, std::span<ChunkProgress> in_progress,
                  const machine::ItemWork& work);
  /// Returns the rank of the process that works on a chunk, of `chunks` in all.
  std::size_t owner_of(std::size_t chunk, std::size_t chunks) const;
  /// Sends sums between processes until the sums of `branch` are at the process that has its first chunk.
  void reduce_branch(const machine::Machine& m, const machine::ParallelWork& loop, Branch branch, SumTree& sums);
  /// Broadcasts the factors of all items from the owners of their chunks.
  void send_rows(const machine::Machine& m, machine::Extent items, const Partition& partition);

  machine::Workers hook_;          // what hook() returns
  std::size_t threads_;            // number of threads, the caller's included
  ChunkSize least_;                // least work of a chunk
  Group* group_;                   // the processes of the fit; null: this one alone
  Spill* spill_;                   // files for factors of out-of-core items; may be null
  std::set<std::size_t> spilled_;  // chunks whose factors are in the spill
  std::map<const std::int64_t*, Partition>
      partitions_;                                // partitions of out-of-core items, by the list of sums of the stage
  std::unique_ptr<Pool> pool_;                    // the threads; null until the first work
  std::vector<std::unique_ptr<Worker>> workers_;  // by thread
  /// Memory of sums that can be reused, by the list of buffers that are summed.
  std::map<std::pair<const std::int64_t*, std::size_t>, std::vector<Sums>> spare_;
  /// The partition by which the items are distributed over the processes of a group; gather() sends their factors by
  /// it.
  struct Spread {
    machine::Extent items;  // extent of the items
    Partition partition;    // the chunks into which the items are partitioned
  };
  std::optional<Spread> spread_;  // none: items were never distributed
  bool is_spread_ = false;        // true: the present factors of each item are at the owner of its chunk alone
};

}  // namespace lehr
