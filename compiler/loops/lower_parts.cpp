// What data add to the naturals of an element, where the values of the element are the last to be looked at.
#include <algorithm>

#include "compiler/loops/updates.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kMostParts = 256;

bool disjoint(const std::set<BoundId>& a, const std::set<BoundId>& b) {
  return std::ranges::none_of(a, [&](BoundId x) { return b.contains(x); });
}

}  // namespace

bool Updates::contribute_by_parts(const Gathered& g, const std::vector<bool>& fixed, const std::vector<ExprId>& element,
                                  const NaturalTarget& n) {
  const Term& term = *g.term.term;
  const Atom& atom = term.atoms[g.use];
  if (!n.free_axes.empty() || atom.event.empty()) return false;
  const Solved solved = lookups_.solve_axes(atom, fixed, element);
  const auto length = [&](BoundId x) { return b_.program()[at_.size[m_[a_[x].plate].set.index()]].constant; };

  // Bounds of the values, and what is multiplied with them: it must not depend on anything that only the data tell.
  std::set<BoundId> late = terms_.mentioned(atom.event);
  std::vector<Factor> rest = terms_.factors(g.term, g.without, s_.conditionals[g.block].variable);
  const auto first =
      std::stable_partition(rest.begin(), rest.end(), [&](const Factor& f) { return disjoint(f.bounds, late); });
  std::vector<Factor> mine(std::make_move_iterator(first), std::make_move_iterator(rest.end()));
  rest.erase(first, rest.end());
  std::set<BoundId> parts;
  for (const Factor& f : mine)
    parts.insert(f.bounds.begin(), f.bounds.end());
  std::erase_if(parts, [&](BoundId x) { return late.contains(x) || solved.env.contains(x); });
  std::int64_t numbers = 1;
  for (const BoundId x : parts) {
    if (length(x) < 0 || a_[x].parent || (solved.walk && solved.walk->bound == x)) return false;
    numbers *= length(x);
  }
  if (numbers > kMostParts) return false;

  late.insert(parts.begin(), parts.end());
  const auto depends = [&](const std::vector<IndexId>& indices) { return !disjoint(terms_.mentioned(indices), late); };
  bool over_data = solved.walk.has_value();
  Term data = term;
  std::erase_if(data.bounds, [&](BoundId x) { return late.contains(x) && !parts.contains(x); });
  for (const BoundId x : data.bounds) {
    if (a_[x].parent && depends({*a_[x].parent})) return false;
    over_data = over_data || (!parts.contains(x) && !solved.env.contains(x) && length(x) < 0);
  }
  const bool guarded =
      std::ranges::any_of(term.guards,
                          [&](const Guard& x) {
                            return x.present ? depends(x.element) : depends({x.left, x.right});
                          }) ||
      std::ranges::any_of(solved.conditions, [&](const Factor& f) { return !disjoint(f.bounds, late); });
  if (!over_data || guarded) return false;

  std::vector<SizeId> sizes;
  for (const BoundId x : parts)
    sizes.push_back(at_.size[m_[a_[x].plate].set.index()]);
  const BufferId sums = work_array("part." + m_[atom.variable].name, sizes);
  const auto place = [parts](const Env& env) {
    std::vector<ExprId> at;
    for (const BoundId x : parts)
      at.push_back(env.at(x));
    return at;
  };
  b_.fill(sums, b_.f(0));
  const auto innermost = parts.empty() ? std::nullopt : std::optional(*parts.rbegin());
  lookups_.for_solutions(solved, [&](const Env& env) {
    terms_.emit(
        data, rest, solved.conditions, env, innermost,
        [&](ExprId value, const Env& at) { b_.add_to(sums, place(at), value); }, parts);
  });
  Term values;
  for (const BoundId x : term.bounds)
    if (late.contains(x)) values.bounds.push_back(x);
  mine.push_back({parts, [this, sums, place](const Env& env) { return b_.load(sums, place(env)); }});
  const auto* last = std::get_if<density::IndexBound>(&a_[atom.event.back()]);
  terms_.emit(values, std::move(mine), {}, solved.env, last ? std::optional(last->bound) : std::nullopt,
              [&](ExprId value, const Env& env) {
                std::vector<ExprId> at;
                for (const IndexId i : atom.event)
                  at.push_back(terms_.index(i, env));
                b_.add_to(n.buffers.at(atom.stat), std::move(at), value);
              });
  return true;
}

}  // namespace lehr::loops
