// Residual form: the pairs of a square by way of the running sum (residuals.h, and Residual in schedule.h). S is formed
// anew at the start of every update that reads it. So rounding errors of its subtractions and additions do not build
// up.
#include "compiler/lower/residuals.h"

#include <algorithm>

namespace lehr::loops {

using schedule::Residual;

namespace {

/// Returns a term whose loops go over the elements of S, under the guards of the summand. The last index variable of
/// the summand is r.
Term elements(const Residual& r) {
  Term out;
  out.index_vars.assign(r.summand.index_vars.begin(), r.summand.index_vars.end() - 1);
  out.guards = r.summand.guards;
  return out;
}

}  // namespace

ExprId Residuals::summand(const Residual& r, const Env& env) {
  ExprId out;
  for (const Factor& f : terms_.factors({&r.summand}, {})) {
    const ExprId value = f.value(env);
    out = out.valid() ? b_.mul(out, value) : value;
  }
  return out;
}

void Residuals::each_summand(const Residual& r, const Env& env, const std::function<void(ExprId)>& body) {
  const auto [begin, end] = terms_.range(r.along, env);
  b_.for_range(a_[r.along].name, begin, end, [&](ExprId i) {
    Env inner = env;
    inner[r.along] = i;
    body(b_.let(b_.fresh("a"), summand(r, inner)));
  });
}

ExprId Residuals::expected_pairs(const Residual& r, const Env& env) {
  const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
  const ScalarId squares = b_.local(b_.fresh("squares"), b_.f(0));
  each_summand(r, env, [&](ExprId a) {
    b_.accumulate(sum, a);
    b_.accumulate(squares, b_.mul(a, a));
  });
  return b_.sub(b_.mul(b_.get(sum), b_.get(sum)), b_.get(squares));
}

ArrayTerm Residuals::outer_term(const schedule::OuterTerm& t) {
  if (t.residual) {
    const Residual& r = s_.residuals[*t.residual];
    Factor pairs{terms_.index_variables(r.at), [this, &r](const Env& env) { return expected_pairs(r, env); }};
    return {&r.common, std::nullopt, nullptr, {}, {std::move(pairs)}};
  }
  if (!t.statistic) return {&t.term};
  // Without cached sums, the whole term is computed from the items each time.
  if (t.undivided && !can_cache_sums()) return {&*t.undivided};
  return {&t.term, s_.statistics[*t.statistic].sums, &t.at};
}

ArrayTerm Residuals::outer_term(const schedule::OuterTerm& t, BlockId b) {
  if (t.undivided) {
    const auto& summed = s_.statistics[*t.statistic].inner.atoms;
    const auto own = [&](const Atom& x) { return s_.conditionals.block_of[x.variable.index()] == b; };
    // A factor inside the sum reads the term item by item.
    if (std::ranges::any_of(summed, own)) return {&*t.undivided};
  }
  if (!t.residual) return outer_term(t);
  const Residual& r = s_.residuals[*t.residual];
  // The term that is linear in an element of `b`, times S.
  if (std::find(r.maintained_by.begin(), r.maintained_by.end(), b) != r.maintained_by.end())
    return {&r.gradient, r.sums, &r.at};
  const bool inside = std::any_of(r.summand.atoms.begin(), r.summand.atoms.end(),
                                  [&](const Atom& x) { return s_.conditionals.block_of[x.variable.index()] == b; });
  return inside ? ArrayTerm{&t.term} : outer_term(t);
}

std::vector<Residuals::RunningSum> Residuals::running_sums(const Uses& uses) const {
  std::vector<RunningSum> out;
  for (const auto& [t, atom] : uses) {
    const auto r = t.array ? layout_.residual.find(*t.array) : layout_.residual.end();
    if (r != layout_.residual.end()) out.push_back({r->second, &t.term->atoms[atom]});
  }
  return out;
}

void Residuals::fill_sum(const Residual& r) {
  terms_.emit(elements(r), {}, {}, {}, std::nullopt, [&](ExprId, const Env& env) {
    const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
    each_summand(r, env, [&](ExprId a) { b_.accumulate(sum, a); });
    b_.store(layout_.array.at(r.sums), terms_.array_indices(r.sums, r.at, env), b_.get(sum));
  });
}

void Residuals::move_sum(const RunningSum& x, bool back, const std::vector<bool>& fixed,
                         const std::vector<ExprId>& element) {
  const Residual& r = *x.residual;
  terms_.emit(elements(r), {}, {}, lookups_.solve_axes(*x.own, fixed, element).env, std::nullopt,
              [&](ExprId, const Env& env) {
                const ExprId a = summand(r, env);
                b_.add_to(layout_.array.at(r.sums), terms_.array_indices(r.sums, r.at, env), back ? a : b_.neg(a));
              });
}

}  // namespace lehr::loops
