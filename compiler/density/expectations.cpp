// Links of predictors that are Normal under the posterior: the expectation of the link, as a tangent plane in the first
// two moments of the predictor (compiler/math/families/bounds.h).
//
// An exponential is first a mark, an opaque atom of its point. So the logarithm of a rate finds the predictor again,
// and the rate itself becomes a tangent plane when the statement is complete.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/density/expander.h"
#include "compiler/math/evaluate.h"
#include "compiler/math/families/bounds.h"
#include "compiler/model/expectations.h"
#include "compiler/model/print_model.h"
#include "compiler/model/statement_text.h"
#include "compiler/model/walk.h"

namespace lehr::density {

using math::Stat;

namespace {

/// What to write in place of an expectation without closed form.
constexpr const char* kCure =
    "exp(...) can be a rate or a precision, times data and positive variables; 1 / exp(e) is exp(-e)";

/// Returns true if the guide makes the variable a point.
bool is_point(const model::Model& m, model::VariableId v) {
  return std::ranges::find(m.guide.point, v) != m.guide.point.end();
}

/// Returns true if the factor of the variable is Normal: a number or vector without limits that shares its factor with
/// such variables at most.
bool has_normal_factor(const model::Model& m, model::VariableId v) {
  const auto is_real = [&](model::VariableId x) {
    return m[x].support == math::Support::real || m[x].support == math::Support::vector;
  };
  return is_real(v) && !m[v].auxiliary && !m[m[v].statement].limits.any() &&
         std::ranges::all_of(m.guide.joint, [&](const model::JointGuide& joint) {
           return !joint.has(v) || std::ranges::all_of(joint.members, is_real);
         });
}

/// Returns true if the statistic is never negative, and no part of 1 minus it.
bool is_never_negative(const model::Model& m, const Atom& x) {
  return x.opaque.empty() && (x.stat == Stat::indicator || m[x.variable].support == math::Support::positive);
}

/// Returns the power by which the parameter determines the canonical one, -2 for sd; nothing for another relation.
std::optional<double> power_of(const math::Spelling& s) {
  if (!s.convert || s.event_rank != 0) return std::nullopt;
  const auto log_of = [&](double e) {
    return std::log(math::evaluate(*s.convert, {1, {{s.name, {0, {std::exp(e)}}}}, {}}));
  };
  const double power = std::round(log_of(1));
  const bool holds = std::abs(log_of(1) - power) < 1e-9 && std::abs(log_of(2) - 2 * power) < 1e-9;
  return holds ? std::optional(power) : std::nullopt;
}

/// Returns what to write in place of exp(...) in the statement, where it has no expectation.
std::vector<std::string> cures_of_exponential(const model::Model& m, const model::Statement& s) {
  for (const model::Distribution* d : model::distributions_of(s)) {
    std::vector<std::string> list;
    bool changes = false;
    for (const model::Parameter& p : d->parameters) {
      const auto* f = std::get_if<model::Apply>(&m[p.value].node);
      const std::optional<double> power = f && f->function == Function::exp ? power_of(*p.spelling) : std::nullopt;
      changes = changes || power;
      if (!power) list.push_back(fmt::format("{} = {}", p.spelling->name, print(m, p.value)));
      else if (*power == -1)
        list.push_back(fmt::format("{} = exp(-({}))", p.spelling->canonical, print(m, f->argument)));
      else list.push_back(fmt::format("{} = exp({:g} * ({}))", p.spelling->canonical, *power, print(m, f->argument)));
    }
    if (changes && d->written.empty())
      return {fmt::format("write `{}`",
                          statement_text(m, s, d, fmt::format("{}({})", d->family->name, fmt::join(list, ", "))))};
  }
  return {kCure};
}

}  // namespace

bool Expander::is_normal(const Poly& eta) const {
  return std::ranges::all_of(eta, [&](const Term& t) {
    return t.atoms.size() <= 1 && std::ranges::all_of(t.atoms, [&](const Atom& x) {
             return x.opaque.empty() && (x.stat == Stat::value || x.stat == Stat::comp) &&
                    (is_point(m_, x.variable) || has_normal_factor(m_, x.variable));
           });
  });
}

bool Expander::takes_expectation(const Poly& eta) const {
  return m_.guide.gaussian_links && !draws_ && !part_ && bit_values_.empty() && free_selectors(eta).empty() &&
         is_normal(eta);
}

Poly Expander::tangent_plane(const TangentPoint& point, const Poly& eta) {
  Poly out = add(statistic(point, Stat::offset), product(statistic(point, Stat::tangent), eta));
  return add(std::move(out), scale(a_, a_.number(-1), product(statistic(point, Stat::curvature), product(eta, eta))));
}

Poly Expander::exponential(model::ExprId id, const Poly& eta) {
  if (draws_)
    return fail("exp(" + text(eta) + ") of random variables has no conditional distribution to draw from",
                {"variational inference takes its expectation"});
  const auto [it, inserted] = exponents_.try_emplace({m_[*statement_].variable, id, bit_values_});
  Exponent& x = it->second;
  // The statement may mention the expression several times, each time with index variables of its own.
  const std::vector<IndexId> element = element_of(eta);
  if (inserted) x.point = new_tangent_point(math::exp_expectation(), eta);
  x.point.element = element;
  x.eta = eta;
  Poly out = constant(a_, 1);
  out[0].atoms.push_back({x.point.variable, x.point.element, Stat::offset, {}, {}});
  out[0].atoms[0].opaque = {"exp(" + text(eta) + ")", 0, false, {Function::exp}};
  return out;
}

std::optional<Poly> Expander::exponent_of(const Atom& x) {
  const auto found =
      std::ranges::find_if(exponents_, [&](const auto& entry) { return entry.second.point.variable == x.variable; });
  if (found == exponents_.end() || x.opaque.functions != std::vector{Function::exp}) return std::nullopt;
  const auto& [point, eta] = found->second;
  Poly out = eta;
  for (std::size_t k = 0; k < x.axes.size(); ++k) {
    if (x.axes[k] == point.element[k]) continue;
    const IndexVarId from = std::get<IndexVarRef>(a_[point.element[k]]).bound;
    for (Term& t : out)
      t = substitute(a_, std::move(t), from, x.axes[k]);
  }
  return out;
}

Poly Expander::without_exponentials(Poly p) {
  Poly out;
  for (Term& t : p) {
    std::vector<Atom> marks;
    Poly eta;
    std::erase_if(t.atoms, [&](const Atom& x) {
      const std::optional<Poly> exponent = exponent_of(x);
      if (!exponent) return false;
      marks.push_back(x);
      eta = add(std::move(eta), *exponent);
      return true;
    });
    // Another function of a mark is left.
    const auto other = std::ranges::find_if(
        t.atoms, [&](const Atom& x) { return !x.opaque.empty() && model::has_expectation(m_[x.variable]); });
    if (other != t.atoms.end()) {
      return fail("no closed form: the expectation of " + other->opaque.text,
                  cures_of_exponential(m_, m_[*statement_]));
    }
    if (marks.empty()) {
      out.push_back(std::move(t));
      continue;
    }
    // The expectation of exp(e) is convex, so the plane is for -exp(e), times what is independent of e.
    const auto literal = a_.literal(a_.factors(t.coef).front());
    const bool negative = literal && *literal < 0;
    const auto is_in_exponent = [&](const Atom& y) {
      return std::ranges::any_of(eta, [&](const Term& s) {
        return std::ranges::any_of(s.atoms, [&](const Atom& z) { return z.variable == y.variable; });
      });
    };
    if (std::ranges::any_of(t.atoms, is_in_exponent) ||
        (!negative && std::ranges::all_of(t.atoms, [&](const Atom& y) { return is_never_negative(m_, y); }))) {
      return fail("no closed form: the expectation of " + marks[0].opaque.text + " with this factor or sign",
                  cures_of_exponential(m_, m_[*statement_]));
    }
    const TangentPoint point = marks.size() == 1 ? TangentPoint{marks[0].variable, marks[0].axes}
                                                 : new_tangent_point(math::exp_expectation(), eta);
    out = add(std::move(out), product({t}, scale(a_, a_.number(-1), tangent_plane(point, eta))));
  }
  return out;
}

}  // namespace lehr::density
