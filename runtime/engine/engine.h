// A compiled model in memory: its buffers, its functions, and the steps of one sweep. Who generated the functions
// (the JIT, the interpreter, an object file) does not matter here.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "runtime/abi.h"

namespace lehr {

/// The table of buffers: 64-byte aligned, zero at the start, all elements 8 bytes (double or int64).
class Memory {
 public:
  Memory() = default;
  explicit Memory(const std::vector<std::size_t>& lengths);
  lehr_buffer const* table() const { return table_.data(); }
  std::span<double> reals(std::size_t buffer) const;
  std::span<std::int64_t> integers(std::size_t buffer) const;

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

/// Local blocks, item by item (see StageFunctions in the compiler).
struct EngineStage {
  std::int64_t items = 0;
  bool refresh = false;                      // a second turn: auxiliary variables alone are formed again
  Generated tables, update, seed, sum;       // seed and sum may be empty
  std::vector<std::size_t> statistics;       // buffers to clear before `update`, `seed` or `sum`
  std::vector<std::size_t> picks;            // buffers, one a category block
  std::vector<std::int64_t> pick_sizes;
  bool chains = false;                       // has chains of categories: their elements are seeded, so all items take part
};

struct EngineUpdate {
  std::string block;
  Generated function;
  bool seeded = false;                       // a chain of categories: its start is what the others are updated from
};

struct Engine {
  Memory memory;
  std::vector<std::int64_t> sizes;
  Generated prepare, initialise, expectations, elbo;
  std::vector<std::variant<EngineStage, EngineUpdate>> steps;
  std::size_t elbo_buffer = 0;
  std::vector<std::size_t> settled;          // buffers of the global parameters: all must settle before "converged"
  std::function<std::string(std::int32_t status)> describe;  // what a status code of the generated code means

  std::int32_t call(const Generated& f) const { return f(memory.table(), sizes.data(), nullptr, nullptr); }
};

}  // namespace lehr
