// Runs one function of a program in the interpreter and as native code, on equal copies of memory, and compares
// everything that they wrote.
#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/analysis/verify.h"
#include "compiler/loops/builder.h"
#include "compiler/loops/interpret.h"
#include "compiler/loops/print_loops.h"
#include "compiler/native/native.h"

namespace lehr::test {

/// Memory for the buffers of a program, aligned to 64 bytes and zero at first.
class Memory {
 public:
  /// Allocates the buffers; `lengths` has the number of elements of each, in the program's order.
  explicit Memory(const std::vector<std::size_t>& lengths) : lengths_(lengths) {
    for (std::size_t length : lengths) {
      const std::size_t bytes = (8 * length + 127) / 64 * 64;
      owned_.emplace_back(std::aligned_alloc(64, bytes), &std::free);
      std::memset(owned_.back().get(), 0, bytes);
      table_.push_back(owned_.back().get());
    }
  }
  /// Copies all buffers.
  Memory(const Memory& other) : Memory(other.lengths_) {
    for (std::size_t b = 0; b < lengths_.size(); ++b)
      std::memcpy(table_[b], other.table_[b], 8 * lengths_[b]);
  }

  /// The table of buffer addresses that generated functions take.
  lehr_buffer const* table() const { return table_.data(); }
  /// The elements of a buffer of doubles.
  double* reals(loops::BufferId b) { return static_cast<double*>(table_[b.index()]); }
  /// The elements of a buffer of floats.
  float* singles(loops::BufferId b) { return static_cast<float*>(table_[b.index()]); }
  /// The elements of a buffer of integers.
  std::int64_t* integers(loops::BufferId b) { return static_cast<std::int64_t*>(table_[b.index()]); }
  /// The elements of a buffer of integers, read-only.
  const std::int64_t* integers(loops::BufferId b) const { return static_cast<const std::int64_t*>(table_[b.index()]); }
  /// The number of elements of a buffer.
  std::size_t length(loops::BufferId b) const { return lengths_[b.index()]; }

 private:
  std::vector<std::size_t> lengths_;
  std::vector<std::unique_ptr<void, decltype(&std::free)>> owned_;
  std::vector<lehr_buffer> table_;
};

/// Returns true if the numbers differ by at most `tolerance`, relative to 1 plus the larger one; infinities and NaNs
/// must agree.
inline bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * (1 + std::max(std::abs(a), std::abs(b)));
}

/// Runs function 0 of the program both ways on copies of `memory`. The test fails if status or buffers differ by more
/// than `tolerance`. Returns the memory after the native run.
inline Memory run_both(const loops::Program& program, const Memory& memory, const std::vector<std::int64_t>& sizes = {},
                       const std::vector<std::int64_t>& integers = {}, const std::vector<double>& reals = {},
                       double tolerance = 1e-11, const native::Options& options = {}) {
  INFO(loops::print(program));
  const auto problems = loops::verify_functions(program);
  for (const auto& problem : problems)
    UNSCOPED_INFO(problem);
  REQUIRE(problems.empty());
  Memory slow(memory), fast(memory);
  const native::Jit jit(program, options);
  const auto compiled = jit.function(program.functions.at(0).name);
  REQUIRE(compiled != nullptr);
  const auto expected = loops::interpret(program, 0, slow.table(), sizes.data(), integers.data(), reals.data());
  const auto status = compiled(fast.table(), sizes.data(), integers.data(), reals.data());
  REQUIRE(status == expected);
  for (std::size_t k = 0; k < program.buffers.size(); ++k) {
    const loops::BufferId b(k);
    for (std::size_t at = 0; at < memory.length(b); ++at) {
      INFO(program.buffers[k].name << " at " << at);
      if (program.buffers[k].element == loops::Type::f64) {
        const double want = slow.reals(b)[at], got = fast.reals(b)[at];
        INFO(want << " against " << got);
        if (!close(want, got, tolerance)) REQUIRE(want == got);
      } else if (program.buffers[k].element == loops::Type::f32) {
        const double want = slow.singles(b)[at], got = fast.singles(b)[at];
        INFO(want << " against " << got);
        if (!close(want, got, tolerance)) REQUIRE(want == got);
      } else if (slow.integers(b)[at] != fast.integers(b)[at]) {
        REQUIRE(slow.integers(b)[at] == fast.integers(b)[at]);
      }
    }
  }
  return fast;
}

}  // namespace lehr::test
