// Sums over discrete elements by variable elimination.
//
// The factor graph is found by trial evaluation. A density is evaluated in a ModelEvaluator whose discrete elements are
// unknown; unknown() then names one that it needs. That element gets its first value, and the evaluation is repeated
// until nothing is missing. For `x[n] ~ Normal(mu[z[n]], tau)` with z[n] unknown, the first trial reports z[n]; the sum
// is then over the values of z[n], with its prior as a further factor.
#include "compiler/evaluate/marginal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "compiler/evaluate/log_sum_exp.h"
#include "compiler/evaluate/sum_product.h"

namespace lehr {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Limits on one sum over connected elements: densities evaluated, and entries of one table. The third is the number of
/// densities for the `own` sum of one observation.
constexpr double kMostEvaluations = 4e6, kMostEntries = 1 << 24, kMostOwn = 2e4;
/// The first two limits if the density is one of many.
constexpr double kMostEvaluationsOfMany = 2e5, kMostEntriesOfMany = 1 << 12;
/// Number of draws for an estimate.
constexpr int kDraws = 1000;

/// Returns the number of all terms of a sum over these elements, and the variable with the largest part in it.
SumTooLarge largest_sum(const std::map<Element, std::size_t>& elements, const std::vector<std::size_t>& states) {
  std::map<model::VariableId, double> logs;
  double all = 0;
  for (const auto& [e, k] : elements) {
    logs[e.variable] += std::log(static_cast<double>(states[k]));
    all += std::log(static_cast<double>(states[k]));
  }
  const auto most = std::ranges::max_element(logs, {}, [](const auto& x) { return x.second; });
  return {most->first, std::exp(all)};
}

}  // namespace

double MarginalDensity::log_sum(std::vector<std::pair<model::StatementId, Element>> factors) {
  double total = 0;
  while (!factors.empty()) {
    const auto [statement, element] = factors.back();
    // Evaluate the last factor; if it needs an element, sum over the element's values and recurse with its prior added.
    forward_.clear();
    if (++evaluations_ > kMostOwn) return kNaN;
    const double density = forward_.log_density(forward_.model()[statement], forward_.at(element));
    if (!forward_.unknown()) {
      total += power_ * density;
      factors.pop_back();
      if (density == -INFINITY) return density;
      continue;
    }
    const Element u = *forward_.unknown();
    const SummedVariable& rule = summed_[u.variable.index()];
    if (rule.by == Summation::joint || rule.by == Summation::chain || rule.by == Summation::none) {
      if (rule.by == Summation::joint) blocked_ = u;
      return kNaN;
    }
    if (rule.by == Summation::per_observation) factors.emplace_back(forward_.model()[u.variable].statement, u);
    const std::size_t n = forward_.states(u.variable);
    std::vector<double> terms;
    for (std::size_t k = 0; k < n && !blocked_ && evaluations_ <= kMostOwn; ++k) {
      const double weight =
          rule.by == Summation::given_probabilities ? std::log(rule.given_probabilities[u.position * n + k]) : 0;
      if (weight == -INFINITY) continue;
      forward_.values(u)[0] = forward_.state(u.variable, k);
      terms.push_back(weight + log_sum(factors));
    }
    forward_.values(u)[0] = kNaN;
    return blocked_ || terms.empty() ? kNaN : total + log_sum_exp(terms);
  }
  return total;
}

double MarginalDensity::log_sum_of(const Observation& o) {
  const double x = log_sum({{o.statement, o.element}});
  if (evaluations_ <= kMostOwn || blocked_) return x;
  if (estimates_ && power_ == 1) return log_sum_of_draws(o);
  if (!too_large_) too_large_ = {o.element.variable, evaluations_};
  return kNaN;
}

bool MarginalDensity::draw(Element e, Rng& rng, std::vector<Element>& drawn) {
  const SummedVariable& rule = summed_[e.variable.index()];
  if (rule.by != Summation::given_probabilities && rule.by != Summation::per_observation) {
    if (rule.by == Summation::joint) blocked_ = e;
    return false;
  }
  const std::size_t n = forward_.states(e.variable);
  std::vector<double> logs(n);
  for (std::size_t k = 0; k < n; ++k) {
    if (rule.by == Summation::given_probabilities) {
      logs[k] = std::log(rule.given_probabilities[e.position * n + k]);
      continue;
    }
    forward_.values(e)[0] = forward_.state(e.variable, k);
    const model::Statement& s = forward_.model()[forward_.model()[e.variable].statement];
    std::optional<Element> parent;
    do {
      forward_.clear();
      logs[k] = forward_.log_density(s, forward_.at(e));
      parent = forward_.unknown();
    } while (parent && draw(*parent, rng, drawn));
    if (parent) {
      forward_.values(e)[0] = kNaN;
      return false;
    }
  }
  const double all = log_sum_exp(logs);
  double u = draw_uniform(rng);
  std::size_t k = 0;
  while (k + 1 < n && (u -= std::exp(logs[k] - all)) >= 0)
    ++k;
  forward_.values(e)[0] = forward_.state(e.variable, k);
  drawn.push_back(e);
  return true;
}

/// Estimates by the mean density over draws of the elements that it depends on.
double MarginalDensity::log_sum_of_draws(const Observation& o) {
  Rng rng(0x5EED, o.element.position);
  std::vector<Element> drawn;
  std::vector<double> logs;
  bool all = true;
  for (int d = 0; d < kDraws && all; ++d) {
    // Elements of the previous draw are drawn again first, without trial evaluations; others may be needed as well.
    const std::vector<Element> before = std::move(drawn);
    drawn.clear();
    for (const Element& e : before)
      if (std::isnan(forward_.values(e)[0])) all = all && draw(e, rng, drawn);
    std::optional<Element> u;
    do {
      forward_.clear();
      logs.push_back(forward_.log_density(forward_.model()[o.statement], forward_.at(o.element)));
      u = forward_.unknown();
      if (u) logs.pop_back();
    } while (u && (all = all && draw(*u, rng, drawn)));
    for (const Element& e : drawn)
      forward_.values(e)[0] = kNaN;
  }
  if (!all || blocked_) return kNaN;
  const double sum = log_sum_exp(logs);
  double squares = 0;
  for (const double x : logs)
    squares += std::exp(2 * (x - sum));
  // The standard error of the log of a mean is approximately the relative standard error of the mean.
  squared_error_ += o.copies * o.copies * std::max(squares - 1.0 / kDraws, 0.0);
  return sum - std::log(static_cast<double>(kDraws));
}

double MarginalDensity::value(const Factor& f) {
  blocked_.reset();
  evaluations_ = 0;
  if (const auto* o = std::get_if<Observation>(&f)) return o->copies * log_sum_of(*o);
  if (const auto* sequence = std::get_if<std::size_t>(&f)) {
    const std::optional<Lattice> l = chains_->lattice(*sequence, [&](model::StatementId s, Element e) {
      evaluations_ = 0;
      return log_sum({{s, e}});
    });
    return l ? log_sum_over_paths(*l) : kNaN;
  }
  const Element e = std::get<Element>(f);
  if (std::isnan(forward_.values(e)[0])) {
    blocked_ = e;
    return kNaN;
  }
  return log_sum({{forward_.model()[e.variable].statement, e}});
}

std::optional<JointTable> MarginalDensity::table_of(const Factor& f) {
  const auto* o = std::get_if<Observation>(&f);
  if (!o) return std::nullopt;
  std::optional<JointTable> t = tabulator_.log_density(forward_.model()[o->statement], forward_.at(o->element));
  if (!t || t->scope.empty()) return std::nullopt;
  for (double& x : t->values)
    x *= o->copies * power_;
  return t;
}

std::pair<std::vector<Element>, double> MarginalDensity::probe(const Factor& f) {
  if (std::optional<JointTable> t = table_of(f)) return {std::move(t->scope), kNaN};
  std::vector<Element> missing;
  const double before = squared_error_;
  double x = value(f);
  const bool complete = !blocked_;
  while (blocked_) {
    missing.push_back(*blocked_);
    forward_.values(missing.back())[0] = forward_.state(missing.back().variable, 0);
    x = value(f);
  }
  for (const Element& e : missing)
    forward_.values(e)[0] = kNaN;
  if (!complete) squared_error_ = before;
  return {missing, complete ? x : kNaN};
}

double MarginalDensity::log_density_of_element(model::StatementId statement, Element element) {
  blocked_.reset();
  evaluations_ = 0;
  return log_sum({{statement, element}});
}

/// Returns as factors the observations that depend on no chain, and each observed sequence.
std::optional<std::vector<MarginalDensity::Factor>> MarginalDensity::factors_of(
    const std::vector<Observation>& observations) {
  std::vector<model::VariableId> chains;
  for (std::size_t k = 0; k < summed_.size(); ++k)
    if (summed_[k].by == Summation::chain) chains.emplace_back(k);
  if (chains.empty()) return std::vector<Factor>(observations.begin(), observations.end());
  std::vector<bool> own;
  for (const SummedVariable& s : summed_)
    own.push_back(s.by == Summation::per_observation);
  chains_.emplace(forward_, chains, std::move(own));
  if (chains_->refused()) {
    refused_ = Element{chains[0], 0};
    return std::nullopt;
  }
  sequences_.clear();
  for (const std::vector<std::size_t>& elements : chains_->sequences())
    sequences_.push_back({elements[0], 0});
  std::vector<Factor> out;
  for (const Observation& o : observations) {
    // An observed value of the chain; its sequence has it.
    if (summed_[o.element.variable.index()].by == Summation::chain) continue;
    const DiscreteChains::Use use = chains_->add(o);
    if (use == DiscreteChains::Use::none) out.emplace_back(o);
    if (use != DiscreteChains::Use::refused) continue;
    refused_ = o.element;
    return std::nullopt;
  }
  for (std::size_t k = 0; k < chains_->sequences().size(); ++k)
    if (chains_->is_observed(k)) out.emplace_back(k);
  return out;
}

double MarginalDensity::log_density(const std::vector<Observation>& observations) {
  too_large_.reset();
  refused_.reset();
  squared_error_ = 0;
  const std::optional<std::vector<Factor>> all = factors_of(observations);
  if (!all) return kNaN;
  std::vector<OpenFactor> factors;
  std::set<Element> visited;
  std::vector<Element> fresh;
  double total = 0;
  // An element that some factor needs brings its own prior as a factor, which may need further elements.
  const auto add = [&](const Factor& f) {
    auto [missing, x] = probe(f);
    if (missing.empty()) {
      total += x;
      note_sequences({{f, {}}}, x);
      return;
    }
    for (const Element& e : missing) {
      if (visited.insert(e).second) fresh.push_back(e);
    }
    factors.push_back({f, std::move(missing)});
  };
  for (const Factor& f : *all)
    add(f);
  while (!fresh.empty()) {
    const Element e = fresh.back();
    fresh.pop_back();
    add(e);
  }
  return total + (factors.empty() ? 0 : condition(std::move(factors)));
}

void MarginalDensity::note_sequences(const std::vector<OpenFactor>& connected, double log_density) {
  std::size_t sequence_count = 0;
  for (const OpenFactor& f : connected) {
    const auto* sequence = std::get_if<std::size_t>(&f.factor);
    if (!sequence || sequences_.empty()) continue;
    if (++sequence_count > 1) sequences_.clear();
    else sequences_[*sequence].log_density = log_density;
  }
}

double MarginalDensity::condition(std::vector<OpenFactor> factors) {
  std::map<Element, std::size_t> index;
  std::vector<std::size_t> parent;
  // Connected components by union-find over elements.
  const auto root = [&](std::size_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const OpenFactor& f : factors) {
    for (const Element& e : f.waits) {
      const auto [it, fresh] = index.emplace(e, parent.size());
      if (fresh) parent.push_back(parent.size());
      parent[root(it->second)] = root(index.at(f.waits[0]));
    }
  }
  std::map<std::size_t, std::vector<OpenFactor>> parts;
  for (OpenFactor& f : factors)
    parts[root(index.at(f.waits[0]))].push_back(std::move(f));
  double total = 0;
  for (auto& [id, part] : parts) {
    const double x = sum_out(part);
    note_sequences(part, x);
    total += x;
  }
  return total;
}

bool MarginalDensity::fill(const Factor& f, std::vector<Element>& waits, std::vector<double>& values) {
  if (std::optional<JointTable> t = table_of(f); t && t->scope == waits) {
    values = std::move(t->values);
    return true;
  }
  // `at` counts through the values of all elements, the last fastest.
  std::vector<std::size_t> at(waits.size(), 0);
  values.clear();
  bool whole = true, done = false;
  const double before = squared_error_;
  double largest = before;
  while (whole && !done) {
    for (std::size_t k = 0; k < waits.size(); ++k)
      forward_.values(waits[k])[0] = forward_.state(waits[k].variable, at[k]);
    squared_error_ = before;
    values.push_back(value(f));
    largest = std::max(largest, squared_error_);
    whole = !blocked_;
    done = true;
    for (std::size_t k = waits.size(); done && k-- > 0;) {
      done = ++at[k] == forward_.states(waits[k].variable);
      if (done) at[k] = 0;
    }
  }
  for (const Element& e : waits)
    forward_.values(e)[0] = kNaN;
  squared_error_ = whole ? largest : before;
  if (!whole) waits.push_back(*blocked_);
  return whole;
}

/// Sums out the elements of connected factors.
double MarginalDensity::sum_out(std::vector<OpenFactor> factors) {
  std::map<Element, std::size_t> number;
  std::vector<std::size_t> states;
  const double most_evaluations = estimates_ ? kMostEvaluations : kMostEvaluationsOfMany,
               most_entries = estimates_ ? kMostEntries : kMostEntriesOfMany;
  double evaluations = 0;
  const auto scope_of = [&](std::vector<Element>& all) {
    std::ranges::sort(all);
    double terms = 1;
    for (const Element& e : all)
      terms *= static_cast<double>(forward_.states(e.variable));
    evaluations += terms;
  };
  for (OpenFactor& f : factors) {
    scope_of(f.waits);
    for (const Element& e : f.waits)
      number.emplace(e, 0);
  }
  const auto plan = [&] {
    states.clear();
    for (auto& [e, k] : number) {
      k = states.size();
      states.push_back(forward_.states(e.variable));
    }
    std::vector<std::vector<std::size_t>> scopes(factors.size());
    for (std::size_t k = 0; k < factors.size(); ++k)
      for (const Element& e : factors[k].waits)
        scopes[k].push_back(number.at(e));
    return std::pair(scopes, elimination_order(scopes, states, most_entries));
  };
  auto [scopes, order] = plan();
  const auto refuse = [&] {
    if (!too_large_) too_large_ = largest_sum(number, states);
    return kNaN;
  };
  if (evaluations > most_evaluations || std::isinf(order.entries)) return refuse();
  std::vector<LogTable> tables(factors.size());
  bool changed = false;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    // A factor may need another element at other values of those it needs; its table is then filled anew.
    while (!fill(factors[k].factor, factors[k].waits, tables[k].values)) {
      scope_of(factors[k].waits);
      number.emplace(*blocked_, 0);
      changed = true;
      if (evaluations > most_evaluations) return refuse();
    }
    if (too_large_) return kNaN;
  }
  if (changed) std::tie(scopes, order) = plan();
  if (std::isinf(order.entries)) return refuse();
  for (std::size_t k = 0; k < factors.size(); ++k)
    tables[k].scope = scopes[k];
  return log_sum_product(std::move(tables), states, order);
}

}  // namespace lehr
