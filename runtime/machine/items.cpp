// Finds and initialises the rows of single items in the buffers of factors. Rows of nested plates are found by
// following their row offsets. With a window, table_of() shifts the base addresses of buffers so that generated code
// can use the items' own indices: base = address of the row in the window - offset that the row has in the whole
// buffer.
#include "runtime/machine/items.h"

#include <cstring>

#include "runtime/machine/start.h"

namespace lehr::machine {
namespace {

/// Returns the stage that has all local blocks; null if there is none. Only such a stage can set items to their priors.
const StepRow* forming_stage(const Model& m) {
  for (const StepRow& step : steps_of(m)) {
    if (step.to_priors >= 0) return &step;
  }
  return nullptr;
}

/// Returns true if some local block is a chain, whose expectations do not follow from its parameters element by
/// element.
bool has_local_chain(const Model& m) {
  for (const ParameterRow& row : parameters_of(m)) {
    if (row.local && row.chain) return true;
  }
  return false;
}

/// Replaces the improper factors of one run of items by standard ones. It makes a table and sizes in which the items of
/// the run are all items. Returns true if there was an improper factor.
bool repair_run(const Machine& m, std::size_t k, ItemRange run) {
  const Model& model = *m.model;
  std::memcpy(m.run_table, m.table, unsigned_of(model.buffer_count) * sizeof(lehr_buffer));
  std::memcpy(m.run_sizes, m.stored_sizes, unsigned_of(model.size_count) * 8);
  for (std::int64_t b = 0; b < model.buffer_count; ++b) {
    if (is_of_items(m, b)) m.run_table[b] = factors_of(m, k, run, b).data();
  }
  for (std::int64_t slot = 0; slot < model.size_count; ++slot) {
    const std::int64_t begin = row_of(m, -(slot + 1), run.begin);
    if (begin >= 0) m.run_sizes[slot] = row_of(m, -(slot + 1), run.end) - begin;
  }
  return repair({model, m.run_table, m.run_sizes}, true);
}

}  // namespace

std::int64_t row_of(const Machine& m, Extent items, Extent size, std::int64_t item) {
  if (size >= 0) return -1;
  if (size == items) return item;
  const SizeRow& row = m.model->sizes[-(size + 1)];
  if (row.rule != SizeRule::nested) return -1;
  const ArrayRow& offsets = m.model->arrays[row.offsets];
  const std::int64_t parent = row_of(m, items, offsets.rows, item);
  return parent < 0 ? -1 : static_cast<const std::int64_t*>(m.table[offsets.buffer])[parent];
}

std::int64_t row_of(const Machine& m, Extent size, std::int64_t item) {
  const StepRow* const stage = forming_stage(*m.model);
  return stage ? row_of(m, stage->items, size, item) : -1;
}

bool is_of_items(const Machine& m, std::int64_t buffer) {
  const BufferRow& b = m.model->buffers[buffer];
  return b.role == Role::factor && b.axes > 0 && row_of(m, m.model->axes[b.first_axis], 0) >= 0;
}

std::size_t row_width(const Machine& m, std::int64_t buffer) {
  const BufferRow& b = m.model->buffers[buffer];
  std::size_t width = 1;
  for (std::int64_t k = 1; k < b.axes; ++k)
    width *= unsigned_of(m.view().extent(m.model->axes[b.first_axis + k]));
  return width;
}

void assign_window(const Machine& m, std::span<const ItemRange> runs) {
  if (m.window) m.window->assign(m.window->context, runs.data(), runs.size());
}

std::span<double> factors_of(const Machine& m, std::size_t k, ItemRange run, std::int64_t buffer) {
  const Extent size = m.model->axes[m.model->buffers[buffer].first_axis];
  const std::size_t width = row_width(m, buffer), first = unsigned_of(row_of(m, size, run.begin)) * width,
                    length = unsigned_of(row_of(m, size, run.end)) * width - first;
  double* const begin =
      m.window ? m.window->first_row(m.window->context, k, buffer) : static_cast<double*>(m.table[buffer]) + first;
  return {begin, length};
}

lehr_buffer const* table_of(const Machine& m, std::size_t k, ItemRange run) {
  if (!m.window) return m.table;
  const Model& model = *m.model;
  std::memcpy(m.run_table, m.table, unsigned_of(model.buffer_count) * sizeof(lehr_buffer));
  for (std::int64_t b = 0; b < model.buffer_count; ++b) {
    if (!is_of_items(m, b)) continue;
    const Extent size = model.axes[model.buffers[b].first_axis];
    // The beginning of the whole array lies outside of the window, so the address is not formed as a pointer.
    const auto here = reinterpret_cast<std::uintptr_t>(factors_of(m, k, run, b).data());
    m.run_table[b] =
        reinterpret_cast<lehr_buffer>(here - 8 * unsigned_of(row_of(m, size, run.begin)) * row_width(m, b));
  }
  return m.run_table;
}

std::int32_t run_expectations(const Machine& m, std::size_t k, ItemRange run) {
  return run_items(m, forming_stage(*m.model)->expectations, run, table_of(m, k, run));
}

std::int32_t form(const Machine& m, std::size_t k, ItemRange run) {
  const StepRow& stage = *forming_stage(*m.model);
  if (const std::int32_t status = run_items(m, stage.to_priors, run, table_of(m, k, run))) return status;
  const bool whole = run.begin == 0 && run.end == m.view().extent(stage.items) && !m.window;
  // Initialisation computes expectations from priors, so that they are stale after a repair, and missing in chains.
  const bool stale = (whole ? repair(m.view(), true) : repair_run(m, k, run)) || has_local_chain(*m.model);
  return stale ? run_expectations(m, k, run) : 0;
}

bool has_single_stage(const Model& m) { return forming_stage(m) != nullptr; }

std::int32_t items_to_priors(const Machine& m) {
  const Model& model = *m.model;
  if (const StepRow* const stage = forming_stage(model)) {
    if (!m.stores_all_items()) return 0;  // they are set to their priors when they are visited
    const ItemRange all{0, View{model, m.table, m.stored_sizes}.extent(stage->items)};
    return form(m, 0, all);
  }
  if (model.initialise_local < 0) return 0;
  if (const std::int32_t status = call_on_stored(m, model.initialise_local)) return status;
  return repair(m.view(), true) || has_local_chain(model) ? call_on_stored(m, model.expectations) : 0;
}

std::int32_t finish_item_start(const Machine& m, bool formed) {
  const bool stored = m.stores_all_items() || (m.loader && m.loader->loads_by_chunks);
  if (!has_single_stage(*m.model) || !stored) return 0;
  if (const std::int32_t status = formed ? 0 : items_to_priors(m)) return status;
  return reads_statistics_first(*m.model) ? sweep(m, {.scope = SweepScope::local}) : 0;
}

}  // namespace lehr::machine
