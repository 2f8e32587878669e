// A value of a compound distribution is drawn from its truncated density, and the hidden variable given it. The part of
// a mixture is drawn with the probability of the part times that of the limits under it, then the value in this part.
#include "compiler/evaluate/limits.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/draw_values.h"
#include "compiler/evaluate/log_sum_exp.h"
#include "compiler/math/compound_draw.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// Returns the log probability of the limits under the present part of a mixture, from the tail in which they lie.
double log_mass_of_part(const ModelEvaluator& f, const Statement& s, const IndexValues& at) {
  const math::FamilyRow& row = *f.distribution(s, at).family;
  math::Environment p = f.parameters(s, at);
  const auto [lower, upper] = f.limits(s, at);
  const auto log_tail = [&](const math::Expr& tail, double from, double none) {
    if (std::isinf(from)) return none;
    p.symbols["x"] = {0, {from}};
    return math::evaluate(tail, p);
  };
  const double above = log_tail(*row.log_above, lower, 0), beyond = log_tail(*row.log_above, upper, -INFINITY);
  const double below = log_tail(*row.log_below, upper, 0), before = log_tail(*row.log_below, lower, -INFINITY);
  return above < below ? above + std::log1p(-std::exp(beyond - above)) : below + std::log1p(-std::exp(before - below));
}

/// Draws the part and the number in it.
bool draw_part_and_value(ModelEvaluator& f, const Statement& s, const IndexValues& at, VariableId part, Rng& rng) {
  const Element e{part, f.element(s, at).position};
  const Statement& own = f.model()[f.model()[part].statement];
  std::vector<double> logs;
  for (std::size_t k = 0; k < f.states(part); ++k) {
    f.values(e)[0] = f.state(part, k);
    f.clear();
    const double log_prior = f.log_density(own, f.at(e));
    logs.push_back(log_prior == -INFINITY ? log_prior : log_prior + log_mass_of_part(f, s, at));
  }
  const double all = log_sum_exp(logs);
  if (!std::isfinite(all)) return false;
  for (double& x : logs)
    x = std::exp(x - all);
  f.values(e)[0] = f.state(part, static_cast<std::size_t>(draw_categorical(rng, logs)));
  const std::vector<double> x = draw_once(f, s, at, f.parameters(s, at), rng);
  f.values(f.element(s, at))[0] = x[0];
  return std::isfinite(x[0]);
}

/// Draws the number and the hidden variable of its compound distribution.
bool draw_compound(ModelEvaluator& f, const Statement& s, const IndexValues& at, VariableId hidden, Rng& rng) {
  const Distribution& typed = as_written(s.main);
  math::Environment spelled{1, {}};
  for (const Parameter& p : typed.parameters)
    spelled.symbols[p.spelling->name] = {0, f.value(p.value, at).values};
  const math::Environment parameters{1, math::canonical_parameters(*typed.family, spelled)};
  const auto [lower, upper] = f.limits(s, at);
  const std::optional<math::CompoundDraw> drawn = math::draw_compound_between(
      *typed.family, math::flatten_parameters(*typed.family, parameters), lower, upper, rng);
  if (!drawn || !std::isfinite(drawn->value) || !std::isfinite(drawn->hidden)) return false;
  const Element e = f.element(s, at);
  f.values(e)[0] = drawn->value;
  f.values(Element{hidden, e.position})[0] = drawn->hidden;
  return true;
}

/// Returns true if the number has one limit, which is its mean under every distribution; no variable stands in them.
bool is_cut_at_mean(const ModelEvaluator& f, const Statement& s) {
  if (s.limits.above.has_value() == s.limits.below.has_value()) return false;
  const ExprId limit = s.limits.above ? *s.limits.above : *s.limits.below;
  std::vector<ExprId> means;
  for (const Distribution* d : distributions_of(s))
    for (const Parameter& p : d->parameters)
      if (std::ranges::find(d->family->location, p.spelling->canonical) != d->family->location.end())
        means.push_back(p.value);
  if (!references_under(f.model(), means).empty()) return false;
  bool equal = true;
  IndexValues at = f.origin();
  f.each(s.index_vars, at, [&] {
    for (const ExprId mean : means)
      equal = equal && f.entry(mean, at) == f.entry(limit, at);
  });
  return equal;
}

}  // namespace

bool draws_within_limits(const Model& m, const Statement& s) { return s.limits.any() && !m[s.variable].observed; }

std::optional<VariableId> added_variable(const Model& m, const Statement& s) {
  const std::string prefix = m[s.variable].name + ".";
  for (const VariableRef* ref : references_under(m, roots_of(s)))
    if (m[ref->variable].name.starts_with(prefix)) return ref->variable;
  return std::nullopt;
}

const Statement* limited_owner(const Model& m, VariableId added) {
  const std::string& name = m[added].name;
  if (name.find('.') == name.npos) return nullptr;
  for (const Statement& s : m.statements)
    if (draws_within_limits(m, s) && added_variable(m, s) == added) return &s;
  return nullptr;
}

bool is_within_limits(const Model& m, VariableId v) {
  return !m[v].auxiliary && (draws_within_limits(m, m[m[v].statement]) || limited_owner(m, v));
}

bool draw_with_added(ModelEvaluator& f, const Statement& s, const IndexValues& at, Rng& rng) {
  const VariableId added = *added_variable(f.model(), s);
  return s.part ? draw_part_and_value(f, s, at, added, rng) : draw_compound(f, s, at, added, rng);
}

std::optional<RandomLimits> random_limits(const ModelEvaluator& f) {
  const Model& m = f.model();
  for (const Statement& s : m.statements) {
    if (!draws_within_limits(m, s) || is_cut_at_mean(f, s)) continue;
    const std::optional<VariableId> added = added_variable(m, s);
    std::vector<ExprId> roots = roots_of(s);
    if (added) std::ranges::copy(roots_of(m[m[*added].statement]), std::back_inserter(roots));
    for (const VariableRef* ref : references_under(m, roots))
      if (ref->variable != added && !m[ref->variable].observed) return RandomLimits{s.variable, ref->variable};
  }
  return std::nullopt;
}

}  // namespace lehr
