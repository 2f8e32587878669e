// The table of buffers that generated code works in, and its functions.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/abi.h"

namespace lehr {

/// 64-byte aligned, zero at the start, all elements 8 bytes (double or int64).
class Memory {
 public:
  Memory() = default;
  explicit Memory(const std::vector<std::size_t>& lengths);
  lehr_buffer const* table() const { return table_.data(); }
  std::size_t buffers() const { return table_.size(); }
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

using Generated = std::function<std::int32_t(lehr_buffer const*, const std::int64_t* sizes, const std::int64_t* integers,
                                             const double* reals)>;

}  // namespace lehr
