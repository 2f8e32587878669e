// Samples of items. The items are divided into equal strata, and each gives one run of consecutive items, since
// generated code works on several items together.
#include "runtime/search/item_sample.h"

#include <algorithm>

namespace lehr {
namespace {

constexpr std::int64_t kFraction = 6;  // items for each one in a sample at most
constexpr double kLargest = 0.3;       // largest sample, as a fraction of the items

constexpr double kData = 10;          // observed numbers of a sample at least, for each global parameter
constexpr std::int64_t kFewest = 64;  // items of a sample at least
constexpr std::int64_t kRun = 16;     // items of a run at most
constexpr std::int64_t kStrata = 64;  // strata at least; runs are shorter where there are few items

/// Returns how many numbers the data have.
double size_of_data(const Engine& e) {
  double out = 0;
  for (std::int64_t k = 0; k < e.model().array_count; ++k) {
    const machine::ArrayRow& row = e.model().arrays[k];
    if (row.domain == machine::Domain::offsets) continue;
    const bool integers = e.model().buffers[row.buffer].integers != 0;
    out += static_cast<double>(integers ? e.integers(row.buffer).size() : e.reals(row.buffer).size());
  }
  return out;
}

/// Returns how many parameters the global factors have.
double global_parameters(const Engine& e) {
  double out = 0;
  for (const std::int64_t b : e.global_buffers())
    out += static_cast<double>(e.reals(b).size());
  return out;
}

}  // namespace

double operations_of_sweep(const Engine& e) {
  double out = 0;
  for (const StepRow& step : e.steps()) {
    if (step.refresh) continue;
    out += static_cast<double>(step.outside);
    if (step.stage) out += static_cast<double>(step.operations) * static_cast<double>(e.extent(step.items));
  }
  return out;
}

std::vector<std::int64_t> sample_of_items(const Engine& e, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x5A3F;  // of random numbers
  if (!e.can_distribute() || e.machine().loader) return {};
  const std::int64_t items = e.items();
  const double needed = kData * global_parameters(e) / size_of_data(e);
  if (!(needed <= kLargest)) return {};
  const std::int64_t size =
      std::max({items / kFraction, kFewest, static_cast<std::int64_t>(needed * static_cast<double>(items))});
  if (static_cast<double>(size) > kLargest * static_cast<double>(items)) return {};
  const std::int64_t run = std::clamp<std::int64_t>(size / kStrata, 1, kRun), strata = size / run;
  Rng rng(seed, kStream);
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < strata; ++k) {
    const std::int64_t begin = items * k / strata, end = items * (k + 1) / strata;
    const std::int64_t first =
        begin + static_cast<std::int64_t>(draw_below(rng, static_cast<std::uint64_t>(end - begin - run + 1)));
    for (std::int64_t i = 0; i < run; ++i)
      out.push_back(first + i);
  }
  return out;
}

}  // namespace lehr
