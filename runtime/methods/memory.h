// The table of buffers that generated code works in.
#pragma once
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi.h"

namespace lehr {

/// Buffers that would take more memory than the host has.
struct NoRoom : std::bad_alloc {
  std::vector<double> lengths;     // by buffer
  std::vector<std::string> names;  // where they are known
};

/// 64-byte aligned, zero at the start, all elements 8 bytes (double or int64).
class Memory {
 public:
  Memory() = default;
  explicit Memory(const std::vector<std::size_t>& lengths);
  /// Stays where it is.
  lehr_buffer* table() { return table_.data(); }
  std::span<double> reals(std::size_t buffer) const;
  std::span<std::int64_t> integers(std::size_t buffer) const;
  /// Zeros in place of what was there.
  void resize(std::size_t buffer, std::size_t length);

 private:
  struct Free {
    void operator()(void* p) const;
  };
  std::vector<std::unique_ptr<void, Free>> owned_;
  std::vector<std::size_t> lengths_;
  std::vector<lehr_buffer> table_;
};

}  // namespace lehr
