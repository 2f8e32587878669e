#include "runtime/engine/sweep.h"

#include <algorithm>

namespace lehr {
namespace {

void clear(const Engine& e, const EngineStage& stage) {
  for (std::size_t b : stage.statistics)
    std::ranges::fill(e.memory.reals(b), 0.0);
}

std::int32_t run_items(const Engine& e, const Generated& f, ItemRange run, const SweepOptions& o,
                       lehr_buffer const* table) {
  const std::int64_t integers[] = {run.begin, run.end, o.local_iterations};
  const double reals[] = {o.local_tolerance};
  return f(table, e.sizes.data(), integers, reals);
}

std::vector<ItemRange> runs_of(std::span<const std::int64_t> batch) {
  std::vector<ItemRange> out;
  for (std::int64_t item : batch) {
    if (!out.empty() && out.back().end == item) ++out.back().end;
    else out.push_back({item, item + 1});
  }
  return out;
}

/// All items, as many at a time as are kept.
std::vector<ItemRange> slices(const Engine& e, std::int64_t items) {
  const std::int64_t step =
      e.items && e.items->window() > 0 ? e.items->window() : std::max<std::int64_t>(items, 1);
  std::vector<ItemRange> out;
  for (std::int64_t begin = 0; begin < items; begin += step)
    out.push_back({begin, std::min(items, begin + step)});
  return out;
}

/// These runs, kept together; each formed from its prior before where asked.
std::int32_t run_together(const Engine& e, const EngineStage& stage, std::span<const ItemRange> runs,
                          const SweepOptions& o, bool form) {
  if (form) e.items->place(runs);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    if (const std::int32_t status = form ? e.items->form(k) : 0) return status;
    lehr_buffer const* const table = e.items ? e.items->table(k) : e.memory.table();
    if (const std::int32_t status = run_items(e, stage.update, runs[k], o, table)) return status;
  }
  return 0;
}

/// Sums over a batch stand for those over all items.
void scale_up(const Engine& e, const EngineStage& stage, std::size_t batch,
              const std::vector<std::size_t>& sums) {
  const double scale = static_cast<double>(stage.items) / static_cast<double>(batch);
  if (scale == 1) return;
  for (std::size_t b : sums) {
    for (double& x : e.memory.reals(b))
      x *= scale;
  }
}

std::int32_t run_batch(const Engine& e, const EngineStage& stage, std::span<const std::int64_t> batch,
                       const SweepOptions& o, bool form) {
  if (const std::int32_t status = run_together(e, stage, runs_of(batch), o, form)) return status;
  scale_up(e, stage, batch.size(), stage.statistics);
  return 0;
}

std::int32_t run_all(const Engine& e, const EngineStage& stage, const SweepOptions& o, bool form) {
  for (const ItemRange& slice : slices(e, stage.items)) {
    if (const std::int32_t status = run_together(e, stage, {&slice, 1}, o, form)) return status;
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
  const bool fresh = options.fresh && e.items && !plan.again;
  for (const auto& step : e.steps) {
    std::int32_t status = 0;
    if (const auto* stage = std::get_if<EngineStage>(&step)) {
      // Nothing has changed since the items were inferred.
      if (fresh && plan.items_only && stage->refresh) continue;
      clear(e, *stage);
      status = e.call(stage->tables);
      if (status != 0) return status;
      const bool form = fresh && !stage->refresh;
      const bool drawn = plan.batch && stage->plate == e.batch_stage()->plate;
      status = drawn ? run_batch(e, *stage, *plan.batch, options, form) : run_all(e, *stage, options, form);
    } else if (!plan.items_only) {
      const auto& update = std::get<EngineUpdate>(step);
      if (plan.mixed_with) replace(e, update, *plan.mixed_with);
      status = plan.update ? plan.update(update) : e.call(update.function);
    }
    if (status != 0) return status;
  }
  return 0;
}

std::int32_t sum_data(const Engine& e, std::span<const std::int64_t> batch) {
  if (!e.batch_stage() || !e.batch_stage()->data) return 0;
  const EngineStage& stage = *e.batch_stage();
  for (std::size_t b : stage.data_sums)
    std::ranges::fill(e.memory.reals(b), 0.0);
  for (const ItemRange& run : runs_of(batch)) {
    if (const std::int32_t status = run_items(e, stage.data, run, {}, e.memory.table())) return status;
  }
  scale_up(e, stage, batch.size(), stage.data_sums);
  return 0;
}

std::int32_t sum_statistics(const Engine& e) {
  for (const auto& step : e.steps) {
    const auto* stage = std::get_if<EngineStage>(&step);
    if (!stage || !stage->sum) continue;
    clear(e, *stage);
    if (const std::int32_t status = run_items(e, stage->sum, {0, stage->items}, {}, e.memory.table()))
      return status;
  }
  return 0;
}

std::int32_t seed_statistics(const Engine& e, bool stored,
                             const std::function<std::int32_t(std::size_t, ItemRange)>& put) {
  for (const auto& step : e.steps) {
    const auto* stage = std::get_if<EngineStage>(&step);
    if (!stage) continue;
    const Generated& f = stage->seed || !stored ? stage->seed : stage->sum;
    if (!f) continue;
    clear(e, *stage);
    const bool window = e.items && e.items->window() > 0;
    for (const ItemRange& slice : slices(e, stage->items)) {
      if (window) {
        e.items->place({&slice, 1});
        if (const std::int32_t status = e.items->form(0)) return status;
        if (const std::int32_t status = put(0, slice)) return status;
      }
      lehr_buffer const* const table = window ? e.items->table(0) : e.memory.table();
      if (const std::int32_t status = run_items(e, f, slice, {}, table)) return status;
    }
  }
  return 0;
}

bool reads_statistics_first(const Engine& e) {
  return std::any_of(e.steps.begin() + (e.steps.empty() ? 0 : 1), e.steps.end(), [](const auto& s) {
    const auto* stage = std::get_if<EngineStage>(&s);
    return stage && !stage->refresh;
  });
}

std::int32_t form_items(const Engine& e) {
  if (!e.items || e.items->window() > 0) return 0;
  const ItemRange all{0, e.batch_stage()->items};
  e.items->place({&all, 1});
  return e.items->form(0);
}

std::int32_t follow_items(const Engine& e) {
  if (const std::int32_t status = form_items(e)) return status;
  const bool kept = e.items && e.items->window() == 0;
  return kept && reads_statistics_first(e) ? sweep(e, {}, {.items_only = true}) : 0;
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
