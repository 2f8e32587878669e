// Chains: which blocks have one factor for a whole sequence, and which exact algorithm computes it.
//
// The terms are the only source. x[t] ~ Normal(a * x[t-1], q) has the term x[t] * x[t-1], so the lags are {1}. A
// category with z[t] given z[t-1] and z[t-2] has a term with lags {1, 2}.
#include <algorithm>

#include "compiler/conditionals/chain_lag.h"
#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

std::optional<std::int64_t> lag_between(const density::Algebra& a, const density::Atom& l, const density::Atom& r) {
  const auto* x = std::get_if<density::IndexVarRef>(&a[l.axes.back()]);
  const auto* y = std::get_if<density::IndexVarRef>(&a[r.axes.back()]);
  const bool lagged = x && y && x->bound == y->bound && x->offset != y->offset &&
                      std::equal(l.axes.begin(), l.axes.end() - 1, r.axes.begin());
  return lagged ? std::optional<std::int64_t>(y->offset - x->offset) : std::nullopt;
}

namespace {

constexpr std::int64_t kMaxCategoryLag = 4;   // the largest lag of categories: memory grows exponentially with it
constexpr std::int64_t kMaxGaussianLag = 12;  // the largest lag of Normal elements: code and time grow with its square

/// Returns true if two atoms of a variable certainly belong to different sequences, which have separate factors.
bool in_different_sequences(const density::Density& d, const density::Term& t, const density::Atom& l,
                            const density::Atom& r) {
  for (std::size_t x = 0; x + 1 < l.axes.size(); ++x) {
    if (density::certainly_different(d, t, l.axes[x], r.axes[x])) return true;
  }
  return false;
}

/// Returns the exact algorithm for a family and the statistic that elements of one term must have for it, or nothing.
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

std::int64_t max_lag_of(const math::FamilyRow& family) {
  const auto kind = factor_of(family);
  if (!kind) return 0;
  return kind->first == ChainFactor::gaussian ? kMaxGaussianLag : kMaxCategoryLag;
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
      std::vector<std::int64_t> steps;  // from this element to the others of its sequence
      for (std::size_t j = 0; j < own.size(); ++j) {
        if (j == i || in_different_sequences(d, t, *own[i], *own[j])) continue;
        const auto to = lag_between(d.algebra, *own[i], *own[j]);
        if (!to || own[i]->stat != kind->second || own[j]->stat != kind->second) return std::nullopt;
        steps.push_back(*to);
      }
      if (steps.empty()) continue;
      // Either all atoms of the term are of one sequence or each is of its own. A Gaussian term may have two elements.
      const bool too_many = out.factor == ChainFactor::gaussian && steps.size() > 1;
      if (steps.size() + 1 < own.size() || too_many) return std::nullopt;
      if (std::ranges::max(steps) > 0) continue;  // the group is recorded once, from its last element
      Lags lags;
      for (const std::int64_t to : steps)
        lags.push_back(-to);
      std::ranges::sort(lags);
      out.max_lag = std::max(out.max_lag, lags.back());
      out.joint.insert(std::move(lags));
    }
  }
  if (out.joint.empty() || out.max_lag > max_lag_of(family)) return std::nullopt;
  return out;
}

}  // namespace lehr::conditionals
