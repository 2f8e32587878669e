// Chains of discrete states. Which elements an observation or transition depends on is found by trial evaluation of its
// density, as in marginal.cpp.
#include "compiler/evaluate/state_chains.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/evaluate/log_sum_exp.h"

namespace lehr {

using namespace model;

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

}  // namespace

double log_sum_over_paths(const Lattice& l) {
  const std::size_t k = l.states, n = l.single.size() / k;
  std::vector<double> here(k), before, terms(k);
  for (std::size_t t = 0; t < n; ++t) {
    // here[j]: log weight of all paths up to step t that end in state j.
    before = here;
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t i = 0; i < k; ++i)
        terms[i] = t == 0 ? kImpossible : before[i] + l.pair[(t * k + i) * k + j];
      here[j] = l.single[t * k + j] + (t == 0 ? 0 : log_sum_exp(terms));
    }
  }
  return n == 0 ? 0 : log_sum_exp(here);
}

std::vector<std::int64_t> viterbi_path(const Lattice& l) {
  const std::size_t k = l.states, n = l.single.size() / k;
  std::vector<double> best = l.single;
  std::vector<std::size_t> from(n * k, 0);
  for (std::size_t t = 1; t < n; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      // Viterbi: from[t, j] is the best state before state j at step t.
      double most = kImpossible;
      for (std::size_t i = 0; i < k; ++i) {
        const double x = best[(t - 1) * k + i] + l.pair[(t * k + i) * k + j];
        if (x <= most) continue;
        most = x;
        from[t * k + j] = i;
      }
      best[t * k + j] += most;
    }
  }
  std::vector<std::int64_t> out(n);
  if (n == 0) return out;
  const auto last = best.end() - static_cast<std::ptrdiff_t>(k);
  const auto top = std::max_element(last, best.end());
  if (*top == kImpossible) return {};
  auto at = static_cast<std::size_t>(top - last);
  for (std::size_t t = n; t-- > 0; at = from[t * k + at])
    out[t] = static_cast<std::int64_t>(at);
  return out;
}

DiscreteChains::DiscreteChains(ModelEvaluator& forward, std::vector<VariableId> chains, std::vector<bool> own)
    : forward_(forward), chains_(std::move(chains)), own_(std::move(own)) {
  for (const VariableId c : chains_) {
    const std::span<double> z = forward_.values(c);
    observed_.emplace_back(z.begin(), z.end());
    std::ranges::fill(z, std::nan(""));
  }
  steps_.resize(observed_[0].size());
  for (std::size_t e = 0; e < steps_.size() && !refused_; ++e)
    refused_ = !add_step(e);
}

std::size_t DiscreteChains::states() const {
  std::size_t out = 1;
  for (const VariableId c : chains_)
    out *= forward_.states(c);
  return out;
}

std::size_t DiscreteChains::value_of(std::size_t chain, std::size_t state) const {
  for (std::size_t k = chains_.size(); k-- > chain + 1;)
    state /= forward_.states(chains_[k]);
  return state % forward_.states(chains_[chain]);
}

bool DiscreteChains::is_chain(VariableId v) const { return std::ranges::find(chains_, v) != chains_.end(); }

void DiscreteChains::put(std::size_t position, std::optional<std::size_t> state) const {
  for (std::size_t k = 0; k < chains_.size(); ++k)
    forward_.values(chains_[k])[position] = state ? forward_.state(chains_[k], value_of(k, *state)) : std::nan("");
}

bool DiscreteChains::add_step(std::size_t position) {
  std::optional<std::size_t> before;
  std::vector<Factor> transitions;
  std::size_t starts = 0;
  for (const VariableId c : chains_) {
    // Each chain's element must depend on its own position and at most one earlier position, the same for all chains.
    const StatementId id = forward_.model()[c].statement;
    const Statement& s = forward_.model()[id];
    const Element e{c, position};
    if (s.start && &forward_.distribution(s, forward_.at(e)) == &*s.start) ++starts;
    std::optional<std::vector<std::size_t>> read = read_by({id, e, 1});
    if (!read) return false;
    std::erase(*read, position);
    if (read->size() > 1 || (before && !read->empty() && read->front() != *before)) return false;
    if (!read->empty()) before = read->front();
    transitions.push_back({{id, e, 1}, 0, !read->empty()});
  }
  // Either all chains start here, or none does.
  if (starts != (before ? 0 : chains_.size())) return false;
  const std::size_t sequence = before ? steps_[*before].sequence : sequences_.size();
  if (!before) {
    sequences_.emplace_back();
    factors_.emplace_back();
  } else if (*before >= position || sequences_[sequence].back() != *before) {
    return false;
  }
  steps_[position] = {sequence, sequences_[sequence].size()};
  for (Factor& f : transitions) {
    f.step = steps_[position].step;
    factors_[sequence].push_back(f);
  }
  sequences_[sequence].push_back(position);
  return true;
}

bool DiscreteChains::is_observed(std::size_t sequence) const {
  const std::vector<std::size_t>& all = sequences_[sequence];
  return factors_[sequence].size() > all.size() * chains_.size() ||
         std::ranges::any_of(observed_, [&](const std::vector<double>& of_chain) {
           return std::ranges::any_of(all, [&](std::size_t e) { return !std::isnan(of_chain[e]); });
         });
}

std::optional<std::vector<std::size_t>> DiscreteChains::read_by(const Observation& o) {
  std::vector<std::size_t> out;
  std::vector<Element> assigned, own;
  std::vector<Observation> todo{o};
  while (!todo.empty()) {
    const Observation at = todo.back();
    forward_.clear();
    forward_.log_density(forward_.model()[at.statement], forward_.at(at.element));
    const std::optional<Element> u = forward_.unknown();
    if (!u) {
      todo.pop_back();
      continue;
    }
    assigned.push_back(*u);
    forward_.values(*u)[0] = forward_.state(u->variable, 0);
    if (is_chain(u->variable) && std::ranges::find(out, u->position) == out.end()) out.push_back(u->position);
    if (!own_[u->variable.index()]) continue;
    own.push_back(*u);
    // An `own` element is summed with its prior, so the elements that the prior reads count as well.
    todo.push_back({forward_.model()[u->variable].statement, *u, 1});
  }
  for (const Element& e : assigned)
    forward_.values(e)[0] = std::nan("");
  bool free = true;
  for (const Element& e : own) {
    const auto it = std::ranges::lower_bound(used_own_, e);
    free = free && (it == used_own_.end() || *it != e);
    used_own_.insert(it, e);
  }
  return free ? std::optional(out) : std::nullopt;
}

DiscreteChains::Use DiscreteChains::add(const Observation& o) {
  const std::optional<std::vector<std::size_t>> read = read_by(o);
  if (refused_ || !read || read->size() > 2) return Use::refused;
  if (read->empty()) return Use::none;
  const SequenceStep a = steps_[read->front()], b = steps_[read->back()];
  const bool pair = read->size() == 2;
  if (pair && (a.sequence != b.sequence || std::max(a.step, b.step) - std::min(a.step, b.step) != 1))
    return Use::refused;
  factors_[a.sequence].push_back({o, std::max(a.step, b.step), pair});
  return Use::added;
}

bool DiscreteChains::add_densities(const Factor& f, std::size_t sequence, const LogDensity& density,
                                   Lattice& to) const {
  const std::vector<std::size_t>& all = sequences_[sequence];
  const std::size_t k = to.states;
  bool valid = true;
  for (std::size_t i = 0; i < (f.pair ? k : 1) && valid; ++i) {
    if (f.pair) put(all[f.step - 1], i);
    for (std::size_t j = 0; j < k && valid; ++j) {
      put(all[f.step], j);
      const double x = f.of.copies * density(f.of.statement, f.of.element);
      valid = !std::isnan(x);
      (f.pair ? to.pair[(f.step * k + i) * k + j] : to.single[f.step * k + j]) += x;
    }
  }
  put(all[f.step], std::nullopt);
  if (f.pair) put(all[f.step - 1], std::nullopt);
  return valid;
}

std::optional<Lattice> DiscreteChains::lattice(std::size_t sequence, const LogDensity& density) const {
  const std::size_t n = sequences_[sequence].size(), k = states();
  Lattice out{k, std::vector<double>(n * k, 0.0), std::vector<double>(n * k * k, 0.0)};
  for (const Factor& f : factors_[sequence])
    if (!add_densities(f, sequence, density, out)) return std::nullopt;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    for (std::size_t t = 0; t < n; ++t) {
      const double x = observed_[c][sequences_[sequence][t]];
      for (std::size_t j = 0; j < k && !std::isnan(x); ++j)
        if (x != forward_.state(chains_[c], value_of(c, j))) out.single[t * k + j] = kImpossible;
    }
  }
  return out;
}

}  // namespace lehr
