// Chains: which blocks have one factor for a whole sequence, and of which kind.
#include <algorithm>
#include <cstdlib>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {
namespace {

/// The two atoms are (t - 1, t) of the last axis and agree on the others.
bool neighbours(const density::Algebra& a, const density::Atom& l, const density::Atom& r) {
  const auto* x = std::get_if<density::IndexBound>(&a[l.axes.back()]);
  const auto* y = std::get_if<density::IndexBound>(&a[r.axes.back()]);
  return x && y && x->bound == y->bound && std::abs(x->offset - y->offset) == 1 &&
         std::equal(l.axes.begin(), l.axes.end() - 1, r.axes.begin());
}

/// Statistics of the family that neighbours may have in one term, where there is an exact algorithm.
std::optional<std::pair<ChainFactor, math::Stat>> factor_of(const math::FamilyRow& family) {
  using math::Stat;
  const auto has = [&](Stat s) {
    return std::any_of(family.factor->statistics.begin(), family.factor->statistics.end(),
                       [&](const math::StatisticRow& row) { return row.stat == s; });
  };
  if (has(Stat::switched) || has(Stat::above)) return std::nullopt;
  if (has(Stat::indicator)) return std::pair{ChainFactor::categories, Stat::indicator};
  if (has(Stat::value) && has(Stat::square)) return std::pair{ChainFactor::gaussian, Stat::value};
  if (has(Stat::comp) && has(Stat::comp2)) return std::pair{ChainFactor::gaussian, Stat::comp};
  return std::nullopt;
}

}  // namespace

std::optional<ChainFactor> chain_factor(const density::Density& d, const model::Model& m, model::VariableId v,
                                        const math::FamilyRow& family) {
  if (m[v].axes.empty() || !m[m[m[v].axes.back()].set].ordered) return std::nullopt;
  const auto kind = factor_of(family);
  if (!kind) return std::nullopt;
  bool coupled = false;
  for (const density::Term& t : d.terms) {
    std::vector<const density::Atom*> own;
    for (const density::Atom& a : t.atoms) {
      if (a.variable == v) own.push_back(&a);
    }
    if (own.size() < 2) continue;
    coupled = true;
    if (own.size() > 2 || !neighbours(d.algebra, *own[0], *own[1])) return std::nullopt;
    if (own[0]->stat != kind->second || own[1]->stat != kind->second) return std::nullopt;
  }
  if (!coupled) return std::nullopt;
  return kind->first;
}

}  // namespace lehr::conditionals
