// Factored sums (Updates::factored_sum): what the data add to the natural parameters of an element. The condition is
// that no factor depends both on the data and on the element's value k.
//
//     for n: for g: for k: h[k] += data[n, g] * table[k, g]          N * G * K multiplications
//     for n: for g: part[g] += data[n, g];
//     for g: for k: h[k] += part[g] * table[k, g]                    N * G + G * K
#include <algorithm>

#include "runtime/threshold.h"

#include "compiler/lower/updates.h"

namespace lehr::loops {
namespace {

/// The most numbers that the array of inner sums may have.
constexpr Threshold<std::int64_t> kMostParts("outlining.most_parts", 256);

/// Returns true if no index variable is in both sets.
bool disjoint(const std::set<IndexVarId>& a, const std::set<IndexVarId>& b) {
  return std::ranges::none_of(a, [&](IndexVarId x) { return b.contains(x); });
}

}  // namespace

std::optional<Updates::FactoredSum> Updates::factored_sum(const Gathered& g, const std::vector<bool>& fixed,
                                                          const std::vector<ExprId>& element) const {
  const Term& term = *g.term.term;
  const Atom& atom = term.atoms[g.use];
  if (atom.event.empty()) return {};
  const auto length = [&](IndexVarId x) { return constant_length(a_[x].plate); };
  FactoredSum out{lookups_.solve_axes(atom, fixed, element), {}, term, {}, {}, {}};
  const Solved& solved = out.solved;

  // `late` has the index variables of the element's value. Factors that depend on them are multiplied in the second
  // half.
  std::set<IndexVarId> late = terms_.index_variables(atom.event);
  for (Factor& f : terms_.factors(g.term, g.without, s_.conditionals[g.block].variable)) {
    if (!disjoint(f.index_vars, late)) out.parts.insert(f.index_vars.begin(), f.index_vars.end());
    (disjoint(f.index_vars, late) ? out.of_data : out.of_values).push_back(std::move(f));
  }
  std::erase_if(out.data.index_vars, [&](IndexVarId x) { return late.contains(x); });
  std::erase_if(out.parts, [&](IndexVarId x) { return late.contains(x) || solved.env.contains(x); });
  std::int64_t elements = 1;
  for (const IndexVarId x : out.parts) {
    if (length(x) < 0 || a_[x].parent || (solved.walk && solved.walk->bound == x)) return {};
    elements *= length(x);
  }
  if (elements > options_.thresholds[kMostParts]) return {};

  // From here on, `late` has all index variables that the second half loops over.
  late.insert(out.parts.begin(), out.parts.end());
  std::ranges::copy_if(term.index_vars, std::back_inserter(out.values.index_vars),
                       [&](IndexVarId x) { return late.contains(x); });
  const auto depends = [&](const std::vector<IndexId>& indices) {
    return !disjoint(terms_.index_variables(indices), late);
  };
  const bool nested =
      std::ranges::any_of(out.data.index_vars, [&](IndexVarId x) { return a_[x].parent && depends({*a_[x].parent}); });
  const bool guarded =
      std::ranges::any_of(term.guards,
                          [&](const Guard& x) {
                            return x.present ? depends(x.element) : depends({x.left, x.right});
                          }) ||
      std::ranges::any_of(solved.conditions, [&](const Factor& f) { return !disjoint(f.index_vars, late); });
  // Splitting pays only if the first half goes over data.
  const bool over_data = solved.walk || std::ranges::any_of(out.data.index_vars, [&](IndexVarId x) {
                           return !late.contains(x) && !solved.env.contains(x) && length(x) < 0;
                         });
  return over_data && !guarded && !nested ? std::optional(std::move(out)) : std::nullopt;
}

void Updates::contribute(const FactoredSum& p, const Atom& atom, BufferId naturals) {
  std::vector<SizeId> sizes;
  for (const IndexVarId x : p.parts)
    sizes.push_back(layout_.size[m_[a_[x].plate].set.index()]);
  const BufferId sums = work_array("part." + m_[atom.variable].name, sizes);
  const auto position = [parts = p.parts](const Env& env) {
    std::vector<ExprId> at;
    for (const IndexVarId x : parts)
      at.push_back(env.at(x));
    return at;
  };
  b_.fill(sums, b_.f(0));
  const auto innermost = p.parts.empty() ? std::nullopt : std::optional(*p.parts.rbegin());
  lookups_.for_solutions(p.solved, [&](const Env& env) {
    const auto add = [&](ExprId value, const Env& at) { b_.add_to(sums, position(at), value); };
    terms_.emit(p.data, p.of_data, p.solved.conditions, env, innermost, add, p.parts);
  });
  std::vector<Factor> factors = p.of_values;
  factors.push_back({p.parts, [this, sums, position](const Env& env) { return b_.load(sums, position(env)); }});
  const auto* last = std::get_if<density::IndexVarRef>(&a_[atom.event.back()]);
  terms_.emit(p.values, std::move(factors), {}, p.solved.env, last ? std::optional(last->bound) : std::nullopt,
              [&](ExprId value, const Env& env) { b_.add_to(naturals, component(atom, env), value); });
}

}  // namespace lehr::loops
