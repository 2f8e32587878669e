// Sums over discrete elements. What must be summed over is found by evaluating a density and seeing which
// element it lacked.
#include "compiler/evaluate/marginal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/evaluate/log_sum_exp.h"

namespace lehr {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double Marginal::log_sum(std::vector<std::pair<model::StatementId, Element>> factors) {
  double total = 0;
  while (!factors.empty()) {
    const auto [statement, element] = factors.back();
    forward_.clear();
    const double density = forward_.log_density(forward_.model()[statement], forward_.at(element));
    if (!forward_.unknown()) {
      total += density;
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
    if (rule.by == Summation::own) factors.emplace_back(forward_.model()[u.variable].statement, u);
    const std::size_t n = forward_.states(u.variable);
    std::vector<double> terms;
    for (std::size_t k = 0; k < n && !blocked_; ++k) {
      const double weight = rule.by == Summation::belief ? std::log(rule.belief[u.position * n + k]) : 0;
      if (weight == -INFINITY) continue;
      forward_.values(u)[0] = forward_.state(u.variable, k);
      terms.push_back(weight + log_sum(factors));
    }
    forward_.values(u)[0] = kNaN;
    return blocked_ || terms.empty() ? kNaN : total + log_sum_exp(terms);
  }
  return total;
}

double Marginal::value(const Factor& f) {
  blocked_.reset();
  if (const auto* o = std::get_if<Observation>(&f)) return o->copies * log_sum({{o->statement, o->element}});
  if (const auto* sequence = std::get_if<std::size_t>(&f)) {
    const std::optional<Lattice> l = chains_->lattice(*sequence, [&](model::StatementId s, Element e) {
      return log_sum({{s, e}});
    });
    return l ? log_sum_of_paths(*l) : kNaN;
  }
  const Element e = std::get<Element>(f);
  if (std::isnan(forward_.values(e)[0])) {
    blocked_ = e;
    return kNaN;
  }
  return log_sum({{forward_.model()[e.variable].statement, e}});
}

std::pair<std::vector<Element>, double> Marginal::probe(const Factor& f) {
  std::vector<Element> found;
  double x = value(f);
  const bool complete = !blocked_;
  while (blocked_) {
    found.push_back(*blocked_);
    forward_.values(found.back())[0] = forward_.state(found.back().variable, 0);
    x = value(f);
  }
  for (const Element& e : found)
    forward_.values(e)[0] = kNaN;
  return {found, complete ? x : kNaN};
}

double Marginal::of_one(model::StatementId statement, Element element) {
  blocked_.reset();
  return log_sum({{statement, element}});
}

/// The observations that depend on no chain, as factors, and a factor for each sequence that has others.
std::optional<std::vector<Marginal::Factor>> Marginal::factors_of(const std::vector<Observation>& observations) {
  std::vector<model::VariableId> chains;
  for (std::size_t k = 0; k < summed_.size(); ++k)
    if (summed_[k].by == Summation::chain) chains.emplace_back(k);
  if (chains.empty()) return std::vector<Factor>(observations.begin(), observations.end());
  std::vector<bool> own;
  for (const SummedVariable& s : summed_)
    own.push_back(s.by == Summation::own);
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
    if (summed_[o.element.variable.index()].by == Summation::chain) continue;  // a known value
    const StateChains::Use use = chains_->add(o);
    if (use == StateChains::Use::none) out.emplace_back(o);
    if (use != StateChains::Use::refused) continue;
    refused_ = o.element;
    return std::nullopt;
  }
  for (std::size_t k = 0; k < chains_->sequences().size(); ++k)
    if (chains_->is_observed(k)) out.emplace_back(k);
  return out;
}

double Marginal::log_density(const std::vector<Observation>& observations) {
  const std::optional<std::vector<Factor>> all = factors_of(observations);
  if (!all) return kNaN;
  std::vector<Factor> factors;
  std::set<Element> known;
  std::vector<Element> fresh;
  double total = 0;
  const auto add = [&](const Factor& f) {
    const auto [waits, x] = probe(f);
    if (waits.empty()) {
      total += x;
      note_sequences({f}, x);
      return;
    }
    factors.push_back(f);
    for (const Element& e : waits) {
      if (known.insert(e).second) fresh.push_back(e);
    }
  };
  for (const Factor& f : *all)
    add(f);
  while (!fresh.empty()) {
    const Element e = fresh.back();
    fresh.pop_back();
    add(e);
  }
  return total + (factors.empty() ? 0 : condition(factors, true));
}

void Marginal::note_sequences(const std::vector<Factor>& connected, double log_density) {
  std::size_t found = 0;
  for (const Factor& f : connected) {
    const auto* sequence = std::get_if<std::size_t>(&f);
    if (!sequence || sequences_.empty()) continue;
    if (++found > 1) sequences_.clear();
    else sequences_[*sequence].log_density = log_density;
  }
}

double Marginal::condition(const std::vector<Factor>& factors, bool outermost) {
  double total = 0;
  std::vector<std::pair<const Factor*, std::vector<Element>>> open;
  std::map<Element, std::size_t> index;
  std::vector<std::size_t> parent;
  const auto root = [&](std::size_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const Factor& f : factors) {
    auto [waits, x] = probe(f);
    if (waits.empty()) {
      total += x;
      continue;
    }
    for (const Element& e : waits) {
      const auto [it, fresh] = index.emplace(e, parent.size());
      if (fresh) parent.push_back(parent.size());
      parent[root(it->second)] = root(index.at(waits[0]));
    }
    open.emplace_back(&f, std::move(waits));
  }
  std::map<std::size_t, std::pair<std::vector<Factor>, std::map<Element, std::size_t>>> parts;
  for (const auto& [f, waits] : open) {
    auto& [list, uses] = parts[root(index.at(waits[0]))];
    list.push_back(*f);
    for (const Element& e : waits)
      ++uses[e];
  }
  for (const auto& [id, part] : parts) {
    const double x = condition(part.first, part.second);
    if (outermost) note_sequences(part.first, x);
    total += x;
  }
  return total;
}

/// Connected factors: the element that most of them wait for takes each of its values.
double Marginal::condition(std::vector<Factor> factors, const std::map<Element, std::size_t>& uses) {
  const Element e = std::max_element(uses.begin(), uses.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
  std::vector<double> terms;
  for (std::size_t k = 0; k < forward_.states(e.variable); ++k) {
    forward_.values(e)[0] = forward_.state(e.variable, k);
    terms.push_back(condition(factors, false));
  }
  forward_.values(e)[0] = kNaN;
  return log_sum_exp(terms);
}

}  // namespace lehr
