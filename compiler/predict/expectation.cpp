// Averages over categories by trial: a formula is evaluated, and ModelEvaluator::unknown names the first category that
// lacks a value. That category is set to each of its values, and each time the formula is evaluated. So only those
// categories are summed over that the formula reads.
//
//   x ~ Normal(mean = mu[z], ...):   evaluate mu[z] -> z unknown -> sum over k of E[weight(z = k)] * E[mu[k]]
//
// The weight of a category is its probability: a number if it is d-connected to data, otherwise a polynomial given its
// parents.
#include "compiler/predict/expectation.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/limits.h"

namespace lehr {
namespace {

using namespace model;

/// The maximum number of evaluations for one element; sums with more are left to draws.
constexpr std::int64_t kMaxEvaluations = 100'000;
/// Longer probabilities are not cached: with random transitions they grow with every step of a forecast.
constexpr std::size_t kMaxCachedTerms = 64;

}  // namespace

std::vector<double> conditional_mean(const ModelEvaluator& forward, const Statement& s, const IndexValues& at) {
  const math::FamilyRow& row = *forward.distribution(s, at).family;
  if (!row.mean) return {};
  const math::Environment parameters = forward.parameters(s, at);
  for (const math::DensityParameter& p : math::density_parameters(row))
    if (!parameters.symbols.contains(p.name)) return {};
  const int rank = math::event_rank(row.support) + (row.support == math::Support::category ? 1 : 0);
  return math::evaluate_all(*row.mean, parameters, rank).values;
}

Expectation::Expectation(const Analysed& analysed, ModelEvaluator& values,
                         const std::vector<std::vector<double>>& beliefs,
                         const std::vector<std::vector<bool>>& d_connected, const Symbolic& symbolic,
                         PosteriorMoments& posterior_moments)
    : analysed_(analysed),
      model_(values.model()),
      values_(values),
      beliefs_(beliefs),
      d_connected_(d_connected),
      symbolic_(symbolic),
      posterior_moments_(posterior_moments),
      elimination_(symbolic, posterior_moments) {}

bool Expectation::is_chain(VariableId v) const {
  const conditionals::Conditionals& c = analysed_.schedule.conditionals;
  return c.block_of[v.index()].valid() && c[c.block_of[v.index()]].chain.has_value();
}

std::size_t Expectation::component_count(const Statement& s) const {
  return model_[s.variable].value_plate ? values_.extent(s.variable) : values_.width(s.variable);
}

ElementPrediction Expectation::of(const Statement& s, const IndexValues& at, bool all) {
  ElementPrediction out;
  // Limits move values to their boundary (censoring) or between limits (truncation), which no formula here describes.
  if (s.limits.any() || is_within_limits(model_, s.variable)) return out;
  out.mean.assign(component_count(s), 0.0);
  // Each of the two passes over the categories begins with none of them set.
  const auto restart = [&] {
    summed_.clear();
    seen_.clear();
    evaluations_ = 0;
    exact_ = true;
  };
  restart();
  sum_over_categories({}, constant(1), [&](const Polynomial& weight) {
    for (std::size_t j = 0; j < out.mean.size() && exact_; ++j) {
      const MaybePolynomial p = symbolic_.mean(s, at, j);
      if (values_.unknown()) return;
      const std::optional<double> x = p ? elimination_.mean(weight * *p) : std::nullopt;
      if (values_.unknown()) return;
      exact_ = exact_ && x;
      if (x) out.mean[j] += *x;
    }
  });
  // Without a polynomial for the mean, the element may still have constant parameters.
  if (!exact_ || !std::ranges::all_of(out.mean, [](double x) { return std::isfinite(x); }))
    return of_constant_parameters(values_.element(s, at));
  if (!all) return out;
  restart();
  // The second pass needs the means of the first, about which it forms variances.
  MixtureSum sum(symbolic_, posterior_moments_, elimination_, s, at, out);
  sum_over_categories({}, constant(1), [&](const Polynomial& weight) { sum.add(weight); });
  if (exact_) sum.finish();
  else out.distribution.clear();
  return out;
}

/// Uses the marginals of the family's row.
ElementPrediction Expectation::of_constant_parameters(Element e) {
  ElementPrediction out;
  values_.clear();
  posterior_moments_.forget();
  const ElementMarginal* law = model_[e.variable].value_plate ? nullptr : posterior_moments_.find(e);
  if (!law || values_.unknown()) return out;
  for (const math::ScalarMarginal& m : law->margins)
    out.distribution.push_back({{1.0, math::predictive_of(m)}});
  if (!std::ranges::all_of(law->mean, [](double x) { return std::isfinite(x); })) return out;
  out.mean = law->mean;
  const std::size_t n = out.mean.size();
  for (std::size_t j = 0; j < n && law->spread().covariance.size() == n * n; ++j)
    out.sd.push_back(std::sqrt(law->spread().covariance[j * n + j]));
  return out;
}

void Expectation::remember(Element e) {
  const Statement& s = model_[model_[e.variable].statement];
  // Only chains profit: each element depends on the one before.
  if (!s.lagged) return;
  const IndexValues at = values_.at(e);
  Marginal m;
  m.probabilities.resize(component_count(s));
  summed_.clear();
  seen_.clear();
  evaluations_ = 0;
  exact_ = true;
  sum_over_categories({}, constant(1), [&](const Polynomial& weight) {
    std::vector<Polynomial> terms;
    for (std::size_t k = 0; k < m.probabilities.size(); ++k) {
      const MaybePolynomial p = symbolic_.mean(s, at, k);
      exact_ = exact_ && (p || values_.unknown());
      if (!p || values_.unknown()) return;
      terms.push_back(*p);
    }
    for (std::size_t k = 0; k < terms.size(); ++k) {
      m.probabilities[k] = merged(std::move(m.probabilities[k]) + weight * terms[k]);
      exact_ = exact_ && m.probabilities[k].size() <= kMaxCachedTerms;
    }
  });
  if (!exact_) return;
  m.summed = seen_;
  m.summed.insert(e.variable);
  marginals_[e] = std::move(m);
}

/// The last entry of `priors` is the category that got its value last. Its parents may be categories without a value.
bool Expectation::apply_priors(std::vector<Element>& priors, Polynomial& weight) {
  while (!priors.empty() && !weight.empty() && exact_) {
    const Element e = priors.back();
    const Statement& own = model_[model_[e.variable].statement];
    values_.clear();
    const MaybePolynomial p = symbolic_.mean(own, values_.at(e), static_cast<std::size_t>(values_.values(e)[0]));
    if (values_.unknown()) return false;
    exact_ = exact_ && p;
    if (p) weight = merged(weight * *p);
    priors.pop_back();
  }
  return true;
}

/// If `leaf` reads a category without a value, it must add nothing and leave ModelEvaluator::unknown set.
void Expectation::sum_over_categories(std::vector<Element> priors, Polynomial weight, const Leaf& leaf) {
  exact_ = exact_ && ++evaluations_ < kMaxEvaluations;
  if (!exact_) return;
  posterior_moments_.forget();
  if (apply_priors(priors, weight)) {
    if (weight.empty() || !exact_) return;
    values_.clear();
    leaf(weight);
  }
  if (const std::optional<Element> u = values_.unknown(); u && exact_) sum_over(*u, priors, weight, leaf);
}

/// Elements of one chain depend on each other. Given an element with its own probabilities, only later elements may
/// follow, by their distribution given it. Cached probabilities of two categories are dependent if the same categories
/// were summed over for both.
bool Expectation::is_independent(Element u, bool d_connected, const Marginal* marginal) const {
  const bool root = d_connected || marginal;
  const bool ordered = is_chain(u.variable) || model_[model_[u.variable].statement].lagged;
  for (const auto& [e, of_e] : summed_) {
    const bool e_d_connected = d_connected_[e.variable.index()][e.position];
    const bool separate = d_connected && e_d_connected && !is_chain(u.variable);
    if (e.variable == u.variable && ordered && !separate && (e_d_connected || of_e) &&
        (root || u.position < e.position))
      return false;
    if (of_e && e.variable != u.variable && of_e->summed.contains(u.variable)) return false;
    if (marginal && marginal->summed.contains(e.variable)) return false;
  }
  return true;
}

void Expectation::sum_over(Element u, const std::vector<Element>& priors, const Polynomial& weight, const Leaf& leaf) {
  // Only categories are summed over; bits and spins are left to draws.
  if (!model_[u.variable].value_plate) {
    exact_ = false;
    return;
  }
  const bool d_connected = !model_[u.variable].observed && d_connected_[u.variable.index()][u.position];
  const bool among_others =
      std::ranges::any_of(summed_, [&](const auto& other) { return other.first.variable == u.variable; });
  // Cached probabilities are valid only if no other element of the variable has a value.
  const auto cached = marginals_.find(u);
  const Marginal* marginal = d_connected || among_others || cached == marginals_.end() ? nullptr : &cached->second;
  exact_ = exact_ && is_independent(u, d_connected, marginal);
  if (!exact_) return;
  seen_.insert(u.variable);
  if (marginal) seen_.insert(marginal->summed.begin(), marginal->summed.end());
  summed_.emplace_back(u, marginal);
  std::vector<Element> next = priors;
  if (!d_connected && !marginal) next.push_back(u);
  const std::size_t n = values_.states(u.variable);
  for (std::size_t k = 0; k < n && exact_; ++k) {
    values_.values(u)[0] = values_.state(u.variable, k);
    Polynomial own = weight;
    if (d_connected) own = scaled(std::move(own), beliefs_[u.variable.index()][u.position * n + k]);
    if (marginal) own = own * marginal->probabilities[k];
    // Values of probability 0 are skipped.
    std::erase_if(own, [](const Monomial& m) { return m.coefficient == 0; });
    if (!own.empty()) sum_over_categories(next, std::move(own), leaf);
  }
  values_.values(u)[0] = std::nan("");
  summed_.pop_back();
}

}  // namespace lehr
