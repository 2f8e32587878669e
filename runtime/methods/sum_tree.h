// Sums over the items of a stage or the turns of a phase, share by share, and the one order in which they are added up:
// a binary tree over the shares, whose left branches have a power of two of them. Which thread, process or machine made
// the sums of a share, and which of them came first, has no part in the rounding.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/methods/memory.h"

namespace lehr {

/// What the items of a stage, or the turns of a phase, add up, over some of them.
class Sums {
 public:
  Sums(const machine::Machine& m, const machine::Shareable& what);

  void clear();
  /// The entries of a table for the sums of `what` become these.
  void enter(const machine::Shareable& what, std::vector<lehr_buffer>& table) const;
  /// With what stands beside it on the right; the first status that is not 0 stays.
  void add(const Sums& right);
  /// To what the machine has.
  void add_to(const machine::Machine& m, const machine::Shareable& what) const;

  /// The status and all numbers, for those who send them.
  std::span<double> numbers() const { return memory_.reals(0); }
  std::span<double> of(std::size_t k) const;
  std::int32_t status() const { return static_cast<std::int32_t>(numbers()[0]); }
  void fail(std::int32_t status) const { numbers()[0] = status; }

 private:
  Memory memory_;
  std::vector<std::size_t> begin_, length_;  // by buffer
};

/// Shares begin, ..., end - 1.
struct Branch {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  Branch left() const;
  Branch right() const;
  auto operator<=>(const Branch&) const = default;
};

class SumTree {
 public:
  /// `spare`: memory of earlier sums of the same, for others; must outlive the tree.
  SumTree(std::size_t shares, std::vector<Sums>& spare) : root_{0, shares}, spare_(spare) {}

  /// Zeros. From any thread, and back.
  Sums fresh(const machine::Machine& m, const machine::Shareable& what);
  void give_back(Sums sums);

  Branch root() const { return root_; }
  bool is_branch(Branch b) const;
  /// Joins with what stands beside it as soon as that is there. From any thread.
  void put(Branch b, Sums sums);
  /// What stands alone, in order: the root, where everything is there.
  const std::map<Branch, Sums>& parts() const { return parts_; }
  bool is_whole() const { return parts_.contains(root_); }
  Sums take(Branch b);

 private:
  Branch parent_of(Branch b) const;

  Branch root_;
  std::mutex mutex_;
  std::map<Branch, Sums> parts_;
  std::vector<Sums>& spare_;
};

}  // namespace lehr
