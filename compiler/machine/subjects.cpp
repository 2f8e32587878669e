// Collects, for the elements of given plates, the data arrays whose first axes are those plates; each is a table of
// columns. Data that refer to an element by its number are columns too.
#include "compiler/machine/subjects.h"

#include <algorithm>

namespace lehr {
namespace {

/// Returns the number of a buffer.
std::int64_t position(loops::BufferId b) { return static_cast<std::int64_t>(b.index()); }

}  // namespace

template <class Named>
void SubjectTables::add(const Named& v, loops::BufferId buffer, bool covariate,
                        const std::vector<model::PlateId>& axes) {
  const bool same_lead = v.axes.size() >= axes.size() && std::equal(axes.begin(), axes.end(), v.axes.begin(),
                                                                    [&](auto a, auto b) { return set(a) == set(b); });
  if (!same_lead) return;
  machine::FeatureArrayRow row{};
  row.buffer = position(buffer);
  row.by = row.other = -1;
  row.covariate = covariate;
  row.first_inner = static_cast<std::int64_t>(t_.axes.size());
  if (v.axes.size() > axes.size() && m_[set(v.axes[axes.size()])].parent) {
    if (axes.size() != 1 || v.axes.size() != 2) return;
    row.form = machine::FeatureLayout::ragged;
    row.by = position(l_.data.offsets[set(v.axes[1]).index()]);
    for (model::PlateId p : v.event)
      t_.axes.push_back(extent(p));
  }
  row.inners = static_cast<std::int64_t>(t_.axes.size()) - row.first_inner;
  t_.columns.push_back(row);
}

/// Adds observations that refer to an element by an index in the data, such as `y[tie]` with `from[tie]` = node. A
/// second index of the same observation (`to[tie]`) distinguishes its columns.
void SubjectTables::add_named(model::PlateId element) {
  const auto names = [&](const model::Given& g) { return g.value_plate && !m_[set(*g.value_plate)].parent; };
  for (std::size_t a = 0; a < m_.givens.size(); ++a) {
    const model::Given& by = m_.givens[a];
    if (!names(by) || set(*by.value_plate) != set(element)) continue;
    for (std::size_t k = 0; k < m_.variables.size(); ++k) {
      const model::Variable& v = m_.variables[k];
      if (!v.observed || v.value_plate || !v.event.empty() || v.axes != by.axes) continue;
      machine::FeatureArrayRow row{};
      row.form = machine::FeatureLayout::named;
      row.buffer = position(l_.data.observed[k]);
      row.by = position(l_.data.givens[a]);
      bool alone = true;
      for (std::size_t b = 0; b < m_.givens.size(); ++b) {
        const model::Given& other = m_.givens[b];
        if (b == a || !names(other) || other.axes != by.axes) continue;
        row.other = position(l_.data.givens[b]);
        row.feature_count = extent(*other.value_plate);
        t_.columns.push_back(row);
        alone = false;
      }
      row.other = -1;
      if (alone) t_.columns.push_back(row);
    }
  }
}

std::int64_t SubjectTables::of(const std::vector<model::PlateId>& axes) {
  const auto [at, fresh] = written_.try_emplace(axes, static_cast<std::int64_t>(t_.subjects.size()));
  if (!fresh) return at->second;
  machine::ElementSetRow row{};
  row.first_axis = static_cast<std::int64_t>(t_.axes.size());
  // Elements of a nested plate are numbered through all rows, so the axes start at the last nested plate.
  const auto last_nested = std::find_if(axes.rbegin(), axes.rend(), [&](auto p) { return m_[set(p)].parent; });
  for (auto p = last_nested == axes.rend() ? axes.begin() : last_nested.base() - 1; p != axes.end(); ++p)
    t_.axes.push_back(extent(*p));
  row.axes = static_cast<std::int64_t>(t_.axes.size()) - row.first_axis;
  row.first_columns = static_cast<std::int64_t>(t_.columns.size());
  for (std::size_t k = 0; k < m_.variables.size(); ++k) {
    const model::Variable& v = m_.variables[k];
    const bool numeric = v.clamped && !v.value_plate && !v.auxiliary;
    if (v.observed || numeric) add(v, l_.data.observed[k], false, axes);
  }
  for (std::size_t k = 0; k < m_.givens.size(); ++k)
    add(m_.givens[k], l_.data.givens[k], true, axes);
  if (axes.size() == 1) add_named(axes[0]);
  row.columns = static_cast<std::int64_t>(t_.columns.size()) - row.first_columns;
  t_.subjects.push_back(row);
  return at->second;
}

}  // namespace lehr
