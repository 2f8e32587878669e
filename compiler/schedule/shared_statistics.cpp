// Statistics are looked up by their data and local atoms, and compared under all assignments of index variables.
#include "compiler/schedule/shared_statistics.h"

#include <algorithm>

namespace lehr::schedule {

using density::Algebra;
using density::Atom;
using density::CoefId;
using density::Guard;
using density::IndexId;
using density::IndexVarId;

OuterTerm SharedStatistics::add(Statistic stat, Term outer, std::vector<IndexId> outer_at, IndexVarId item) {
  std::vector<std::size_t>& alike = by_signature_[{stat.stage, stat.axes.size(), signature(stat.inner)}];
  for (std::size_t k : alike) {
    // The axes of the outer part follow the order of the statistic that is there.
    if (auto order = same(s_.statistics[k], stat)) {
      std::vector<IndexId> at(outer_at.size());
      for (std::size_t x = 0; x < at.size(); ++x)
        at[x] = outer_at[(*order)[x]];
      return {std::move(outer), k, std::move(at)};
    }
  }
  stat.sums = ArrayId(s_.arrays++);
  stat.table = ArrayId(s_.arrays++);
  // The axis of a local category's value is contiguous, because the innermost loops run along it.
  stat.contiguous = stat.axes.empty() ? 0 : stat.axes.size() - 1;
  for (std::size_t x = 0; x < stat.at.size(); ++x) {
    for (const Atom& atom : stat.inner.atoms) {
      if (atom.stat == math::Stat::indicator && atom.event[0] == stat.at[x]) stat.contiguous = x;
    }
  }
  if (stat.stage) {
    auto& step = std::get<ItemStage>(s_.steps[*stat.stage]);
    step.terms.push_back({stat.inner, s_.statistics.size(), stat.at, item});
  }
  alike.push_back(s_.statistics.size());
  s_.statistics.push_back(std::move(stat));
  return {std::move(outer), s_.statistics.size() - 1, std::move(outer_at)};
}

void SharedStatistics::add_sources(CoefId c, std::vector<std::int64_t>& out) const {
  out.push_back(static_cast<std::int64_t>(a_[c].index()) << 32);
  if (const auto* data = std::get_if<density::CoefData>(&a_[c]))
    out.back() += std::visit([](auto id) { return id.value; }, data->source);
  for (const CoefId part : density::parts_of(a_[c]))
    add_sources(part, out);
}

std::vector<std::int64_t> SharedStatistics::signature(const Term& inner) const {
  std::vector<std::int64_t> out;
  add_sources(inner.coef, out);
  std::sort(out.begin(), out.end());
  for (const Atom& x : inner.atoms)
    out.push_back(x.variable.value);
  return out;
}

std::optional<std::vector<std::size_t>> SharedStatistics::same(const Statistic& existing, const Statistic& stat) {
  const Term& inner = stat.inner;
  if (existing.inner.index_vars.size() != inner.index_vars.size() ||
      existing.inner.atoms.size() != inner.atoms.size()) {
    return std::nullopt;
  }
  // Index variables are matched over equal plates. There are few, so all assignments are tried, up to 120.
  std::vector<std::size_t> image(inner.index_vars.size());
  for (std::size_t k = 0; k < image.size(); ++k)
    image[k] = k;
  std::size_t tries = 0;
  do {
    if (++tries > 120) return std::nullopt;
    bool plates = true;
    for (std::size_t k = 0; k < image.size() && plates; ++k) {
      plates = a_[inner.index_vars[k]].plate == a_[existing.inner.index_vars[image[k]]].plate;
    }
    if (!plates) continue;
    const auto rename = [&](IndexId i) -> std::optional<IndexId> {
      const auto* b = std::get_if<density::IndexVarRef>(&a_[i]);
      if (!b) return std::nullopt;
      for (std::size_t k = 0; k < image.size(); ++k) {
        if (inner.index_vars[k] == b->bound) return a_.index(existing.inner.index_vars[image[k]], b->offset);
      }
      return std::nullopt;
    };
    if (a_.substitute(inner.coef, rename) != existing.inner.coef) continue;
    if (!equal_parts(inner, existing.inner, rename)) continue;
    std::vector<std::size_t> order(stat.at.size());
    bool matched = true;
    for (std::size_t x = 0; x < existing.at.size() && matched; ++x) {
      matched = false;
      for (std::size_t y = 0; y < stat.at.size(); ++y) {
        if (a_.substitute(stat.at[y], rename) == existing.at[x] && stat.axes[y] == existing.axes[x]) {
          order[x] = y;
          matched = true;
          break;
        }
      }
    }
    if (matched) return order;
  } while (std::next_permutation(image.begin(), image.end()));
  return std::nullopt;
}

bool SharedStatistics::equal_parts(const Term& x, const Term& y, const Algebra::Substitution& rename) {
  if (x.guards.size() != y.guards.size() || x.multiplicities.size() != y.multiplicities.size()) return false;
  for (std::size_t k = 0; k < x.multiplicities.size(); ++k) {
    if (a_.substitute(x.multiplicities[k].count, rename) != y.multiplicities[k].count) return false;
  }
  for (std::size_t k = 0; k < x.guards.size(); ++k) {
    Guard g = x.guards[k];
    for (IndexId& i : g.element)
      i = a_.substitute(i, rename);
    if (!g.present) {
      g.left = a_.substitute(g.left, rename);
      g.right = a_.substitute(g.right, rename);
    }
    if (!(g == y.guards[k])) return false;
  }
  for (std::size_t k = 0; k < x.atoms.size(); ++k) {
    Atom p = x.atoms[k];
    for (IndexId& i : p.axes)
      i = a_.substitute(i, rename);
    for (IndexId& i : p.event)
      i = a_.substitute(i, rename);
    if (!(p == y.atoms[k])) return false;
  }
  return true;
}

}  // namespace lehr::schedule
