// Degrees of the terms of the density in what belongs to one item.
#include "compiler/schedule/moments.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace lehr::schedule {
namespace {

using density::Algebra;
using density::Atom;
using density::CoefId;
using density::IndexId;
using density::IndexVarId;
using density::Term;
using math::Stat;

/// The degree of a polynomial; nothing for what is no polynomial, or differs from item to item in another way.
using Degree = std::optional<int>;

/// Degrees of the parts of one term in the data and variables of the item that an index variable names.
class ItemDegrees {
 public:
  ItemDegrees(const model::Model& m, const Algebra& a, IndexVarId item) : m_(m), a_(a), item_(item) {}

  /// Returns the degree of the term.
  Degree of(const Term& t) const {
    if (!t.multiplicities.empty() || std::ranges::any_of(t.index_vars, [&](IndexVarId b) { return is_nested(b); }))
      return {};
    for (const density::Guard& g : t.guards) {
      if (g.present || a_.mentions(g.left, item_) || a_.mentions(g.right, item_)) return {};
    }
    Degree out = of(t.coef);
    for (const Atom& x : t.atoms)
      out = sum(out, of(x));
    return out;
  }

 private:
  static Degree sum(Degree a, Degree b) { return a && b ? Degree(*a + *b) : Degree(); }

  /// Returns true if the index variable ranges over elements that are nested in the item, of which others may have
  /// more.
  bool is_nested(IndexVarId b) const { return a_[b].parent && a_.mentions(*a_[b].parent, item_); }

  /// Returns 1 if the first index is the item and no other mentions it, 0 if none does; else nothing.
  Degree of(const std::vector<IndexId>& indices) const {
    int out = 0;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      if (!a_.mentions(indices[k], item_)) continue;
      const auto* variable = std::get_if<density::IndexVarRef>(&a_[indices[k]]);
      if (k > 0 || !variable || variable->offset != 0) return {};
      out = 1;
    }
    return out;
  }

  Degree of(CoefId c) const {
    if (!a_.mentions(c, item_)) return 0;
    const density::CoefNode& node = a_[c];
    if (const auto* x = std::get_if<density::CoefData>(&node)) return of(x->indices);
    if (const auto* x = std::get_if<density::CoefSum>(&node)) return is_nested(x->bound) ? Degree() : of(x->body);
    const bool adds = std::holds_alternative<density::CoefAdd>(node);
    if (!adds && !std::holds_alternative<density::CoefMultiply>(node)) return {};
    Degree out = 0;
    for (const CoefId part : density::parts_of(node)) {
      const Degree d = of(part);
      if (!adds || !d || !out) out = sum(out, d);
      else out = std::max(*out, *d);
    }
    return out;
  }

  Degree of(const Atom& x) const {
    const Degree own = of(x.axes), event = of(x.event);
    if (!own || event != 0) return {};
    if (*own == 0) return 0;
    const model::Variable& v = m_[x.variable];
    const bool real = v.support == math::Support::real || v.support == math::Support::vector;
    const bool tangent = v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::bound;
    if (!real || tangent || v.clamped || !x.opaque.empty()) return {};
    if (x.stat == Stat::value || x.stat == Stat::comp) return 1;
    if (x.stat == Stat::square || x.stat == Stat::comp2) return 2;
    return {};
  }

  const model::Model& m_;
  const Algebra& a_;
  IndexVarId item_;
};

}  // namespace

bool depends_on_moments(const model::Model& m, const conditionals::Conditionals& c, model::PlateId item) {
  const Algebra& a = c.density.algebra;
  const auto is_item = [&](IndexVarId b) { return m[a[b].plate].set == m[item].set; };
  const auto has_sum = [&](const auto& self, CoefId x) -> bool {
    const auto* sum = std::get_if<density::CoefSum>(&a[x]);
    return (sum && is_item(sum->bound)) ||
           std::ranges::any_of(density::parts_of(a[x]), [&](CoefId part) { return self(self, part); });
  };
  return std::ranges::all_of(c.density.terms, [&](const Term& t) {
    std::vector<IndexVarId> items;
    std::ranges::copy_if(t.index_vars, std::back_inserter(items), is_item);
    if (has_sum(has_sum, t.coef)) return false;
    if (items.empty()) return true;
    const Degree degree = items.size() == 1 ? ItemDegrees(m, a, items[0]).of(t) : Degree();
    return degree && *degree <= 2;
  });
}

}  // namespace lehr::schedule
