// Finds the plates of components whose elements could change places, by reading every term of the log joint.
//
// A term treats the elements of a plate alike if each index over the plate is a plain index variable, without offset,
// constant or lookup. Stick-breaking weights have another plate, that of the sticks; comparisons between the two give
// the elements an order.
#include "compiler/schedule/exchangeable.h"

#include <algorithm>

namespace lehr::schedule {
namespace {

using density::Atom;
using density::Guard;
using density::IndexConstant;
using density::IndexId;
using density::IndexVarId;
using density::IndexVarRef;
using density::Relation;
using model::PlateId;

/// Reads terms for one plate, and records whether they give its elements an order or distinguish them by data.
class Reader {
 public:
  /// Starts with no term read.
  Reader(const model::Model& m, const Schedule& s, PlateId plate)
      : m_(m), s_(s), a_(s.conditionals.density.algebra), plate_(plate) {}

  /// Returns the local categories whose values are elements of the plate.
  std::vector<BlockId> categories() const {
    std::vector<BlockId> out;
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      const model::Variable& v = m_[s_.conditionals.blocks[k].variable];
      const bool own = v.value_plate && is_plate(*v.value_plate) && !v.auxiliary && s_.local[k];
      if (own && std::ranges::none_of(v.axes, [&](PlateId p) { return is_plate(p); })) out.emplace_back(k);
    }
    return out;
  }

  /// Returns true if some global block has an element for each element of the plate.
  bool has_components() const {
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      const model::Variable& v = m_[s_.conditionals.blocks[k].variable];
      if (!s_.local[k] && std::ranges::any_of(v.axes, [&](PlateId p) { return is_plate(p); })) return true;
    }
    return false;
  }

  /// Returns true if the term treats the elements alike but for data that are indexed by them. It records such data,
  /// and an order by stick-breaking.
  bool treats_alike(const Term& t) {
    for (IndexVarId b : a_.index_vars_of(t.coef))
      distinguished_ = distinguished_ || is_plate(a_[b].plate);
    return std::ranges::all_of(t.atoms, [&](const Atom& x) { return is_alike(x); }) &&
           std::ranges::all_of(t.guards, [&](const Guard& g) { return is_alike(g); });
  }

  /// Returns true if stick-breaking weights have given an order.
  bool ordered() const { return ordered_; }
  /// Returns true if data are indexed by the plate.
  bool distinguished() const { return distinguished_; }

 private:
  /// Returns true if `p` is the plate, also under another name.
  bool is_plate(PlateId p) const { return m_[p].set == m_[plate_].set; }
  /// Returns true if `p` is the plate of the sticks of this plate.
  bool is_stick(PlateId p) const {
    return std::ranges::any_of(m_.plates, [&](const model::Plate& x) {
      return x.stick && m_[x.set].set == m_[plate_].set && m_[*x.stick].set == m_[p].set;
    });
  }

  /// Returns true if an index over the plate is a plain index variable over it, or over its sticks.
  bool is_alike(IndexId i) {
    const auto* x = std::get_if<IndexVarRef>(&a_[i]);
    if (!x || x->offset != 0) return false;
    const PlateId of = a_[x->bound].plate;
    if (is_plate(of)) return true;
    ordered_ = ordered_ || is_stick(of);
    return is_stick(of);
  }

  /// Returns true if all indices of the atom that range over the plate are alike.
  bool is_alike(const Atom& x) {
    const model::Variable& v = m_[x.variable];
    for (std::size_t k = 0; k < x.axes.size() && k < v.axes.size(); ++k) {
      if (is_plate(v.axes[k]) && !is_alike(x.axes[k])) return false;
    }
    for (std::size_t k = 0; k < x.event.size(); ++k) {
      const std::optional<PlateId> over = v.value_plate        ? v.value_plate
                                          : k < v.event.size() ? std::optional(v.event[k])
                                                               : std::nullopt;
      if (over && is_plate(*over) && !is_alike(x.event[k])) return false;
    }
    return true;
  }

  /// Returns true if the guard does not order the elements, unless by comparison with their sticks.
  bool is_alike(const Guard& g) {
    if (g.present || g.relation == Relation::equal || g.relation == Relation::not_equal) return true;
    bool here = false, sticks = false;
    for (const IndexId i : {g.left, g.right}) {
      for (IndexVarId b : a_.index_vars_of(i)) {
        here = here || is_plate(a_[b].plate);
        sticks = sticks || is_stick(a_[b].plate);
      }
    }
    ordered_ = ordered_ || (here && sticks);
    return !here || sticks;
  }

  const model::Model& m_;                         // the model
  const Schedule& s_;                             // its schedule
  const density::Algebra& a_;                     // of the terms
  PlateId plate_;                                 // the plate
  bool ordered_ = false, distinguished_ = false;  // what was recorded
};

/// Returns true if one factor covers whole sequences of the block.
bool is_chain(const Schedule& s, BlockId b) { return s.conditionals[b].chain.has_value(); }

}  // namespace

std::vector<Exchangeable> exchangeable_plates(const model::Model& m, const Schedule& s) {
  std::vector<Exchangeable> out;
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const PlateId plate(k);
    if (m[plate].set != plate || m[plate].parent) continue;
    Reader reader(m, s, plate);
    Exchangeable candidate{plate, reader.categories()};
    if (candidate.categories.empty() || !reader.has_components()) continue;
    if (!std::ranges::all_of(s.conditionals.density.terms, [&](const Term& t) { return reader.treats_alike(t); }))
      continue;
    candidate.ordered = reader.ordered();
    candidate.distinguished = reader.distinguished();
    const bool chains = std::ranges::all_of(candidate.categories, [&](BlockId b) { return is_chain(s, b); });
    if (candidate.distinguished && (candidate.ordered || !chains)) continue;
    out.push_back(std::move(candidate));
  }
  return out;
}

}  // namespace lehr::schedule
