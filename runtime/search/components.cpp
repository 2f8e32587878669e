// Reads the components of a model from its tables (ComponentsRow). The features of the elements are computed when a
// split first needs them.
#include "runtime/search/components.h"

#include <algorithm>

#include "runtime/machine/component_order.h"
#include "runtime/search/features.h"

namespace lehr {
namespace {

using machine::unsigned_of;

/// Returns a range of Model::component_arrays, with the set bits of their axes as a list.
std::vector<ComponentArray> arrays(const machine::Model& m, std::int64_t first, std::int64_t count) {
  std::vector<ComponentArray> out;
  for (const machine::ComponentArrayRow& row : std::span(m.component_arrays + first, unsigned_of(count))) {
    ComponentArray a{row.kind, row.buffer, {}};
    for (std::size_t k = 0; k < 64; ++k) {
      if ((row.axes >> k & 1) != 0) a.axes.push_back(k);
    }
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace

std::vector<Components> components_of(const Engine& e) {
  const machine::Model& m = e.model();
  std::vector<Components> out;
  for (std::int64_t k = 0; k < m.components_count; ++k) {
    const machine::ComponentsRow& row = m.components[k];
    Components c;
    c.name = m.component_names[k];
    c.count = unsigned_of(e.extent(row.count));
    if (c.count < 2) continue;  // nothing to move
    const auto order = static_cast<machine::ComponentOrder>(row.ordered);
    c.ordered = order == machine::ComponentOrder::by_size;
    c.distinguished = order == machine::ComponentOrder::distinguished;
    c.arrays = arrays(m, row.first_array, row.arrays);
    c.counts = arrays(m, row.first_count, row.counts);
    for (const machine::StickSumsRow& h : std::span(m.stick_sums + row.first_head, unsigned_of(row.heads)))
      c.stick_sums.emplace_back(h.most, h.all);
    for (const machine::AllocationRow& a :
         std::span(m.allocations + row.first_allocation, unsigned_of(row.allocations))) {
      const auto features = [&e, subject = a.subject] {
        const Columns x = features_of(e, subject, true);
        return Features{unsigned_of(x.cols()), {x.data(), x.data() + x.size()}};
      };
      const bool chain = std::ranges::any_of(
          machine::parameters_of(m), [&](const machine::ParameterRow& p) { return p.chain && p.buffer == a.buffer; });
      c.allocations.push_back({a.step, a.buffer, a.sums, chain, features});
    }
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace lehr
