// Prediction of out-of-core data in batches. Each variable has a section of the output file, to which every batch
// appends its rows. So the table has the row order of a prediction in memory. The section file joins the sections at
// the end.
#include "compiler/commands/predict_batches.h"

#include <algorithm>

#include "compiler/console/prediction_table.h"
#include "compiler/fit/item_independence.h"
#include "compiler/fit/out_of_core_data.h"
#include "compiler/posterior/posterior_prior.h"
#include "runtime/output/sections.h"
#include "runtime/parallel/chunks.h"
#include "runtime/threshold.h"

namespace lehr::commands {
namespace {

// Most items in one batch.
constexpr Threshold<std::int64_t> kMostItems("predict_batches.most_items", 2048);
/// About the most numbers that the draws of one batch may have, if each scalar of the data is drawn.
constexpr double kMaxScalars = 1 << 24;

/// Returns the number of items in a batch. It is a multiple of kItemsTogether if possible, so that an item is
/// vectorised with the same neighbours as in memory and has the same bits.
std::int64_t items_at_once(const OutOfCoreData& data, std::int64_t draws) {
  const double fit = kMaxScalars / std::max(1.0, data.values_per_item() * static_cast<double>(draws));
  const auto most =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(fit), 1, thresholds_of_environment()[kMostItems]);
  return most < kItemsTogether ? most : most / kItemsTogether * kItemsTogether;
}

}  // namespace

Result<PredictionOutcome> predict_in_batches(const FittedModel& f, const std::vector<std::string>& data,
                                             const PredictionOptions& options, const std::string& path,
                                             ExistingTarget existing) {
  if (const std::optional<model::PlateId> items = plate_of_items(f.complete)) {
    if (std::optional<Error> e = needs_other_items(f.source, f.complete, *items)) return *e;
    if (std::optional<Error> e = reads_other_items(f.source, f.complete.model, *items)) return *e;
  }
  Dataset constants;
  add_constants(f.resolved, f.fit, constants);
  const Result<std::shared_ptr<const OutOfCoreData>> streamed = OutOfCoreData::open(
      f.complete, data, fitted_settings(f.complete, f.fit), nullptr, constants, OutOfCoreData::Gaps::predicted);
  if (!streamed) return streamed.error();
  Result<SectionedFile> file = SectionedFile::begin(path, existing);
  if (!file) return file.error();
  PredictionOutcome out;
  const std::int64_t items = (*streamed)->items(), at_once = items_at_once(**streamed, options.draws),
                     parts = (items + at_once - 1) / at_once;
  for (std::int64_t k = 0; k < parts; ++k) {
    const machine::ItemRange range{k * at_once, std::min(items, (k + 1) * at_once)};
    const Result<std::pair<Dataset, Settings>> read = (*streamed)->part(range);
    if (!read) return read.error();
    PredictionOptions of_part = options;
    of_part.part.emplace((*streamed)->whole(), range.begin, (*streamed)->with_barren_items());
    const Result<Prediction> p = predict(f.source, f.resolved, f.complete, read->first, {}, f.fit, of_part);
    if (!p) return p.error();
    if (k == 0) {
      if (Result<bool> r = file->append(0, prediction_columns(*p)); !r) return r.error();
      out.notes = p->notes;
    }
    out.drawn = out.drawn || p->draws > 0;
    out.items = k == 0 ? p->items_found : combined(out.items, p->items_found);
    for (std::size_t i = 0; i < p->variables.size(); ++i) {
      const PredictedVariable& v = p->variables[i];
      // Variables that do not depend on items are predicted alike with each batch, and written once.
      const bool once = !lies_on_plate(p->model, p->model[v.variable].axes, *p->items);
      if (k == 0) out.variables.emplace_back(p->model[v.variable].name, 0);
      else if (once) continue;
      out.variables[i].second += v.elements.size();
      if (Result<bool> r = file->append(i, prediction_rows(*p, v)); !r) return r.error();
    }
  }
  if (Result<bool> r = file->finish(); !r) return r.error();
  return out;
}

}  // namespace lehr::commands
