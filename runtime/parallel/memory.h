// The memory behind the table of buffers that generated code works in: one aligned allocation a buffer.
#pragma once
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi.h"

namespace lehr {

/// Thrown if the buffers need more memory than this process may use (available_memory()).
struct OutOfMemory : std::bad_alloc {
  std::vector<double> lengths;     // number of elements of each buffer
  std::vector<std::string> names;  // names of the buffers, if the thrower or a caller could add them
};

/// The alignment of buffers that generated code expects, in numbers of 8 bytes: 64 bytes.
inline constexpr std::size_t kAligned = 8;

/// A table of buffers and their memory. Every buffer is aligned to 64 bytes and starts with zeros; every element has 8
/// bytes (double or int64). Large buffers ask for large pages.
class Memory {
 public:
  /// Makes an empty table.
  Memory() = default;
  /// Allocates one buffer of each length, in elements. Throws std::bad_alloc.
  explicit Memory(const std::vector<std::size_t>& lengths);
  /// Returns the pointers to the buffers. The table itself does not move; resize() changes its entries.
  lehr_buffer* table() { return table_.data(); }
  /// Returns the elements of a buffer of doubles.
  std::span<double> reals(std::size_t buffer) const;
  /// Returns the elements of a buffer of int64.
  std::span<std::int64_t> integers(std::size_t buffer) const;
  /// Reallocates a buffer with `length` zeros; its contents are lost.
  void resize(std::size_t buffer, std::size_t length);

 private:
  /// Frees one allocation.
  struct Free {
    void operator()(void* p) const;  // frees memory of std::aligned_alloc
  };
  std::vector<std::unique_ptr<void, Free>> owned_;  // the allocations, by buffer
  std::vector<std::size_t> lengths_;                // elements, by buffer
  std::vector<lehr_buffer> table_;                  // pointers, by buffer
};

}  // namespace lehr
