// Estimates memory from the lengths of the engine's buffers, sorted into parameters of items, sums and global factors.
// Each kind counts with the number of copies that exist at the same time.
#include "compiler/fit/peak_memory.h"

#include <sys/resource.h>

namespace lehr {
namespace {

constexpr double kNumber = 8;  // bytes of a double
/// How often the numbers of an item are in memory: text of up to twice their size, parsed arrays, bound arrays, and
/// buffers that grow by a quarter.
constexpr double kCopies = 8;
/// How often parameters and sums are in memory besides the engine: a saved state, arrays to write, and their bytes in a
/// file.
constexpr double kWritten = 4;
/// Bytes for stacks, caches of the allocator and tables of the terminal.
constexpr double kElse = 24e6;

/// Returns the peak resident memory of the process so far, in bytes.
double had_by_now() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace

double peak_memory(const Engine& engine, std::int64_t items_at_a_time, std::size_t threads) {
  const machine::Model& m = engine.model();
  double an_item = 0, sums = 0, factors = 0;
  for (std::int64_t b = 0; b < m.buffer_count; ++b) {
    const double length = static_cast<double>(engine.machine().whole().length(b));
    if (engine.is_partial(b)) an_item += length / static_cast<double>(engine.items());
    else if (m.buffers[b].role == machine::Role::statistic) sums += length;
    else if (m.buffers[b].role == machine::Role::factor) factors += length;
  }
  return had_by_now() + kElse +
         kNumber * (kCopies * an_item * static_cast<double>(items_at_a_time) +
                    sums * (static_cast<double>(threads) + kWritten) + kWritten * factors);
}

}  // namespace lehr
