// Chains: which blocks have one factor for a whole sequence, and of which kind.
#include <algorithm>
#include <cstdlib>

#include "compiler/conditionals/conditionals.h"
#include "compiler/conditionals/neighbours.h"

namespace lehr::conditionals {

bool neighbours(const density::Algebra& a, const density::Atom& l, const density::Atom& r) {
  const auto* x = std::get_if<density::IndexBound>(&a[l.axes.back()]);
  const auto* y = std::get_if<density::IndexBound>(&a[r.axes.back()]);
  return x && y && x->bound == y->bound && std::abs(x->offset - y->offset) == 1 &&
         std::equal(l.axes.begin(), l.axes.end() - 1, r.axes.begin());
}

namespace {

/// Elements of two sequences, of which each has a factor of its own.
bool in_different_sequences(const density::Density& d, const density::Term& t, const density::Atom& l,
                            const density::Atom& r) {
  for (std::size_t x = 0; x + 1 < l.axes.size(); ++x) {
    if (density::certainly_different(d, t, l.axes[x], r.axes[x])) return true;
  }
  return false;
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
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (std::size_t j = i + 1; j < own.size(); ++j) {
        if (in_different_sequences(d, t, *own[i], *own[j])) continue;
        if (own.size() > 2 || !neighbours(d.algebra, *own[i], *own[j])) return std::nullopt;
        if (own[i]->stat != kind->second || own[j]->stat != kind->second) return std::nullopt;
        coupled = true;
      }
    }
  }
  if (!coupled) return std::nullopt;
  return kind->first;
}

}  // namespace lehr::conditionals
