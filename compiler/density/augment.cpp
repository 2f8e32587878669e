// Auxiliary variables that make terms conjugate. Each gives a lower bound of the log joint that is exact, or tightest
// at the optimum of the new variable's factor:
//
// * counts whose rate is a sum: the source of each count, log sum_k m_k >= sum_k [a = k] log m_k with the entropy of a.
//   Where another distribution gives the count, all values of a are equally probable;
// * logistic: a quadratic bound with a tangent point xi (Jaakkola & Jordan 2000; Bishop 2006, section 10.6);
// * softmax: a quadratic bound with a tangent point psi (Boehning 1992);
// * probit, and limits of Normal variables: a truncated Normal number (Albert & Chib 1993).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/density/expander.h"
#include "compiler/density/print_density.h"
#include "compiler/math/families/bounds.h"

namespace lehr::density {

namespace {

using math::Stat;
using Kind = model::Auxiliary::Kind;

/// Returns the name, with a number behind it if the list has it already: a distribution and the `start` of a chain may
/// need one each.
template <class List>
std::string unused_name(const List& list, const std::string& name) {
  const auto used = std::count_if(list.begin(), list.end(), [&](const auto& x) { return x.name.starts_with(name); });
  return used == 0 ? name : name + std::to_string(used + 1);
}

}  // namespace

model::VariableId Expander::auxiliary(Kind kind, std::vector<model::PlateId> axes, std::optional<model::PlateId> values,
                                      const math::FamilyRow* bound) {
  AuxiliaryKey key{m_[*statement_].variable, kind, axes, values, bound, {}, {}};
  if (kind == Kind::bound && !draws_) {
    // Each value of the bits and each part of a mixture has a tangent point of its own.
    std::get<std::vector<bool>>(key) = bit_values_;
    std::get<std::optional<std::size_t>>(key) = part_;
  }
  const auto [it, inserted] = auxiliaries_.try_emplace(std::move(key));
  if (inserted) it->second = new_auxiliary(kind, std::move(axes), values, bound);
  return it->second;
}

model::VariableId Expander::new_auxiliary(Kind kind, std::vector<model::PlateId> axes,
                                          std::optional<model::PlateId> values, const math::FamilyRow* bound) {
  const model::VariableId host = m_[*statement_].variable;
  model::Variable v;
  constexpr const char* kNames[] = {".source", ".bound", ".value"};
  const char* const added =
      bound && math::is_expectation(*bound) ? ".predictor" : kNames[static_cast<std::size_t>(kind)];
  v.name = unused_name(m_.variables, m_[host].name + added);
  v.span = span_;
  v.axes = std::move(axes);
  v.support = kind == Kind::source  ? math::Support::category
              : kind == Kind::value ? math::Support::real
                                    : bound->support;
  if (kind == Kind::source) v.value_plate = values;
  else if (values) v.event = {*values};
  v.statement = *statement_;
  v.auxiliary = model::Auxiliary{.kind = kind, .host = host, .bound = bound};
  m_.variables.push_back(std::move(v));
  return model::VariableId(m_.variables.size() - 1);
}

model::PlateId Expander::source_plate(std::size_t fixed, std::optional<model::PlateId> spread) {
  if (fixed == 0) return *spread;
  const auto expr = [&](auto node) {
    m_.exprs.push_back({node, {}, std::nullopt, span_});
    return model::ExprId(m_.exprs.size() - 1);
  };
  model::ExprId size = expr(model::Number{static_cast<double>(fixed)});
  if (spread) size = expr(model::Binary{model::BinaryOp::add, size, expr(model::SizeOf{*spread, {}})});
  const std::string name = unused_name(m_.plates, "summand(" + m_[m_[*statement_].variable].name + ")");
  m_.plates.push_back(
      {name, span_, model::PlateId(m_.plates.size()), std::nullopt, false, size, std::nullopt, 0, std::nullopt});
  return model::PlateId(m_.plates.size() - 1);
}

Poly Expander::log_of_summand(const Term& t) {
  // sum_k [z = k] m_k with latent z is one of the m_k, so the indicators stand outside the logarithm.
  Term inner = t;
  std::vector<Atom> selections;
  std::erase_if(inner.atoms, [&](const Atom& x) {
    const auto* k = x.stat == Stat::indicator ? std::get_if<IndexVarRef>(&a_[x.event[0]]) : nullptr;
    if (!k || !a_[k->bound].selector || k->offset != 0) return false;
    selections.push_back(x);
    return true;
  });
  inner.index_vars.clear();
  Poly out = log({inner});
  for (Term& s : out) {
    s.atoms.insert(s.atoms.end(), selections.begin(), selections.end());
    s.index_vars.insert(s.index_vars.end(), t.index_vars.begin(), t.index_vars.end());
  }
  return out;
}

Poly Expander::family_log(const Poly& p) {
  const model::Variable& host = m_[m_[*statement_].variable];
  const bool counts = host.observed && (host.support == math::Support::count || host.support == math::Support::counts ||
                                        host.support == math::Support::category);
  const bool sum =
      p.size() > 1 || std::any_of(p.begin(), p.end(), [&](const Term& t) {
        return std::any_of(t.index_vars.begin(), t.index_vars.end(), [&](IndexVarId b) { return !a_[b].selector; });
      });
  return counts && sum && !as_coefficient(a_, m_, p) ? log_of_sum(p) : log(p);
}

Poly Expander::log_of_sum(const Poly& p) {
  std::vector<const Term*> fixed;  // single summands: the first values of the source
  const Term* spread = nullptr;    // one summand for each element of a plate: the other values
  IndexVarId over;                 // the index variable of that plate
  for (const Term& t : p) {
    std::vector<IndexVarId> sums;
    for (IndexVarId b : t.index_vars) {
      if (!a_[b].selector) sums.push_back(b);
    }
    const auto sign = a_.literal(a_.factors(t.coef).front());
    if (sign && *sign < 0)
      return fail("a rate or probability cannot subtract: " + text({t}) + " is a summand of it",
                  {"each summand must be positive: a product of positive variables (Gamma, Beta) and data"});
    if (sums.empty() && t.guards.empty()) {
      fixed.push_back(&t);
    } else if (sums.size() == 1 && !spread && !a_[sums[0]].parent && t.guards.empty()) {
      spread = &t;
      over = sums[0];
    } else {
      return fail("no closed form: log of the sum " + text(p),
                  {"the sum inside a rate or probability can have single summands and one sum over a plate",
                   "for two sums join their plates into one, with the elements of both"});
    }
  }
  const model::Variable& host = m_[m_[*statement_].variable];
  std::vector<model::PlateId> axes = host.axes;
  if (log_element_.size() > axes.size()) axes.insert(axes.end(), host.event.begin(), host.event.end());
  std::optional<model::PlateId> plate;
  if (spread) plate = m_[a_[over].plate].set;
  const model::PlateId values = source_plate(fixed.size(), plate);
  const model::VariableId source = auxiliary(Kind::source, std::move(axes), values);
  Poly out;
  const auto append = [&](const Term& t, IndexId value) {
    for (Term& s : log_of_summand(t)) {
      s.atoms.push_back({source, log_element_, Stat::indicator, {value}, {}});
      out.push_back(std::move(s));
    }
  };
  for (std::size_t k = 0; k < fixed.size(); ++k)
    append(*fixed[k], a_.index(IndexConstant{static_cast<std::int64_t>(k)}));
  if (spread) append(*spread, a_.index(over, static_cast<std::int64_t>(fixed.size())));
  return sources_may_be_idle() ? add(std::move(out), log_of_values(source)) : out;
}

bool Expander::sources_may_be_idle() const {
  const model::Statement& s = m_[*statement_];
  // Counts without a value have no sources, and so no entropy.
  return s.start || s.part || (m_[s.variable].support == math::Support::category && missing_source(s.variable));
}

Poly Expander::log_of_values(model::VariableId source) {
  return constant(a_.apply(Function::log, a_.coef(CoefExtent{*m_[source].value_plate, std::nullopt})));
}

Poly Expander::idle_source(model::VariableId source) {
  const model::Variable& host = m_[m_[*statement_].variable];
  const Poly each = scale(a_, a_.number(-1), log_of_values(source));
  if (host.support == math::Support::category) return each;
  Poly out = host.event.empty() ? product(value({}), each)
                                : sum_over(m_[host.event[0]].set, [&](IndexId j) { return product(value({j}), each); });
  const auto gaps = missing_source(m_[*statement_].variable);
  return gaps ? guard_missing(std::move(out), *gaps, *gaps) : out;
}

Poly Expander::log_logistic(const Poly& eta, double sign, std::optional<IndexId> at) {
  // log g(eta) >= eta / 2 + offset(xi) - curvature(xi) eta^2, with equality at xi = |eta|. Jaakkola & Jordan (2000).
  // Of data it is exact: log g(e) = e / 2 - log(2 cosh(e / 2)).
  if (auto c = as_coefficient(a_, m_, eta)) {
    const CoefId half = a_.multiply(a_.number(0.5), *c), minus = a_.number(-1);
    const CoefId log_cosh = a_.apply(Function::log_cosh, half);  // log(1 + exp(e)) would overflow
    return constant(
        a_.add({a_.multiply(a_.number(sign), half), a_.multiply(minus, log_cosh), a_.number(-std::log(2))}));
  }
  if (takes_expectation(eta)) {
    const Poly plane = tangent_plane(statement_tangent_point(math::logistic_expectation(), eta, at), eta);
    return sign > 0 ? add(eta, plane) : plane;
  }
  const TangentPoint xi = statement_tangent_point(math::logistic_bound(), eta, at);
  const Poly square = product(eta, eta);
  Poly out = add(scale(a_, a_.number(0.5 * sign), eta), statistic(xi, Stat::offset));
  return add(std::move(out), scale(a_, a_.number(-1), product(statistic(xi, Stat::curvature), square)));
}

Poly Expander::log_ordered(const model::OrderedLogistic& ordered, IndexId category) {
  // With g the logistic function, the probability between the cuts a and b is
  //     g(b - e) - g(a - e) = g(b - e) g(e - a) (1 - exp(a - b)).
  // Each cut is the upper end of one category and the lower end of the next, so one tangent point for each cut is
  // enough.
  const model::PlateId cuts = m_[ordered.cuts].shape[0];
  // Restricts terms to the category whose number is that of the cut i plus `above`.
  const auto where = [&](IndexId i, std::int64_t above, Poly p) {
    const IndexId next = a_.index(std::get<IndexVarRef>(a_[i]).bound, above);
    return with_guard(std::move(p), {Relation::equal, next, category, std::nullopt, {}});
  };
  Poly out = sum_over(cuts, [&](IndexId i) {
    const Poly e = add(scalar(ordered.location), scale(a_, a_.number(-1), component(ordered.cuts, {i})));
    largest_ = {ordered.location, e.size()};
    return add(where(i, 0, log_logistic(e, -1, i)), where(i, 1, log_logistic(e, 1, i)));
  });
  if (const auto* c = std::get_if<model::Cumulative>(&m_[ordered.cuts].node)) {
    const model::ExprId steps = c->steps;
    return add(std::move(out),
               sum_over(m_[steps].shape[0], [&](IndexId i) { return where(i, 1, log_gap(component(steps, {i}))); }));
  }
  return add(std::move(out), sum_over(cuts, [&](IndexId a) {
               return sum_over(cuts, [&](IndexId b) {
                 const Poly below = scale(a_, a_.number(-1), component(ordered.cuts, {a}));
                 return where(a, 1, where(b, 0, log_gap(add(component(ordered.cuts, {b}), below))));
               });
             }));
}

Poly Expander::log_gap(const Poly& p) {
  if (auto c = as_coefficient(a_, m_, p))
    return constant(a_.apply(Function::log1m, a_.apply(Function::exp, a_.multiply(a_.number(-1), *c))));
  const bool single = p.size() == 1 && p[0].index_vars.empty() && p[0].guards.empty() && p[0].atoms.size() == 1 &&
                      a_.literal(p[0].coef) == 1.0;
  if (const Atom* x = single ? &p[0].atoms[0] : nullptr;
      x && x->opaque.empty() && x->stat == Stat::value && m_[x->variable].support == math::Support::positive) {
    Poly out = p;
    out[0].atoms[0].stat = Stat::log_gap;
    return out;
  }
  return fail(
      "no closed form: log(1 - exp(-d)) of the distance " + text(p) + " of two cuts",
      {"cuts are known, or have distances that are positive variables: with `plate gap` one element shorter than "
       "the cuts, `d[gap] ~ Gamma(shape = 1, rate = 0.1)` and `guide point(d)` write "
       "`ordered_logistic(e, cumulative(d))`; the first cut is then at 0, and e has an intercept"});
}

Poly Expander::own_statistic(model::VariableId auxiliary, Stat stat, std::vector<IndexId> event) {
  Poly p = constant(a_, 1);
  p[0].atoms.push_back({auxiliary, statement_element_, stat, std::move(event), {}});
  return p;
}

Poly Expander::log_indicator(const Poly& value, double side, CoefId limit) {
  // log [value > limit] is above + limit * lower: these statistics are 0 wherever the value can be, and the factor
  // reads its limits from their natural parameters.
  Poly weight = value, at = value;
  weight[0].atoms[0].stat = side > 0 ? Stat::above : Stat::below;
  at[0].atoms[0].stat = side > 0 ? Stat::lower : Stat::upper;
  return a_.literal(limit) == 0.0 ? weight : add(std::move(weight), scale(a_, limit, std::move(at)));
}

Poly Expander::log_probit(model::ExprId argument, double sign) {
  // Of data, log Phi is a function; of anything else it needs an observed bit.
  const Poly eta = scalar(argument);
  if (auto c = as_coefficient(a_, m_, eta))
    return constant(a_.apply(Function::log_tail, a_.multiply(a_.number(-sign), *c)));
  const model::Variable& host = m_[m_[*statement_].variable];
  if (!host.observed || host.support != math::Support::bit)
    return fail(
        "probit(...) of random variables is the probability of an observed Bernoulli, and " + host.name + " is none",
        {"write a Bernoulli for each trial; trials that are alike are counted by `plate trial times count`",
         "logistic(...) is for other counts too"});
  largest_ = {argument, eta.size()};
  if (takes_expectation(eta))
    return tangent_plane(statement_tangent_point(math::probit_expectation(), eta), scale(a_, a_.number(sign), eta));
  if (!draws_ && (part_ || !bit_values_.empty() || !free_selectors(eta).empty())) return log_probit_at_point(eta, sign);
  // The density of u ~ N(eta, 1) with a limit at 0. Albert & Chib (1993).
  const model::VariableId u = auxiliary(Kind::value, m_[m_[*statement_].variable].axes, std::nullopt);
  const Poly value = own_statistic(u, Stat::value), rest = add(value, scale(a_, a_.number(-1), eta));
  Poly out = add(constant(a_, -0.5 * std::log(2 * std::numbers::pi)), scale(a_, a_.number(-0.5), product(rest, rest)));
  return add(std::move(out), log_indicator(value, sign, a_.number(0)));
}

Poly Expander::log_probit_at_point(const Poly& eta, double sign) {
  // The factor of u is N(m, 1) above 0 at its optimum, and E[log N(u; eta, 1)] plus its entropy is
  //     offset(m) + tangent(m) eta - eta^2 / 2 with tangent(m) = E[u].
  const TangentPoint m = statement_tangent_point(math::probit_bound(), eta);
  Poly out = add(statistic(m, Stat::offset), scale(a_, a_.number(sign), product(statistic(m, Stat::tangent), eta)));
  return add(std::move(out), scale(a_, a_.number(-0.5), product(eta, eta)));
}

Poly Expander::log_softmax(model::ExprId scores, IndexId at) {
  // log softmax(e)_k >= e_k - offset(psi) - sum_j slope_j(psi) e_j - sum_j (e_j - mean(e))^2 / 4. Boehning (1992).
  // The last sum is sum_j e_j^2 - (sum_j e_j)^2 / size, so that no term has a mean.
  const model::PlateId plate = m_[scores].shape[0];
  const Poly total = sum_over(plate, [&](IndexId j) { return component(scores, {j}); });
  const TangentPoint psi = statement_tangent_point(math::softmax_bound(), total, std::nullopt, m_[plate].set);
  largest_ = {scores, total.size()};
  Poly linear =
      sum_over(plate, [&](IndexId j) { return product(statistic(psi, Stat::slope, {j}), component(scores, {j})); });
  Poly squares = sum_over(plate, [&](IndexId j) {
    const Poly e = component(scores, {j});
    return product(e, e);
  });
  const CoefId size = a_.coef(CoefExtent{m_[plate].set, std::nullopt});
  Poly out = add(component(scores, {at}), scale(a_, a_.number(-1), statistic(psi, Stat::offset)));
  out = add(std::move(out), scale(a_, a_.number(-1), std::move(linear)));
  out = add(std::move(out), scale(a_, a_.number(-0.25), std::move(squares)));
  return add(std::move(out),
             scale(a_, a_.multiply(a_.number(0.25), a_.apply(Function::reciprocal, size)), product(total, total)));
}

Poly Expander::within_limits(const model::Limits& limits) {
  Poly out;
  for (const auto& [limit, side] : {std::pair(limits.above, 1.0), std::pair(limits.below, -1.0)}) {
    if (limit)
      out = add(std::move(out), log_indicator(value({}), side, as_coefficient(a_, m_, scalar(*limit)).value()));
  }
  return out;
}

Expander::Censoring Expander::censoring(const model::Limits& limits) {
  const auto minus = [&](CoefId a, CoefId b) { return a_.add(a, a_.multiply(a_.number(-1), b)); };
  Censoring out{a_.number(1), as_coefficient(a_, m_, value({})).value(), {}};
  for (const auto& [limit, sign] : {std::pair(limits.above, 1.0), std::pair(limits.below, -1.0)}) {
    if (!limit) continue;
    const CoefId c = as_coefficient(a_, m_, scalar(*limit)).value();
    // `step` is 1 if its argument is positive, so a value at the limit counts as beyond it.
    const CoefId within = a_.apply(Function::step, sign > 0 ? minus(c, out.value) : minus(out.value, c));
    out.uncensored = a_.multiply(out.uncensored, within);
    out.sides.push_back({sign, c, minus(a_.number(1), within)});
  }
  return out;
}

Poly Expander::censored(const model::Distribution& d, const model::Limits& limits) {
  const Censoring c = censoring(limits);
  Poly out;
  if (d.family->gaussian) {
    // A Normal density of the auxiliary number, which censored_value() limits.
    value_override_ = own_statistic(auxiliary(Kind::value, m_[m_[*statement_].variable].axes, {}), Stat::value);
    out = distribution(d);
  } else {
    out = scale(a_, c.uncensored, distribution(d));
    // The log probability of the tail beyond each limit, read at the limit.
    for (const Censoring::Side& s : c.sides) {
      value_override_ = constant(s.limit);
      out = add(std::move(out),
                scale(a_, s.beyond, distribution(d, s.sign > 0 ? *d.family->log_above : *d.family->log_below)));
    }
  }
  value_override_.reset();
  return out;
}

Poly Expander::censored_value(const model::Limits& limits) {
  const Censoring c = censoring(limits);
  const Poly value = own_statistic(auxiliary(Kind::value, m_[m_[*statement_].variable].axes, {}), Stat::value);
  Poly out;
  for (const double sign : {1.0, -1.0}) {
    out = add(std::move(out), scale(a_, c.uncensored, log_indicator(value, sign, c.value)));
    for (const Censoring::Side& s : c.sides) {
      if (s.sign == sign) out = add(std::move(out), scale(a_, s.beyond, log_indicator(value, sign, s.limit)));
    }
  }
  return out;
}

void Expander::count_to_multiplicity(Term& t) {
  const model::VariableId host = m_[*statement_].variable;
  for (const Atom& x : t.atoms) {
    const auto& auxiliary = m_[x.variable].auxiliary;
    if (!auxiliary || auxiliary->host != host || auxiliary->kind != Kind::source) continue;
    // The first factor that is the observed count becomes the multiplicity of the source.
    CoefId rest = a_.number(1);
    std::optional<CoefId> count;
    for (CoefId f : a_.factors(t.coef)) {
      const auto* data = std::get_if<CoefData>(&a_[f]);
      if (!count && data && data->source == DataSource(host)) count = f;
      else rest = a_.multiply(rest, f);
    }
    if (!count) continue;
    t.coef = rest;
    t.multiplicities.push_back({x.variable, *count});
  }
}

}  // namespace lehr::density
