// The tree that adds sums of chunks in a fixed order. Branches that wait for their sibling are in a map; an insertion
// joins upwards as long as the sibling is there, and adds outside the lock.
#include "runtime/parallel/sum_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lehr {
namespace {

/// Returns a count of numbers rounded up to whole 64 bytes.
std::size_t aligned(std::size_t elements) { return (elements + kAligned - 1) / kAligned * kAligned; }

}  // namespace

Sums::Sums(const machine::Machine& m, const machine::ParallelWork& loop) {
  std::size_t end = kAligned;  // number 0 is the status
  for (const std::int64_t b : loop.sums) {
    begin_.push_back(end);
    length_.push_back(m.view().length(b));
    end += aligned(length_.back());
  }
  memory_ = Memory({end});
}

void Sums::clear() { std::ranges::fill(values(), 0.0); }

std::span<double> Sums::of(std::size_t k) const { return values().subspan(begin_[k], length_[k]); }

void Sums::enter(const machine::ParallelWork& loop, std::vector<lehr_buffer>& table) const {
  std::size_t k = 0;
  for (const std::int64_t b : loop.sums)
    table[static_cast<std::size_t>(b)] = of(k++).data();
}

void Sums::add(const Sums& right) {
  const std::span<double> to = values(), from = right.values();
  if (to[0] == 0) to[0] = from[0];
  for (std::size_t i = kAligned; i < to.size(); ++i)
    to[i] += from[i];
}

void Sums::add_to(const machine::Machine& m, const machine::ParallelWork& loop) const {
  std::size_t k = 0;
  for (const std::int64_t b : loop.sums) {
    const std::span<double> from = of(k++), to = m.view().reals(b);
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] += from[i];
  }
}

Branch Branch::left() const { return {begin, begin + std::bit_ceil(size()) / 2}; }
Branch Branch::right() const { return {begin + std::bit_ceil(size()) / 2, end}; }

Sums SumTree::fresh(const machine::Machine& m, const machine::ParallelWork& loop) {
  std::unique_lock lock(mutex_);
  if (spare_.empty()) {
    lock.unlock();
    return Sums(m, loop);
  }
  Sums out = std::move(spare_.back());
  spare_.pop_back();
  lock.unlock();
  out.clear();
  return out;
}

void SumTree::give_back(Sums sums) {
  const std::unique_lock lock(mutex_);
  spare_.push_back(std::move(sums));
}

Branch SumTree::parent_of(Branch b) const {
  Branch at = root_;
  while (at.size() > 1 && at.left() != b && at.right() != b)
    at = b.end <= at.left().end ? at.left() : at.right();
  return at;
}

bool SumTree::is_branch(Branch b) const {
  if (b == root_) return true;
  if (b.begin >= b.end || b.end > root_.end) return false;
  const Branch parent = parent_of(b);
  return parent.size() > 1 && (parent.left() == b || parent.right() == b);
}

void SumTree::put(Branch b, Sums sums) {
  while (b != root_) {
    const Branch parent = parent_of(b), beside = parent.left() == b ? parent.right() : parent.left();
    std::unique_lock lock(mutex_);
    const auto entry = parts_.find(beside);
    if (entry == parts_.end()) {
      parts_.emplace(b, std::move(sums));
      return;
    }
    Sums sibling = std::move(entry->second);
    parts_.erase(entry);
    lock.unlock();
    if (beside < b) std::swap(sums, sibling);
    sums.add(sibling);
    give_back(std::move(sibling));
    b = parent;
  }
  const std::unique_lock lock(mutex_);
  parts_.emplace(b, std::move(sums));
}

Sums SumTree::take(Branch b) {
  const auto entry = parts_.find(b);
  Sums out = std::move(entry->second);
  parts_.erase(entry);
  return out;
}

}  // namespace lehr
