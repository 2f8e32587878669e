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
  bool fresh = false;                    // items are inferred from their priors, not from what was known of them, where
                                         // Engine::items is there
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
  bool again = false;                                  // the items were formed by the sweep before
};

/// Nonzero: a status of the generated code.
std::int32_t sweep(const Engine& e, const SweepOptions& options, const SweepPlan& plan = {});

/// Statistics of the stored local factors as they are, nothing updated.
std::int32_t sum_statistics(const Engine& e);
/// Sums of the data alone from these items, scaled up, in place of those of all items: beside noisy sums over the factors,
/// exact ones would make naturals of no factor. The engine's `prepare` brings those of all items back.
std::int32_t sum_data(const Engine& e, std::span<const std::int64_t> batch);
/// Items take the values of the pick buffers; statistics are those of the items with picks. With `stored`, stages
/// without picks are summed as they are stored. In a window they are formed from their priors, and `put` may then change
/// those of a run.
std::int32_t seed_statistics(const Engine& e, bool stored,
                             const std::function<std::int32_t(std::size_t run, ItemRange)>& put);
/// The factors of all items from their priors, where Engine::items is there and keeps them all.
std::int32_t form_items(const Engine& e);
/// The same; and, where the blocks outside the items come first, inferred from those.
std::int32_t follow_items(const Engine& e);
/// A block that comes before the items of some stage reads the statistics of their factors.
bool reads_statistics_first(const Engine& e);
/// All blocks outside the items, but chains that were seeded.
std::int32_t update_globals(const Engine& e);

}  // namespace lehr
