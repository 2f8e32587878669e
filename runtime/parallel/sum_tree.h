// Adds the sums of chunks in one fixed order, whichever thread, process or machine computes them, and in whatever order
// they arrive. The order is a binary tree over the chunks in which the left subtree always has a power of two of them.
// With five chunks it is ((s0 + s1) + (s2 + s3)) + s4. Two neighbours are added as soon as both have arrived, so little
// memory is in use at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/parallel/memory.h"

namespace lehr {

/// The statistics that some items of an item stage, or some iterations of a parallel region, add up, and the failure
/// status of that work. All numbers are in one array, so that they can be sent in one message.
class Sums {
 public:
  /// Allocates zeros for the buffers `loop.sums`.
  Sums(const machine::Machine& m, const machine::ParallelWork& loop);

  /// Sets all numbers and the status to zero.
  void clear();
  /// Makes the entries of `table` for the buffers of `loop.sums` point to these sums, so that generated code adds to
  /// them.
  void enter(const machine::ParallelWork& loop, std::vector<lehr_buffer>& table) const;
  /// Adds the sums of the right neighbour, which are those of later chunks, to these. If the status here is 0, it
  /// becomes that of `right`. So the first failure in the order of the chunks counts.
  void add(const Sums& right);
  /// Adds these sums to the machine's buffers.
  void add_to(const machine::Machine& m, const machine::ParallelWork& loop) const;

  /// Returns the status and all sums as one array, for messages between processes.
  std::span<double> values() const { return memory_.reals(0); }
  /// Returns the sums of the k-th buffer of `loop.sums`.
  std::span<double> of(std::size_t k) const;
  /// Returns the status of the generated code: 0, or the first failure.
  std::int32_t status() const { return static_cast<std::int32_t>(values()[0]); }
  /// Sets the status to that of the generated code (0: no failure).
  void fail(std::int32_t status) const { values()[0] = status; }

 private:
  Memory memory_;                   // one buffer: the status, then each buffer of sums, all 64-byte aligned
  std::vector<std::size_t> begin_,  // by buffer of `loop.sums`: position of its first number
      length_;                      // by buffer of `loop.sums`: how many numbers it has
};

/// A subtree of the sum tree, which adds the sums of chunks in a fixed order: the chunks `begin`, ..., `end` - 1.
struct Branch {
  std::size_t begin = 0,  // the first chunk
      end = 0;            // one past the last chunk

  /// Returns the number of chunks.
  std::size_t size() const { return end - begin; }
  /// Returns the left subtree: the largest power of two of chunks below size(). Needs two chunks at least.
  Branch left() const;
  /// Returns the right subtree: the chunks that left() leaves.
  Branch right() const;
  /// Orders branches by their first chunk, then by their end.
  auto operator<=>(const Branch&) const = default;
};

/// Adds the sums of chunks along a fixed binary tree as they arrive, in any order, so that rounding does not depend on
/// that order. It stores the subtrees whose siblings are still missing.
class SumTree {
 public:
  /// Makes an empty tree over `chunks` chunks. `spare` is memory of earlier sums of the same buffers for reuse; it must
  /// outlive the tree.
  SumTree(std::size_t chunks, std::vector<Sums>& spare) : root_{0, chunks}, spare_(spare) {}

  /// Returns zeroed sums, from reused memory if there is some. Any thread may call it.
  Sums fresh(const machine::Machine& m, const machine::ParallelWork& loop);
  /// Takes the memory of sums that are no longer needed, for reuse by fresh(). Any thread may call it.
  void give_back(Sums sums);

  /// Returns the branch of all chunks.
  Branch root() const { return root_; }
  /// Returns true if the chunks of `b` are a subtree of this tree; those that the file of a shard of the items claims
  /// may not be.
  bool is_branch(Branch b) const;
  /// Inserts the sums of a finished chunk or subtree `b`, which must be a branch (is_branch()). While the sums of the
  /// sibling have arrived, it adds both and goes on with their parent. Any thread may call it.
  void put(Branch b, Sums sums);
  /// Returns the branches that have arrived and whose siblings have not, in order; the root alone if all chunks have
  /// arrived. The file of a shard of the items stores them.
  const std::map<Branch, Sums>& parts() const { return parts_; }
  /// Returns true if the sums of all chunks have arrived.
  bool is_whole() const { return parts_.contains(root_); }
  /// Removes the sums of a branch, which must be among parts(), and returns them.
  Sums take(Branch b);

 private:
  /// Returns the smallest subtree that properly contains the subtree `b`.
  Branch parent_of(Branch b) const;

  Branch root_;                   // all chunks
  std::mutex mutex_;              // guards the members below
  std::map<Branch, Sums> parts_;  // sums of branches whose siblings have not arrived
  std::vector<Sums>& spare_;      // memory for reuse
};

}  // namespace lehr
