// Finds barren elements. First it looks at statements: a variable whose elements are all named by complete data has no
// barren elements. For the others it searches upwards from the data, element by element (d_connected.h).
#include "compiler/instance/barren.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/forward.h"
#include "compiler/evaluate/packed.h"
#include "compiler/instance/d_connected.h"
#include "compiler/model/mixture_part.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// The search in one model with one data set.
class Search {
 public:
  Search(const Model& m, const BoundData& data, std::optional<PlateId> items) : m_(m), data_(data), items_(items) {}

  Masks run() const {
    Masks out(m_.variables.size());
    std::vector<bool> open;
    for (std::size_t k = 0; k < m_.variables.size(); ++k)
      // Variables with factors of their own may have barren elements.
      open.push_back(has_own_factors(VariableId(k)) && depends_on_latent(m_.variables[k]) &&
                     !is_d_connected(VariableId(k)));
    if (std::ranges::find(open, true) == open.end()) return out;
    // The search treats a variable with some missing values as latent.
    Model searched = m_;
    for (std::size_t k = 0; k < m_.variables.size(); ++k) {
      searched.variables[k].observed = m_.variables[k].observed && !is_clamped(VariableId(k));
      searched.variables[k].clamped = is_clamped(VariableId(k));
    }
    const ModelEvaluator forward(searched, data_);
    const std::vector<std::vector<bool>> d_connected = d_connected_to_data(forward, open);
    for (std::size_t k = 0; k < open.size(); ++k)
      if (open[k]) out[k] = mask(VariableId(k), d_connected[k], forward.width(VariableId(k)));
    return out;
  }

 private:
  /// Returns true if the data have values for some elements of the variable and miss others.
  bool is_clamped(VariableId v) const { return v.index() < data_.clamped.size() && data_.clamped[v.index()]; }
  /// Returns true if some elements of the variable are inferred.
  bool is_latent_here(VariableId v) const { return !m_[v].observed || is_clamped(v); }

  /// Returns true if each element of the variable has a factor of its own that its statement alone defines: no chain,
  /// no joint factor, no limits. With `items_`, the variable must also lie on that plate.
  bool has_own_factors(VariableId id) const {
    const Variable& v = m_[id];
    if (!is_latent_here(id) || v.auxiliary || v.joint) return false;
    const Statement& s = m_[v.statement];
    const auto names_it = [&](const model::JointGuide& joint) { return joint.has(id); };
    if (s.start || s.lagged || s.limits.any() || std::ranges::any_of(m_.guide.joint, names_it)) return false;
    if (items_ && (v.axes.empty() || m_[v.axes[0]].set != *items_)) return false;
    // A category that was added to choose a part of an observation is excluded: where that is missing, a guard removes
    // the term.
    return std::ranges::none_of(m_.statements, [&](const Statement& host) {
      return host.part && is_part_of(m_, host, id) && !is_latent_here(host.variable);
    });
  }

  /// Returns true if the statement of the variable reads a latent variable; otherwise no parent is narrowed.
  bool depends_on_latent(const Variable& v) const {
    return std::ranges::any_of(references_under(m_, roots_of(m_[v.statement])),
                               [&](const VariableRef* ref) { return is_latent_here(ref->variable); });
  }

  /// Returns true if complete data name all elements of the variable, so that no search is needed.
  bool is_d_connected(VariableId v) const {
    return std::ranges::any_of(m_.statements, [&](const Statement& s) {
      const Variable& x = m_[s.variable];
      if (!x.observed || is_clamped(s.variable) || data_.observed[s.variable.index()].has_missing || s.start)
        return false;
      return std::ranges::any_of(references_under(m_, roots_of(s)),
                                 [&](const VariableRef* ref) { return ref->variable == v && names_all(s, *ref); });
    });
  }

  /// Returns true if a reference runs over all elements of its variable: distinct index variables without shifts, and
  /// no empty loops around them.
  bool names_all(const Statement& s, const VariableRef& ref) const {
    std::vector<IndexVarId> free = s.index_vars;
    std::vector<IndexVarId> named;
    for (const Index& index : ref.indices) {
      const auto* bound = std::get_if<Index::Shifted>(&index.form);
      if (!bound || bound->offset != 0 || std::ranges::find(named, bound->bound) != named.end()) return false;
      named.push_back(bound->bound);
      std::erase(free, bound->bound);
    }
    return std::ranges::all_of(free, [&](IndexVarId b) { return shortest_row(data_, m_[m_[b].plate].set) > 0; });
  }

  /// Makes the mask of a variable. `d_connected` has the elements on which others depend; values of the element count,
  /// too.
  std::vector<double> mask(VariableId id, const std::vector<bool>& d_connected, std::size_t width) const {
    const std::vector<double>& x = data_.observed[id.index()].values;
    const auto has_value = [&](std::size_t i) { return is_clamped(id) && !std::isnan(x[i]); };
    const bool entries = has_independent_entries(m_, m_[id]);
    std::vector<double> out;
    for (std::size_t e = 0; e < d_connected.size(); ++e) {
      bool any = false;
      for (std::size_t i = e * width; i < (e + 1) * width; ++i) {
        if (entries) out.push_back(d_connected[e] || has_value(i) ? 1 : 0);
        any = any || has_value(i);
      }
      if (!entries) out.push_back(d_connected[e] || any ? 1 : 0);
    }
    return std::ranges::find(out, 0.0) == out.end() ? std::vector<double>() : out;
  }

  const Model& m_;
  const BoundData& data_;
  std::optional<PlateId> items_;
};

}  // namespace

Masks find_barren(const Model& m, const BoundData& data, std::optional<PlateId> items) {
  return Search(m, data, items).run();
}

Masks unreached_masks(Masks masks) {
  for (std::vector<double>& mask : masks)
    if (std::ranges::find(mask, 1.0) != mask.end()) mask.clear();
  return masks;
}

Masks without_members(const Guide& guide, Masks masks) {
  for (std::size_t k = 0; k < masks.size(); ++k)
    if (std::ranges::any_of(guide.joint, [&](const JointGuide& joint) { return joint.has(VariableId(k)); }))
      masks[k].clear();
  return masks;
}

Masks item_masks(const schedule::Schedule& schedule, Masks masks) {
  for (std::size_t k = 0; k < masks.size(); ++k) {
    const conditionals::BlockId b = schedule.conditionals.block_of[k];
    if (!b.valid() || !schedule.stage_of[b.index()]) masks[k].clear();
  }
  return masks;
}

density::ExpandOptions with_masks(density::ExpandOptions options, const Masks& masks) {
  options.may_be_missing.resize(std::max(options.may_be_missing.size(), masks.size()));
  for (std::size_t k = 0; k < masks.size(); ++k)
    if (!masks[k].empty()) options.may_be_missing[k] = true;
  return options;
}

void add_masks(const Model& m, const Masks& masks, BoundData& data) {
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const auto id = mask_of(m, v);
    if (!id) continue;
    data.givens.resize(std::max(data.givens.size(), id->index() + 1));
    std::vector<double>& values = data.givens[id->index()].values;
    if (k < masks.size() && !masks[k].empty()) values = masks[k];
    if (!values.empty()) continue;
    std::size_t n = 1;
    for (const std::int64_t extent : stored_shape(m, data, v.axes, m[*id].event))
      n *= static_cast<std::size_t>(extent);
    values.assign(n, 1.0);
  }
}

}  // namespace lehr
