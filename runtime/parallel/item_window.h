// Memory for the factors of the items of one minibatch (machine::Window), so that stochastic steps do not need memory
// for all items. The rows of each run of items are stored one run after another.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/parallel/memory.h"

namespace lehr {

/// Memory for the factors of the items of one minibatch, instead of those of all items. It grows with the largest
/// minibatch.
class ItemWindow {
 public:
  /// Makes a window without memory, which grows with the items that are assigned to it. A visit of all items takes
  /// `items` at a time. `machine` must outlive the window and have one stage with all local blocks.
  ItemWindow(const machine::Machine& machine, std::int64_t items);
  ItemWindow(const ItemWindow&) = delete;
  ItemWindow& operator=(const ItemWindow&) = delete;

  /// Returns the interface through which the machine uses the window.
  const machine::Window* hook() const { return &hook_; }
  /// Returns true if the rows of a buffer are stored in the window instead of the machine's table.
  bool holds(std::int64_t buffer) const { return begins_[static_cast<std::size_t>(buffer)].has_value(); }

 private:
  /// Decides where in the window the rows of these runs of items lie, and allocates memory if there is too little.
  void assign(std::span<const machine::ItemRange> runs);

  const machine::Machine& machine_;  // the machine whose items these are
  machine::Window hook_;             // what hook() returns
  /// By buffer, by run: position in the window of the run's first number; none: the buffer has no rows of items.
  std::vector<std::optional<std::vector<std::size_t>>> begins_;
  Memory store_;                       // the rows, by buffer
  std::vector<std::size_t> capacity_;  // by buffer: how many numbers fit without reallocation
};

}  // namespace lehr
