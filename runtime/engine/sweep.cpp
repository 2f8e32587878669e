#include "runtime/engine/sweep.h"

#include <algorithm>

namespace lehr {
namespace {

void clear(const Engine& e, const EngineStage& stage) {
  for (std::size_t b : stage.statistics)
    std::ranges::fill(e.memory.reals(b), 0.0);
}

std::int32_t run_items(const Engine& e, const Generated& f, std::int64_t begin, std::int64_t end,
                       const SweepOptions& o) {
  const std::int64_t integers[] = {begin, end, o.local_iterations};
  const double reals[] = {o.local_tolerance};
  return f(e.memory.table(), e.sizes.data(), integers, reals);
}

/// Runs of consecutive items are one call.
std::int32_t run_batch(const Engine& e, const EngineStage& stage, std::span<const std::int64_t> batch,
                       const SweepOptions& o) {
  for (std::size_t i = 0; i < batch.size();) {
    std::size_t end = i + 1;
    while (end < batch.size() && batch[end] == batch[end - 1] + 1)
      ++end;
    if (const std::int32_t status = run_items(e, stage.update, batch[i], batch[end - 1] + 1, o))
      return status;
    i = end;
  }
  const double scale = static_cast<double>(stage.items) / static_cast<double>(batch.size());
  if (scale == 1) return 0;
  for (std::size_t b : stage.statistics) {
    for (double& x : e.memory.reals(b))
      x *= scale;
  }
  return 0;
}

void replace(const Engine& e, const EngineUpdate& update, const Parameters& by) {
  for (std::size_t b : update.parameters) {
    const auto at = std::find(e.settled.begin(), e.settled.end(), b);
    if (at == e.settled.end()) continue;
    std::ranges::copy(by[static_cast<std::size_t>(at - e.settled.begin())], e.memory.reals(b).begin());
  }
}

}  // namespace

Parameters global_parameters(const Engine& e) {
  Parameters out;
  for (std::size_t b : e.settled) {
    const std::span<const double> x = e.memory.reals(b);
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

std::int32_t sweep(const Engine& e, const SweepOptions& options, const SweepPlan& plan) {
  std::optional<std::int64_t> items;  // of the plate that batches are drawn from
  for (const auto& step : e.steps) {
    std::int32_t status = 0;
    if (const auto* stage = std::get_if<EngineStage>(&step)) {
      if (!items) items = stage->items;
      clear(e, *stage);
      status = e.call(stage->tables);
      if (status != 0) return status;
      status = plan.batch && stage->items == *items ? run_batch(e, *stage, *plan.batch, options)
                                                    : run_items(e, stage->update, 0, stage->items, options);
    } else if (!plan.items_only) {
      const auto& update = std::get<EngineUpdate>(step);
      if (plan.mixed_with) replace(e, update, *plan.mixed_with);
      status = plan.update ? plan.update(update) : e.call(update.function);
    }
    if (status != 0) return status;
  }
  return 0;
}

std::int32_t sum_statistics(const Engine& e) {
  for (const auto& step : e.steps) {
    const auto* stage = std::get_if<EngineStage>(&step);
    if (!stage || !stage->sum) continue;
    clear(e, *stage);
    if (const std::int32_t status = run_items(e, stage->sum, 0, stage->items, {})) return status;
  }
  return 0;
}

std::int32_t seed_statistics(const Engine& e, bool stored) {
  for (const auto& step : e.steps) {
    const auto* stage = std::get_if<EngineStage>(&step);
    if (!stage) continue;
    const Generated& f = stage->seed || !stored ? stage->seed : stage->sum;
    if (!f) continue;
    clear(e, *stage);
    if (const std::int32_t status = run_items(e, f, 0, stage->items, {})) return status;
  }
  return 0;
}

std::int32_t update_globals(const Engine& e) {
  for (const auto& step : e.steps) {
    const auto* update = std::get_if<EngineUpdate>(&step);
    if (!update || update->seeded) continue;
    if (const std::int32_t status = e.call(update->function)) return status;
  }
  return 0;
}

}  // namespace lehr
