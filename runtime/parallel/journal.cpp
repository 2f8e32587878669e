// The journal of a run: buffers of serialised answers, and weak references to the snapshots that a checkpoint saves.
#include "runtime/parallel/journal.h"

#include <algorithm>

namespace lehr {

Journal::Journal(Past past)
    : past_(std::move(past.seen)), memory_(std::move(past.memory)), replayed_(std::move(past.snapshots)) {}

Journal::Past Journal::past(std::string memory) const {
  Past out{past_, {}, std::move(memory)};
  for (const std::string& part : earlier_)
    out.seen += part;
  out.seen += seen_;
  for (const auto& [number, arrays] : snapshots_) {
    if (const std::shared_ptr<Arrays> still = arrays.lock()) out.snapshots.emplace(number, *still);
  }
  return out;
}

void Journal::put_away() {
  earlier_.push_back(std::move(seen_));
  seen_.clear();
  seen_.reserve(kTogether + kTogether / 8);
}

void Journal::arrive() {
  replayed_.clear();
  const std::string memory = std::move(memory_);
  if (arrived) arrived(memory);
}

Arrays Journal::replayed_snapshot() {
  const auto it = replayed_.find(next_);
  return it == replayed_.end() ? Arrays() : std::move(it->second);
}

void Journal::keep(const std::shared_ptr<Arrays>& arrays) {
  // Now and then, entries of snapshots that nobody holds any more are removed.
  if (snapshots_.size() >= enough_) {
    std::erase_if(snapshots_, [](const auto& k) { return k.second.expired(); });
    enough_ = std::max<std::size_t>(enough_, 2 * snapshots_.size());
  }
  snapshots_.emplace_back(next_++, arrays);
}

}  // namespace lehr
