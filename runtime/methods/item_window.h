// Memory for the factors of a minibatch's items (machine::Window): stochastic steps need no more of them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/methods/memory.h"

namespace lehr {

class ItemWindow {
 public:
  /// `machine` must outlive the window and have one stage that holds all local blocks. `items`: kept at a time at
  /// least.
  ItemWindow(const machine::Machine& machine, std::int64_t items);
  ItemWindow(const ItemWindow&) = delete;
  ItemWindow& operator=(const ItemWindow&) = delete;

  const machine::Window* hook() const { return &hook_; }
  /// A buffer whose rows are here, and not in the machine's table.
  bool holds(std::int64_t buffer) const { return begins_[static_cast<std::size_t>(buffer)].has_value(); }

 private:
  void place(std::span<const machine::ItemRange> runs);

  const machine::Machine& machine_;
  machine::Window hook_;
  std::vector<std::optional<std::vector<std::size_t>>> begins_;  // by buffer, by run: in numbers
  Memory store_;                                                 // by buffer
  std::vector<std::size_t> capacity_;
};

}  // namespace lehr
