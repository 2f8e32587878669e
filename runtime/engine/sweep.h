// One sweep over the steps of an engine, over all items or some of them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/engine/engine.h"

namespace lehr {

struct SweepOptions {
  std::int64_t local_iterations = 100;   // per item, where local blocks depend on each other
  double local_tolerance = 1e-4;         // mean relative change of the item's parameters
};

/// Values of the global parameters, one array a buffer of `Engine::settled`.
using Parameters = std::vector<std::vector<double>>;
Parameters global_parameters(const Engine& e);

/// What a sweep does besides updating every step in order.
struct SweepPlan {
  bool items_only = false;                             // no block outside the items
  std::optional<std::span<const std::int64_t>> batch = {};  // ascending items of the first stage's plate; sums are scaled up
  std::function<std::int32_t(const EngineUpdate&)> update = {};  // instead of calling its function
  const Parameters* mixed_with = nullptr;              // each global block steps from these instead of from itself
};

/// Nonzero: a status of the generated code.
std::int32_t sweep(const Engine& e, const SweepOptions& options, const SweepPlan& plan = {});

/// Statistics of the stored local factors as they are, nothing updated.
std::int32_t sum_statistics(const Engine& e);
/// Items take the values of the pick buffers; statistics are those of the items with picks. With `stored`, stages
/// without picks are summed as they are stored.
std::int32_t seed_statistics(const Engine& e, bool stored);
/// All blocks outside the items, but chains that were seeded.
std::int32_t update_globals(const Engine& e);

}  // namespace lehr
