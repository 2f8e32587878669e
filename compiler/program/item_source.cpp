#include "compiler/program/item_source.h"

#include <algorithm>
#include <map>

#include "compiler/program/minibatch.h"
#include "runtime/embedded/start.h"

namespace lehr {
namespace {

/// The run-time sizes that count items or rows nested in them, with the offsets that lead to those rows.
std::map<loops::SizeId, Offsets> sizes_of(const model::Model& m, const loops::Lowered& l,
                                          model::PlateId item) {
  std::map<loops::SizeId, Offsets> out{{l.plate_sizes[m[item].set.index()], {}}};
  for (const auto& [nested, buffers] : nested_in(m, l, item)) {
    Offsets& offsets = out[l.plate_sizes[nested.index()]];
    for (loops::BufferId b : buffers)
      offsets.push_back(b.index());
  }
  return out;
}

const loops::StageFunctions* stage_of(const loops::Lowered& l) {
  for (const auto& step : l.interface.steps) {
    const auto* stage = std::get_if<loops::StageFunctions>(&step);
    if (stage && stage->fresh) return stage;
  }
  return nullptr;
}

}  // namespace

std::optional<ItemSource> item_source(const model::Model& m, const loops::Lowered& l,
                                      std::shared_ptr<const Tables> tables,
                                      const std::function<Generated(std::size_t)>& function) {
  const loops::StageFunctions* stage = stage_of(l);
  if (!stage) return std::nullopt;
  const loops::Program& p = l.program;
  const std::map<loops::SizeId, Offsets> sizes = sizes_of(m, l, stage->item);
  ItemSource out;
  for (const auto& [size, offsets] : sizes)
    out.sizes.push_back({static_cast<std::size_t>(p[size].slot), offsets});
  for (std::size_t k = 0; k < p.buffers.size(); ++k) {
    const loops::Buffer& b = p.buffers[k];
    if (b.role != loops::Role::parameter && b.role != loops::Role::expectation) continue;
    const auto rows = b.axes.empty() ? sizes.end() : sizes.find(b.axes[0]);
    if (rows == sizes.end()) continue;
    ItemArray array{k, 1, rows->second};
    for (std::size_t x = 1; x < b.axes.size(); ++x) {
      const loops::Size& s = p[b.axes[x]];
      array.width *= static_cast<std::size_t>(
          s.constant >= 0 ? s.constant : l.size_values[static_cast<std::size_t>(s.slot)]);
    }
    out.arrays.push_back(std::move(array));
  }
  out.fresh = function(*stage->fresh);
  out.expectations = function(*stage->expectations);
  out.always_expectations =
      std::any_of(tables->parameters.begin(), tables->parameters.end(),
                  [](const embedded::ParameterRow& row) { return row.local && row.chain; });
  out.repair = [tables](lehr_buffer const* table, const std::int64_t* at) {
    const embedded::Model model = model_of(*tables);
    return embedded::repair({model, table, at}, true);
  };
  return out;
}

}  // namespace lehr
