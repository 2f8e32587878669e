#include "compiler/schedule/exchangeable.h"

#include <algorithm>

namespace lehr::schedule {
namespace {

using density::Atom;
using density::BoundId;
using density::Guard;
using density::IndexBound;
using density::IndexConstant;
using density::IndexId;
using density::Relation;
using model::PlateId;

class Reader {
 public:
  Reader(const model::Model& m, const Schedule& s, PlateId plate)
      : m_(m), s_(s), a_(s.conditionals.density.algebra), plate_(plate) {}

  std::vector<BlockId> categories() const {
    std::vector<BlockId> out;
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      const model::Variable& v = m_[s_.conditionals.blocks[k].variable];
      const bool own = v.value_plate && is_plate(*v.value_plate) && !v.auxiliary && s_.local[k];
      if (own && std::ranges::none_of(v.axes, [&](PlateId p) { return is_plate(p); })) out.emplace_back(k);
    }
    return out;
  }

  /// Some block outside the items has a factor for each element.
  bool has_components() const {
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      const model::Variable& v = m_[s_.conditionals.blocks[k].variable];
      if (!s_.local[k] && std::ranges::any_of(v.axes, [&](PlateId p) { return is_plate(p); })) return true;
    }
    return false;
  }

  /// Terms treat elements alike, but for their data; sets `ordered` where the sticks of the plate tell their order.
  bool treats_alike(const Term& t) {
    for (BoundId b : a_.bounds_of(t.coef))
      told_apart_ = told_apart_ || is_plate(a_[b].plate);
    return std::ranges::all_of(t.atoms, [&](const Atom& x) { return is_alike(x); }) &&
           std::ranges::all_of(t.guards, [&](const Guard& g) { return is_alike(g); });
  }

  bool ordered() const { return ordered_; }
  bool told_apart() const { return told_apart_; }

 private:
  bool is_plate(PlateId p) const { return m_[p].set == m_[plate_].set; }
  bool is_stick(PlateId p) const {
    return std::ranges::any_of(m_.plates, [&](const model::Plate& x) {
      return x.stick && m_[x.set].set == m_[plate_].set && m_[*x.stick].set == m_[p].set;
    });
  }

  /// The index of an axis or event over the plate: a bound of it, or of its sticks.
  bool is_alike(IndexId i) {
    const auto* x = std::get_if<IndexBound>(&a_[i]);
    if (!x || x->offset != 0) return false;
    const PlateId of = a_[x->bound].plate;
    if (is_plate(of)) return true;
    ordered_ = ordered_ || is_stick(of);
    return is_stick(of);
  }

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

  bool is_alike(const Guard& g) {
    if (g.present || g.relation == Relation::equal || g.relation == Relation::not_equal) return true;
    bool here = false, sticks = false;
    for (const IndexId i : {g.left, g.right}) {
      for (BoundId b : a_.bounds_of(i)) {
        here = here || is_plate(a_[b].plate);
        sticks = sticks || is_stick(a_[b].plate);
      }
    }
    ordered_ = ordered_ || (here && sticks);
    return !here || sticks;
  }

  const model::Model& m_;
  const Schedule& s_;
  const density::Algebra& a_;
  PlateId plate_;
  bool ordered_ = false, told_apart_ = false;
};

bool is_chain(const Schedule& s, BlockId b) { return s.conditionals[b].chain.has_value(); }

}  // namespace

std::vector<Exchangeable> exchangeable_plates(const model::Model& m, const Schedule& s) {
  std::vector<Exchangeable> out;
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const PlateId plate(k);
    if (m[plate].set != plate || m[plate].parent) continue;
    Reader reader(m, s, plate);
    Exchangeable found{plate, reader.categories()};
    if (found.categories.empty() || !reader.has_components()) continue;
    if (!std::ranges::all_of(s.conditionals.density.terms, [&](const Term& t) { return reader.treats_alike(t); }))
      continue;
    found.ordered = reader.ordered();
    found.told_apart = reader.told_apart();
    const bool chains = std::ranges::all_of(found.categories, [&](BlockId b) { return is_chain(s, b); });
    if (found.told_apart && (found.ordered || !chains)) continue;
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace lehr::schedule
