// Chains: which blocks have one factor for a whole sequence, and of which kind.
#include <algorithm>

#include "compiler/conditionals/conditionals.h"
#include "compiler/conditionals/neighbours.h"

namespace lehr::conditionals {

std::optional<std::int64_t> steps_between(const density::Algebra& a, const density::Atom& l, const density::Atom& r) {
  const auto* x = std::get_if<density::IndexBound>(&a[l.axes.back()]);
  const auto* y = std::get_if<density::IndexBound>(&a[r.axes.back()]);
  const bool apart = x && y && x->bound == y->bound && x->offset != y->offset &&
                     std::equal(l.axes.begin(), l.axes.end() - 1, r.axes.begin());
  return apart ? std::optional<std::int64_t>(y->offset - x->offset) : std::nullopt;
}

namespace {

constexpr std::int64_t kMostHistory = 4;  // of categories: memory grows exponentially
constexpr std::int64_t kMostBands = 12;   // of numbers: code and time grow with its square

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

std::int64_t most_reach(const math::FamilyRow& family) {
  const auto kind = factor_of(family);
  if (!kind) return 0;
  return kind->first == ChainFactor::gaussian ? kMostBands : kMostHistory;
}

std::optional<Chain> chain_of(const density::Density& d, const model::Model& m, model::VariableId v,
                              const math::FamilyRow& family) {
  if (m[v].axes.empty() || !m[m[m[v].axes.back()].set].ordered) return std::nullopt;
  const auto kind = factor_of(family);
  if (!kind) return std::nullopt;
  Chain out{kind->first, {}, 0};
  for (const density::Term& t : d.terms) {
    std::vector<const density::Atom*> own;
    for (const density::Atom& a : t.atoms) {
      if (a.variable == v) own.push_back(&a);
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::vector<std::int64_t> steps;  // to the others of its sequence
      for (std::size_t j = 0; j < own.size(); ++j) {
        if (j == i || in_different_sequences(d, t, *own[i], *own[j])) continue;
        const auto to = steps_between(d.algebra, *own[i], *own[j]);
        if (!to || own[i]->stat != kind->second || own[j]->stat != kind->second) return std::nullopt;
        steps.push_back(*to);
      }
      if (steps.empty()) continue;
      const bool too_many = out.factor == ChainFactor::gaussian && steps.size() > 1;
      if (steps.size() + 1 < own.size() || too_many) return std::nullopt;
      if (std::ranges::max(steps) > 0) continue;  // not the last of them
      Lags lags;
      for (const std::int64_t to : steps)
        lags.push_back(-to);
      std::ranges::sort(lags);
      out.reach = std::max(out.reach, lags.back());
      out.together.insert(std::move(lags));
    }
  }
  if (out.together.empty() || out.reach > most_reach(family)) return std::nullopt;
  return out;
}

}  // namespace lehr::conditionals
