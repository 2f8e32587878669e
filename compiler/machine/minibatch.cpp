// Dependence of code on the number of items, by a walk over the functions outside the item stages.
#include "compiler/machine/minibatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/loops/walk.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using loops::BufferId;
using loops::SizeId;

/// Returns the sizes that change with the items: of the plate, of plates nested in it, of their longest rows and
/// offsets.
std::set<SizeId> sizes_of_items(const model::Model& m, const loops::Lowered& l, model::PlateId plate) {
  std::set<SizeId> out{l.plate_sizes[m[plate].set.index()]};
  for (const auto& [nested, offsets] : nested_in(m, l, plate)) {
    out.insert(l.plate_sizes[nested.index()]);
    if (l.longest[nested.index()].valid()) out.insert(l.longest[nested.index()]);
    out.insert(l.program[offsets.back()].axes[0]);
  }
  return out;
}

/// Returns true if one of these sizes counts the coordinates of a joint factor.
bool number_coordinates(const model::Model& m, const loops::Lowered& l, const std::set<SizeId>& sizes) {
  for (const model::Variable& v : m.variables) {
    if (!model::is_joint(v)) continue;
    for (const model::Member& member : v.auxiliary->members)
      for (const model::PlateId p : model::coordinate_plates(m, member))
        if (sizes.contains(l.plate_sizes[p.index()])) return true;
  }
  return false;
}

/// Returns true if a function evaluates one of these sizes, or accesses an array that has one as an extent. The number
/// of items itself, `own`, may be evaluated, since minibatches scale it.
bool visits(const loops::Lowered& l, std::size_t function, const std::set<SizeId>& items, SizeId own) {
  const auto is_of_items = [&](SizeId s) { return items.contains(s); };
  bool touched = false;
  const auto count = [&](loops::ExprId id) {
    const auto* extent = std::get_if<loops::Extent>(&l.program[id].node);
    touched = touched || (extent && extent->size != own && is_of_items(extent->size));
  };
  const auto use = [&](BufferId b, bool) { touched = touched || std::ranges::any_of(l.program[b].axes, is_of_items); };
  loops::Walk walk{l.program, count, use};
  walk.block(l.program.functions[function].body);
  for (const loops::ParallelRegion& phase : l.program.functions[function].regions) {
    walk.expr(phase.trip_count);
    walk.block(l.program.functions[phase.function].body);
  }
  for (const loops::CachedSums& cached : l.program.functions[function].cached)
    touched = touched || visits(l, cached.function, items, own);
  return touched;
}

}  // namespace

std::map<model::PlateId, std::vector<BufferId>> nested_in(const model::Model& m, const loops::Lowered& l,
                                                          model::PlateId plate) {
  std::map<model::PlateId, std::vector<BufferId>> out;
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t k = 0; k < m.plates.size(); ++k) {
      const model::PlateId nested(k);
      if (m[nested].set != nested || !m[nested].parent || out.contains(nested)) continue;
      const model::PlateId parent = m[*m[nested].parent].set;
      const auto above = out.find(parent);
      if (above == out.end() && parent != m[plate].set) continue;
      std::vector<BufferId> offsets = above == out.end() ? std::vector<BufferId>{} : above->second;
      offsets.push_back(l.data.offsets[k]);
      out[nested] = std::move(offsets);
      grew = true;
    }
  }
  return out;
}

std::optional<model::PlateId> batch_plate(const model::Model& m, const loops::Lowered& l) {
  for (const schedule::SweepEntry& entry : l.interface.sweep) {
    if (const auto* s = std::get_if<loops::StageFunctions>(&l.interface.steps[entry.step])) return m[s->item].set;
  }
  for (const model::Variable& v : m.variables) {
    if (has_data(v) && !v.axes.empty()) return m[v.axes[0]].set;
  }
  return std::nullopt;
}

bool supports_minibatches(const model::Model& m, const loops::Lowered& l, model::PlateId plate) {
  const std::set<SizeId> items = sizes_of_items(m, l, plate);
  const SizeId own = l.plate_sizes[m[plate].set.index()];
  if (l.program[own].constant >= 0 || number_coordinates(m, l, items)) return false;
  for (const auto& step : l.interface.steps) {
    const auto* stage = std::get_if<loops::StageFunctions>(&step);
    if (visits(l, stage ? stage->tables : std::get<loops::UpdateFunction>(step).function, items, own)) return false;
  }
  return !visits(l, l.interface.elbo, items, own);
}

std::optional<std::string> needs_all_items(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l,
                                           model::PlateId plate) {
  const std::set<SizeId> items = sizes_of_items(m, l, plate);
  const SizeId own = l.plate_sizes[m[plate].set.index()];
  const std::string& name = m[plate].name;
  if (l.program[own].constant >= 0) return fmt::format("the model fixes the number of '{}'", name);
  for (const auto& step : l.interface.steps) {
    const auto* stage = std::get_if<loops::StageFunctions>(&step);
    const auto* update = std::get_if<loops::UpdateFunction>(&step);
    if (stage && m[stage->item].set != m[plate].set)
      return fmt::format("'{}' has variables of single elements, too", m[stage->item].name);
    if (visits(l, stage ? stage->tables : update->function, items, own))
      return stage ? fmt::format("what is known of '{}' before single ones are visited is found from all of them", name)
                   : fmt::format("'{}' is updated from every '{}' by itself",
                                 m[s.conditionals[update->block].variable].name, name);
  }
  if (visits(l, l.interface.elbo, items, own) || number_coordinates(m, l, items))
    return fmt::format("the bound visits every '{}' by itself", name);
  for (const loops::Buffer& b : l.program.buffers)
    if (b.role == loops::Role::table && std::ranges::any_of(b.axes, [&](SizeId x) { return items.contains(x); }))
      return fmt::format("{} is kept for every '{}'", b.name, name);
  return std::nullopt;
}

std::vector<BufferId> data_sums_over(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l,
                                     model::PlateId plate) {
  std::vector<BufferId> out;
  const density::Algebra& a = s.conditionals.density.algebra;
  for (std::size_t k = 0; k < s.statistics.size(); ++k) {
    const schedule::Statistic& x = s.statistics[k];
    const bool over = std::any_of(x.inner.index_vars.begin(), x.inner.index_vars.end(),
                                  [&](density::IndexVarId b) { return m[a[b].plate].set == m[plate].set; });
    if (x.of_data() && over) out.push_back(l.interface.sums[k]);
  }
  return out;
}

}  // namespace lehr
