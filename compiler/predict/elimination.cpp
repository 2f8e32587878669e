// Averages over elements without a marginal. The element that would be simulated last is always removed first: nothing
// else in the polynomial depends on it then, so its numbers can be replaced by their moments given its parents.
#include "compiler/predict/elimination.h"

#include <algorithm>

#include "compiler/evaluate/forward_order.h"
#include "compiler/evaluate/limits.h"

namespace lehr {
namespace {

using namespace model;
using Kind = Atom::Kind;

/// Splits a monomial into the atoms of one element and the rest.
std::pair<Atoms, Monomial> split(const PosteriorMoments& posterior_moments, Element e, const Monomial& m) {
  std::pair<Atoms, Monomial> out{{}, {m.coefficient, {}}};
  for (const Atom& a : m.atoms)
    (posterior_moments.element(a) == e ? out.first : out.second.atoms).push_back(a);
  return out;
}

/// Returns the polynomial x for the atom of a number, 1 - x for that of its complement.
MaybePolynomial plain(const Atom& a, MaybePolynomial x) {
  return a.kind == Kind::complement ? constant(1) - std::move(x) : x;
}

}  // namespace

Elimination::Elimination(const Symbolic& symbolic, PosteriorMoments& posterior_moments)
    : symbolic_(symbolic),
      posterior_moments_(posterior_moments),
      model_(symbolic.forward().model()),
      order_(model_.variables.size()) {
  const std::vector<DrawGroup> groups = draw_order(model_);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t k = 0; k < groups[g].statements.size(); ++k) {
      SimulationOrder& p = order_[model_[groups[g].statements[k]].variable.index()];
      p = {g, k, {}};
      if (k < groups[g].ordered.size()) p.ordered = groups[g].ordered[k];
    }
  }
}

Elimination::Rank Elimination::rank(Element e) const {
  const SimulationOrder& p = order_[e.variable.index()];
  const std::int64_t when = p.ordered ? symbolic_.forward().at(e)[p.ordered->index()] : 0;
  return {p.group, when, p.within, e.position};
}

/// Compares elements by their position in the order of simulation.
std::optional<Element> Elimination::next(const Polynomial& p) {
  std::optional<Element> out;
  for (const Monomial& m : p) {
    for (const Atom& a : m.atoms) {
      const Element e = posterior_moments_.element(a);
      if (posterior_moments_.find(e) || (out && (*out == e || rank(e) < rank(*out)))) continue;
      out = e;
    }
  }
  return out;
}

/// Returns E[own | parents] for one or two numbers of the element e: the mean, or the product of means plus the
/// covariance.
MaybePolynomial Elimination::moment(Element e, const Atoms& own) {
  const auto is_plain = [](const Atom& a) { return a.kind <= Kind::complement; };
  if (own.size() > 2 || !std::ranges::all_of(own, is_plain) || is_within_limits(model_, e.variable))
    return std::nullopt;
  const Statement& s = model_[model_[e.variable].statement];
  const IndexValues at = symbolic_.forward().at(e);
  MaybePolynomial out = constant(1);
  for (const Atom& a : own)
    if (out) out = out * plain(a, symbolic_.mean(s, at, posterior_moments_.component(a)));
  if (!out || own.size() < 2) return out;
  const MaybePolynomial covariance =
      symbolic_.covariance(s, at, posterior_moments_.component(own[0]), posterior_moments_.component(own[1]));
  return own[0].kind == own[1].kind ? out + covariance : out - covariance;
}

MaybePolynomial Elimination::average_over(Element e, const Polynomial& p) {
  Polynomial out;
  for (const Monomial& m : p) {
    const auto [own, rest] = split(posterior_moments_, e, m);
    const MaybePolynomial x = own.empty() ? constant(1) : moment(e, own);
    if (!x || out.size() + x->size() > kMaxMonomials) return std::nullopt;
    for (const Monomial& y : *x)
      out.push_back(rest * y);
  }
  return merged(std::move(out));
}

MaybePolynomial Elimination::averaged(Polynomial p) {
  while (const std::optional<Element> e = next(p)) {
    MaybePolynomial without = posterior_moments_.lacks_marginal(*e) ? std::nullopt : average_over(*e, p);
    if (!without || symbolic_.forward().unknown()) return std::nullopt;
    p = std::move(*without);
  }
  return symbolic_.forward().unknown() ? std::nullopt : std::optional(std::move(p));
}

std::optional<MeanAndNoise> Elimination::mean_and_noise(Polynomial p) {
  MeanAndNoise out;
  while (const std::optional<Element> e = next(p)) {
    if (posterior_moments_.lacks_marginal(*e) || is_within_limits(model_, e->variable)) return std::nullopt;
    const Statement& s = model_[model_[e->variable].statement];
    const IndexValues at = symbolic_.forward().at(*e);
    out.gaussian = out.gaussian && symbolic_.forward().distribution(s, at).family->gaussian;
    // The terms with this element, each as a number of it and the coefficient.
    std::vector<std::pair<Atom, Monomial>> linear;
    for (const Monomial& m : p) {
      auto [own, rest] = split(posterior_moments_, *e, m);
      if (own.size() > 1 || (own.size() == 1 && own[0].kind > Kind::complement)) return std::nullopt;
      if (own.empty()) continue;
      if (own[0].kind == Kind::complement) rest.coefficient *= -1;
      linear.emplace_back(own[0], rest);
    }
    // The noise gets the covariances of the element's numbers, times their coefficients.
    for (const auto& [a, rest_a] : linear) {
      for (const auto& [b, rest_b] : linear) {
        const MaybePolynomial covariance =
            symbolic_.covariance(s, at, posterior_moments_.component(a), posterior_moments_.component(b));
        if (!covariance || symbolic_.forward().unknown()) return std::nullopt;
        out.noise = std::move(out.noise) + *covariance * Polynomial{rest_a * rest_b};
      }
    }
    MaybePolynomial without = average_over(*e, p);
    if (!without || out.noise.size() > kMaxMonomials || symbolic_.forward().unknown()) return std::nullopt;
    p = std::move(*without);
    out.noise = merged(std::move(out.noise));
  }
  out.mean = std::move(p);
  if (symbolic_.forward().unknown()) return std::nullopt;
  return out;
}

std::optional<double> Elimination::mean(const Polynomial& p) {
  const MaybePolynomial reduced = averaged(p);
  return reduced ? posterior_moments_.mean(*reduced) : std::nullopt;
}

std::optional<double> Elimination::variance(const Polynomial& p) {
  const std::optional<MeanAndNoise> r = mean_and_noise(p);
  const std::optional<double> of_mean = r ? posterior_moments_.variance(merged(r->mean)) : std::nullopt;
  const std::optional<double> noise = of_mean ? mean(r->noise) : std::nullopt;
  return noise ? std::optional(*of_mean + *noise) : std::nullopt;
}

}  // namespace lehr
