// Local bounds of functions of one number: absolute values and gamma functions.
//
// A local bound touches its function at a point, which is a new variable with a point factor (Bishop 2006, section
// 10.5). Example: |e| <= (e^2 / xi + xi) / 2, equal at xi = |e|, has only statistics of e and xi that are conjugate.
#include <algorithm>

#include "compiler/density/expander.h"

namespace lehr::density {

using math::Stat;

std::vector<IndexId> Expander::element_of(const Poly& p) {
  std::set<IndexVarId> free;
  for (const Term& t : p) {
    std::set<IndexVarId> mentioned;
    a_.collect(t.coef, mentioned);
    for (const Atom& x : t.atoms) {
      for (IndexId i : x.axes)
        a_.collect(i, mentioned);
      for (IndexId i : x.event)
        a_.collect(i, mentioned);
    }
    for (const Guard& g : t.guards) {
      for (IndexId i : {g.left, g.right})
        if (i.valid()) a_.collect(i, mentioned);
      for (IndexId i : g.element)
        a_.collect(i, mentioned);
    }
    for (IndexVarId b : t.index_vars)
      mentioned.erase(b);
    // A sampler draws one point, not one for each value of a switch.
    if (draws_) std::erase_if(mentioned, [&](IndexVarId b) { return a_[b].selector; });
    free.insert(mentioned.begin(), mentioned.end());
  }
  std::vector<IndexId> out;
  for (IndexVarId b : free)
    out.push_back(a_.index(b));
  return out;
}

Expander::TangentPoint Expander::new_tangent_point(const math::FamilyRow& bound, const Poly& p) {
  // The point has one element for each value of the index variables that p depends on and does not sum over.
  std::vector<model::PlateId> axes;
  TangentPoint out{{}, element_of(p)};
  for (const IndexId i : out.element) {
    const model::PlateId plate = a_[std::get<IndexVarRef>(a_[i]).bound].plate;
    axes.push_back(m_[plate].parent ? plate : m_[plate].set);
  }
  out.variable = new_auxiliary(model::Auxiliary::Kind::bound, std::move(axes), std::nullopt, &bound);
  return out;
}

Expander::TangentPoint Expander::statement_tangent_point(const math::FamilyRow& bound, const Poly& p,
                                                         std::optional<IndexId> at,
                                                         std::optional<model::PlateId> values) {
  std::vector<model::PlateId> axes = m_[m_[*statement_].variable].axes;
  std::vector<IndexId> more = free_selectors(p);
  if (at) more.insert(more.begin(), *at);
  TangentPoint out{{}, statement_element_};
  for (const IndexId i : more) {
    axes.push_back(m_[a_[std::get<IndexVarRef>(a_[i]).bound].plate].set);
    out.element.push_back(i);
  }
  out.variable = auxiliary(model::Auxiliary::Kind::bound, std::move(axes), values, &bound);
  return out;
}

Poly Expander::statistic(const TangentPoint& at, Stat s, std::vector<IndexId> event) {
  Poly p = constant(a_, 1);
  p[0].atoms.push_back({at.variable, at.element, s, std::move(event), {}});
  return p;
}

Poly Expander::absolute(const Poly& p) {
  if (auto c = as_coefficient(a_, m_, p)) return constant(a_.apply(Function::abs, *c));
  if (!statement_)
    return fail("no closed form: the absolute value of " + text(p) + " in a potential",
                {"draw a variable from Laplace, which is such a term"});
  const TangentPoint xi = new_tangent_point(math::absolute_bound(), p);
  return scale(a_, a_.number(0.5),
               add(product(statistic(xi, Stat::inverse), product(p, p)), statistic(xi, Stat::value)));
}

bool Expander::is_sum_of_points(const Poly& p) const {
  return std::ranges::all_of(p, [&](const Term& t) {
    return t.guards.empty() && t.atoms.size() <= 1 && std::ranges::all_of(t.atoms, [&](const Atom& x) {
             return x.stat == Stat::value && x.opaque.empty() && m_[x.variable].support == math::Support::positive &&
                    std::ranges::find(m_.guide.point, x.variable) != m_.guide.point.end();
           });
  });
}

Poly Expander::log_gamma_of_points(const Poly& p) {
  // A point itself has log Gamma as a statistic, so no bound is needed.
  if (p.size() == 1 && p[0].index_vars.empty() && a_.literal(p[0].coef) == 1.0) {
    Poly out = p;
    out[0].atoms[0].stat = Stat::log_gamma;
    return out;
  }
  const TangentPoint at = new_tangent_point(math::log_gamma_bound(), p);
  return add(statistic(at, Stat::offset), product(statistic(at, Stat::tangent), p));
}

void Expander::check_bound_signs(const Poly& p) {
  for (const Term& t : p) {
    // The tangent lies below log Gamma, so a term with a negative coefficient would be bounded from above.
    const auto literal = a_.literal(a_.factors(t.coef).front());
    const bool negative = literal && *literal < 0;
    for (const Atom& x : t.atoms) {
      const math::FamilyRow* bound = m_[x.variable].auxiliary ? m_[x.variable].auxiliary->bound : nullptr;
      if (bound == &math::log_gamma_bound() && x.stat == Stat::offset && negative) {
        fail("no closed form: the logarithm of a gamma function of a sum or multiple stands with a minus here",
             {"the parameter must be the variable itself: draw what stands here as a variable of its own"});
        return;
      }
    }
  }
}

}  // namespace lehr::density
