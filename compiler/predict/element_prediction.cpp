// Adds up the mixture of an element's distributions over the values of categories. Given these values, the element is
// one of:
//
// 1. Normal with a mean linear in Normal numbers: its variance is the noise plus the variance of the mean. If the
// noise, or the covariance of the mean, is proportional to one inverse-gamma number, the result is Student's t or a
// mixture over it.
//
// 2. Of another family with a formula `predictive` for parameters that have marginals, as Poisson with a Gamma rate.
#include "compiler/predict/element_prediction.h"

#include "compiler/predict/let_variables.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace lehr {
namespace {

using namespace model;
using math::ScalarMarginal;
using Kind = Atom::Kind;

/// Means with more terms are left to draws: the work grows with their square.
constexpr std::size_t kMaxPairedTerms = 3000;

}  // namespace

MixtureSum::MixtureSum(const Symbolic& symbolic, PosteriorMoments& posterior_moments, Elimination& elimination,
                       const Statement& s, const IndexValues& at, ElementPrediction& to)
    : symbolic_(symbolic),
      posterior_moments_(posterior_moments),
      elimination_(elimination),
      statement_(s),
      at_(at),
      to_(to),
      variance_(to.mean.size(), 0.0) {
  to_.distribution.resize(to.mean.size());
}

bool MixtureSum::is_independent(const Polynomial& weight, const Polynomial& p) const {
  std::set<FactorKey> keys;
  for (const Monomial& m : weight)
    for (const Atom& a : m.atoms)
      keys.insert(posterior_moments_.key(a));
  return std::ranges::none_of(p, [&](const Monomial& m) {
    return std::ranges::any_of(m.atoms, [&](const Atom& a) { return keys.contains(posterior_moments_.key(a)); });
  });
}

/// Where the weight is independent of the rest, E[w ((x - c)^2 + s)] = E[w] (Var x + E[s] + (E[x] - c)^2).
std::optional<double> MixtureSum::square(const Polynomial& weight, const Polynomial& x, const Polynomial& noise,
                                         double about) {
  if (is_independent(weight, x) && is_independent(weight, noise)) {
    const std::optional<double> w = posterior_moments_.mean(weight), mean = posterior_moments_.mean(x),
                                variance = posterior_moments_.variance(x);
    const std::optional<double> rest = elimination_.mean(noise);
    if (!w || !mean || !variance || !rest) return std::nullopt;
    return *w == 0 ? 0 : *w * (*variance + *rest + (*mean - about) * (*mean - about));
  }
  const Polynomial off = x + constant(-about);
  return elimination_.mean(weight * (off * off + noise));
}

void MixtureSum::add(const Polynomial& weight) {
  for (std::size_t j = 0; j < to_.mean.size() && symbolic_.forward().unknown() == std::nullopt; ++j) {
    const MaybePolynomial mean = symbolic_.mean(statement_, at_, j), own = symbolic_.covariance(statement_, at_, j, j);
    const std::optional<MeanAndNoise> r =
        mean && own && mean->size() <= kMaxPairedTerms ? elimination_.mean_and_noise(*mean) : std::nullopt;
    if (symbolic_.forward().unknown()) return;
    const std::optional<double> x = r ? square(weight, merged(r->mean), r->noise + *own, to_.mean[j]) : std::nullopt;
    variance_[j] += x.value_or(std::nan(""));
    if (to_.distribution.empty()) continue;
    const std::optional<double> probability = posterior_moments_.mean(weight);
    std::optional<math::Predictive> p;
    const bool is_gaussian = symbolic_.forward().distribution(statement_, at_).family->gaussian;
    if (is_gaussian && r && r->gaussian) p = gaussian(merged(r->mean), merged(r->noise + *own), weight);
    if (!is_gaussian) p = of_row(j, weight);
    if (p && probability) to_.distribution[j].emplace_back(*probability, std::move(*p));
    else to_.distribution.clear();
  }
}

void MixtureSum::finish() {
  const bool complete = std::ranges::none_of(variance_, [](double x) { return std::isnan(x); });
  for (std::size_t j = 0; complete && j < variance_.size(); ++j)
    to_.sd.push_back(variance_[j] > kNoVariance ? std::sqrt(variance_[j]) : 0.0);
}

/// A point is a number, so that what is left contains random numbers only.
Polynomial MixtureSum::with_points(const Polynomial& p) {
  Polynomial out;
  for (const Monomial& m : p) {
    Monomial rest{m.coefficient, {}};
    for (const Atom& a : m.atoms) {
      const ElementMarginal* law = posterior_moments_.find(a);
      const std::optional<double> x = law && law->fixed ? posterior_moments_.mean({{1, {a}}}) : std::nullopt;
      if (x) rest.coefficient *= *x;
      else rest.atoms.push_back(a);
    }
    out.push_back(std::move(rest));
  }
  return merged(std::move(out));
}

/// `mean` must be a linear function of Normal numbers. `noise` must be a constant plus a multiple of one inverse-gamma
/// number.
std::optional<math::Predictive> MixtureSum::gaussian(const Polynomial& mean, const Polynomial& noise,
                                                     const Polynomial& weight) {
  const Polynomial x = with_points(mean);
  Polynomial all = noise, free;
  std::vector<std::pair<Atom, double>> tied;
  for (const Monomial& m : x) {
    if (m.atoms.empty()) continue;
    const ElementMarginal* law = posterior_moments_.find(m.atoms[0]);
    if (m.atoms.size() > 1 || m.atoms[0].kind != Kind::value || !law) return std::nullopt;
    const ScalarMarginal::Kind kind = law->margins[posterior_moments_.component(m.atoms[0])].kind;
    // A Normal number with a random precision in its factor is Student's t: its variance joins the noise.
    if (kind == ScalarMarginal::Kind::student) tied.emplace_back(m.atoms[0], m.coefficient);
    else if (kind == ScalarMarginal::Kind::normal) free.push_back(m);
    else return std::nullopt;
  }
  // Given the precision, these numbers have covariances that are multiples of its inverse.
  for (const auto& [a, by_a] : tied) {
    for (const auto& [b, by_b] : tied) {
      std::optional<Monomial> together = posterior_moments_.covariance_given_precision(a, b);
      if (!together) return std::nullopt;
      together->coefficient *= by_a * by_b;
      if (together->coefficient != 0) all.push_back(std::move(*together));
    }
  }
  all = with_points(all);
  const std::optional<double> about = posterior_moments_.mean(x), free_variance = posterior_moments_.variance(free);
  if (!about || !free_variance || !is_independent(weight, x) || !is_independent(weight, all) ||
      !is_independent(all, free))
    return std::nullopt;
  double variance = *free_variance, spread = 0;
  std::optional<Atom> of;
  for (const Monomial& m : all) {
    if (m.atoms.empty()) {
      variance += m.coefficient;
      continue;
    }
    // There is no closed form if the variance contains two different random numbers.
    if (m.atoms.size() > 1 || (of && *of != m.atoms[0])) return std::nullopt;
    of = m.atoms[0];
    spread += m.coefficient;
  }
  if (!of) return math::normal_mixture(*about, variance, 0, 0, 0);
  const ElementMarginal* law = posterior_moments_.find(*of);
  if (!law) return std::nullopt;
  double shape = law->spread().inverse_shape, scale = 0;
  if (of->kind == Kind::value) {
    const ScalarMarginal& m = law->margins[posterior_moments_.component(*of)];
    if (m.kind != ScalarMarginal::Kind::inverse_gamma) return std::nullopt;
    shape = m.first;
    scale = m.second;
  } else {
    const std::size_t n = law->spread().inverse_scale.size(), c = posterior_moments_.component(*of);
    if (n == 0 || c % (n + 1) != 0 || c / (n + 1) >= n) return std::nullopt;  // off the diagonal
    scale = law->spread().inverse_scale[c / (n + 1)];
  }
  return math::normal_mixture(*about, variance, spread, shape, scale);
}

ScalarMarginal MixtureSum::margin(const Polynomial& p) {
  if (is_constant(p)) return {ScalarMarginal::Kind::value, constant_value(p)};
  if (p.size() != 1 || p[0].atoms.size() != 1 || p[0].atoms[0].kind != Kind::value) return {};
  const ElementMarginal* law = posterior_moments_.find(p[0].atoms[0]);
  const double by = p[0].coefficient;
  if (!law || law->margins.empty() || !(by > 0)) return {};
  ScalarMarginal m = law->margins[posterior_moments_.component(p[0].atoms[0])];
  // A positive multiple of a Gamma or InverseGamma number has the same family.
  switch (m.kind) {
    case ScalarMarginal::Kind::gamma:
      m.second /= by;
      return m;
    case ScalarMarginal::Kind::inverse_gamma:
      m.second *= by;
      return m;
    default:
      return by == 1 ? m : ScalarMarginal{};
  }
}

/// Uses FamilyRow::predictive, or the marginal of the element if all parameters are constants. Parameters must be
/// independent of each other and of the weight.
std::optional<math::Predictive> MixtureSum::of_row(std::size_t j, const Polynomial& weight) {
  const math::FamilyRow& row = *symbolic_.forward().distribution(statement_, at_).family;
  if (!row.predictive) {
    const ElementMarginal* law = posterior_moments_.find(symbolic_.forward().element(statement_, at_));
    return law && law->margins[j].kind != ScalarMarginal::Kind::none
               ? std::optional(math::predictive_of(law->margins[j]))
               : std::nullopt;
  }
  std::vector<ScalarMarginal> margins;
  Polynomial before = weight;
  for (const math::DensityParameter& d : math::density_parameters(row)) {
    const MaybePolynomial p = symbolic_.parameter(statement_, at_, d.name, d.event_rank == 1 ? j : 0);
    if (!p || !is_independent(before, *p)) return std::nullopt;
    margins.push_back(margin(with_points(merged(*p))));
    before = before + *p;
  }
  return row.predictive(margins);
}

}  // namespace lehr
