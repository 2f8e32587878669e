// Residual form: sums over pairs by way of running sums (residuals.h, and Residual in schedule.h). The sums are formed
// anew at the start of every update that reads them. So rounding errors of their subtractions and additions do not
// build up.
#include "compiler/lower/residuals.h"

#include <algorithm>

namespace lehr::loops {

using schedule::Residual;

namespace {

/// Returns a term whose loops go over the elements of S, under the guards of the summand. The last index variable of
/// the summand is r.
Term elements(const Residual::Side& side) {
  Term out;
  out.index_vars.assign(side.summand.index_vars.begin(), side.summand.index_vars.end() - 1);
  out.guards = side.summand.guards;
  return out;
}

}  // namespace

ExprId Residuals::summand(const Residual::Side& side, const Env& env) {
  ExprId out;
  for (const Factor& f : terms_.factors({&side.summand}, {})) {
    const ExprId value = f.value(env);
    out = out.valid() ? b_.mul(out, value) : value;
  }
  return out;
}

void Residuals::each_summand(const Residual& r, const Env& env,
                             const std::function<void(const std::vector<ExprId>&)>& body) {
  const auto [begin, end] = terms_.range(r.sides[0].along, env);
  b_.for_range(a_[r.sides[0].along].name, begin, end, [&](ExprId i) {
    std::vector<ExprId> values;
    for (const Residual::Side& side : r.sides) {
      Env inner = env;
      inner[side.along] = i;
      values.push_back(b_.let(b_.fresh("a"), summand(side, inner)));
    }
    body(values);
  });
}

ExprId Residuals::expected_pairs(const Residual& r, const Env& env) {
  if (r.ordered) {
    // Each summand of B is multiplied by the sum of those of A before it.
    const ScalarId before = b_.local(b_.fresh("before"), b_.f(0)), pairs = b_.local(b_.fresh("pairs"), b_.f(0));
    each_summand(r, env, [&](const std::vector<ExprId>& a) {
      b_.accumulate(pairs, b_.mul(a[1], b_.get(before)));
      b_.accumulate(before, a[0]);
    });
    return b_.get(pairs);
  }
  std::vector<ScalarId> sums;
  for (std::size_t side = 0; side < r.sides.size(); ++side)
    sums.push_back(b_.local(b_.fresh("sum"), b_.f(0)));
  const ScalarId squares = b_.local(b_.fresh("squares"), b_.f(0));
  each_summand(r, env, [&](const std::vector<ExprId>& a) {
    for (std::size_t side = 0; side < a.size(); ++side)
      b_.accumulate(sums[side], a[side]);
    b_.accumulate(squares, b_.mul(a.front(), a.back()));
  });
  return b_.sub(b_.mul(b_.get(sums.front()), b_.get(sums.back())), b_.get(squares));
}

ArrayTerm Residuals::outer_term(const schedule::OuterTerm& t) {
  if (t.residual) {
    const Residual& r = s_.residuals[*t.residual];
    std::set<IndexVarId> elements;
    for (const Residual::Side& side : r.sides)
      elements.merge(terms_.index_variables(side.at));
    Factor pairs{std::move(elements), [this, &r](const Env& env) { return expected_pairs(r, env); }};
    return {&r.common, std::nullopt, nullptr, {}, {std::move(pairs)}};
  }
  if (!t.statistic) return {&t.term};
  // Without cached sums, the whole term is computed from the items each time.
  if (t.undivided && !can_cache_sums()) return {&*t.undivided};
  return {&t.term, s_.statistics[*t.statistic].sums, &t.at};
}

std::vector<ArrayTerm> Residuals::outer_terms(const schedule::OuterTerm& t, BlockId b) {
  const auto own = [&](const Atom& x) { return s_.conditionals.block_of[x.variable.index()] == b; };
  // A factor inside a cached sum reads the term item by item.
  if (t.undivided && std::ranges::any_of(s_.statistics[*t.statistic].inner.atoms, own)) return {{&*t.undivided}};
  if (!t.residual) return {outer_term(t)};
  const Residual& r = s_.residuals[*t.residual];
  if (std::ranges::find(r.maintained_by, b) != r.maintained_by.end()) {
    // The terms that are linear in an element of `b`, times the sum of the other factor.
    std::vector<ArrayTerm> out;
    for (std::size_t side = 0; side < r.sides.size(); ++side) {
      const Residual::Side& other = r.sides[r.other(side)];
      out.push_back({&r.sides[side].gradient, other.sums, &other.at});
    }
    return out;
  }
  const bool inside =
      std::ranges::any_of(r.sides, [&](const auto& side) { return std::ranges::any_of(side.summand.atoms, own); });
  return {inside ? ArrayTerm{&t.term} : outer_term(t)};
}

std::vector<Residuals::RunningSum> Residuals::running_sums(const Uses& uses) const {
  std::vector<RunningSum> out;
  for (const auto& [t, atom] : uses) {
    const auto r = t.array ? layout_.residual.find(*t.array) : layout_.residual.end();
    if (r == layout_.residual.end()) continue;
    const Residual* const residual = r->second.of;
    auto same = std::ranges::find(out, residual, &RunningSum::residual);
    if (same == out.end()) same = out.insert(out.end(), {residual, std::vector<const Atom*>(residual->sides.size())});
    // The atom stands in the factor whose sum the use does not read.
    same->own[residual->other(r->second.side)] = &t.term->atoms[atom];
  }
  return out;
}

void Residuals::fill_sums(const Residual& r) {
  for (std::size_t k = 0; k < r.sides.size(); ++k) {
    const Residual::Side& side = r.sides[k];
    if (r.ordered && k == 0) {
      b_.fill(layout_.array.at(side.sums), b_.f(0));
      continue;
    }
    terms_.emit(elements(side), {}, {}, {}, std::nullopt, [&](ExprId, const Env& env) {
      const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
      const auto [begin, end] = terms_.range(side.along, env);
      b_.for_range(a_[side.along].name, begin, end, [&](ExprId i) {
        Env inner = env;
        inner[side.along] = i;
        b_.accumulate(sum, b_.let(b_.fresh("a"), summand(side, inner)));
      });
      b_.store(layout_.array.at(side.sums), terms_.array_indices(side.sums, side.at, env), b_.get(sum));
    });
  }
}

void Residuals::move_sum(const RunningSum& x, bool back, const std::vector<bool>& fixed,
                         const std::vector<ExprId>& element) {
  const Residual& r = *x.residual;
  for (std::size_t k = 0; k < r.sides.size(); ++k) {
    const Residual::Side& side = r.sides[k];
    // Elements go from the sum of the later ones to that of the earlier ones.
    if (r.ordered && back != (k == 0)) continue;
    terms_.emit(elements(side), {}, {}, lookups_.solve_axes(*x.own[k], fixed, element).env, std::nullopt,
                [&](ExprId, const Env& env) {
                  const ExprId a = summand(side, env);
                  b_.add_to(layout_.array.at(side.sums), terms_.array_indices(side.sums, side.at, env),
                            back ? a : b_.neg(a));
                });
  }
}

}  // namespace lehr::loops
