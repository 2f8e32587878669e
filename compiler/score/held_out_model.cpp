// Decides whether a model has a score, and how each of its discrete variables is summed over: by its posterior
// probabilities (global ones), by its distribution given its parents (local ones), or along chains. A continuous local
// variable makes the score a document completion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/evaluate/dependence.h"
#include "compiler/model/walk.h"
#include "compiler/score/held_out.h"

namespace lehr {

using namespace model;

Error score_error(std::string text, std::vector<std::string> notes) {
  return {ExitCode::usage, "", std::move(text), std::move(notes)};
}

Error sum_too_large(const Model& m, const SumTooLarge& sum) {
  return score_error(fmt::format("the sum over the values of '{}' and what depends on it together has {:.2g} terms",
                                 m[sum.variable].name, sum.terms),
                     {"local variables that few observations tie together, or continuous ones, have a score"});
}

void HeldOut::set(Analysed analysed) {
  analysed_ = std::move(analysed);
  model_ = with_whole_compounds(analysed_.model);
}

std::vector<bool> HeldOut::ancestors_of_data() const {
  std::vector<bool> out(model().variables.size());
  for (const Statement& s : model().statements) {
    if (!has_data(model()[s.variable])) continue;
    const std::vector<bool> above = ancestors(model(), s);
    for (std::size_t v = 0; v < out.size(); ++v)
      out[v] = out[v] || above[v];
  }
  return out;
}

bool HeldOut::is_local(VariableId v) const {
  const conditionals::BlockId b = analysed_.schedule.conditionals.block_of[v.index()];
  return b.valid() && analysed_.schedule.stage_of[b.index()].has_value();
}

Model with_counted_elements(const Model& m, BoundData& data) {
  Model out = m;
  for (const Variable& v : m.variables) {
    if (!v.observed || v.axes.empty() || times_plate(out, v)) continue;
    const PlateId leaf = v.axes.back();
    const auto lies_on = [&](const Variable& x) {
      return x.observed && std::find(x.axes.begin(), x.axes.end(), leaf) != x.axes.end();
    };
    // Only a plate that one observed variable has for itself, nested in the items, gets multiplicities.
    const bool alone = std::count_if(m.variables.begin(), m.variables.end(), lies_on) == 1;
    const bool chain =
        std::all_of(v.axes.begin() + 1, v.axes.end(), [&](PlateId p) { return m[p].parent.has_value(); });
    if (!alone || !chain || v.axes.size() < 2) continue;
    const auto elements = static_cast<std::size_t>(data.sizes[leaf.index()]);
    for (Plate& p : out.plates) {
      if (p.set == leaf) p.times = GivenId(out.givens.size());
    }
    out.givens.push_back({"elements of " + m[leaf].name, v.span, v.axes, {}, GivenType::count, std::nullopt, false});
    data.givens.push_back({std::vector<double>(elements, 1.0), false});
  }
  return out;
}

/// Copies of an element can be held out only by its multiplicity. Observations that others depend on must not be
/// missing.
std::optional<Error> HeldOut::cannot_hold_out() const {
  const Model& m = model();
  std::map<const Plate*, std::string> counted;
  for (const Statement& s : m.statements) {
    const Variable& v = m[s.variable];
    for (const VariableRef* ref : references_under(m, roots_of(s))) {
      if (m[ref->variable].observed)
        return score_error(fmt::format("'{}' depends on the observed '{}', which therefore cannot be held out", v.name,
                                       m[ref->variable].name));
    }
    const Plate* p = times_plate(m, v);
    if (!v.observed) continue;
    if (!p) {
      const std::vector<bool> above = ancestors(m, s);
      for (std::size_t k = 0; k < above.size(); ++k) {
        // A discrete variable of a single observation would lose its data with it.
        if (above[k] && summed_[k].by == Summation::per_observation)
          return score_error(fmt::format("'{}' cannot be held out without its own '{}'", v.name, m.variables[k].name),
                             {fmt::format("put '{}' on a plate that is nested in the items", v.name)});
      }
      continue;
    }
    if (counted.contains(p) || v.axes.back() != p->set || !v.event.empty() || (m[*p->times].axes != v.axes))
      return score_error(
          fmt::format("copies of '{}' cannot be held out: its plate '{}' counts other things too", v.name, p->name));
    counted[p] = v.name;
  }
  return std::nullopt;
}

void HeldOut::integrate_missing_entries() {
  const Model& m = model();
  if (completion_ || !chains_.empty()) return;
  std::vector<bool> read(m.variables.size());
  for (const Statement& s : m.statements) {
    for (const VariableRef* ref : references_under(m, roots_of(s)))
      read[ref->variable.index()] = true;
  }
  for (const Statement& s : m.statements) {
    const Variable& v = m[s.variable];
    const std::size_t k = s.variable.index();
    if (v.observed && !read[k] && !v.event.empty() && s.main.family->gaussian && !s.part) data_.clamped[k] = false;
  }
}

std::optional<Error> HeldOut::cannot_clamp() const {
  for (std::size_t v = 0; v < model().variables.size(); ++v) {
    const Variable& x = model().variables[v];
    const bool summed = is_chain(VariableId(v)) || (!completion_ && is_local(VariableId(v)));
    if (!x.clamped || (summed && is_discrete(x.support))) continue;
    return score_error(
        fmt::format("'{}' is known for some of its elements and missing for others: that has a score for discrete "
                    "variables of the items alone, where no item has continuous ones",
                    x.name));
  }
  return std::nullopt;
}

bool HeldOut::is_chain(VariableId v) const { return std::ranges::find(chains_, v) != chains_.end(); }

/// All chains lie on the same axes, so the first one stands for all.
bool HeldOut::lies_along_chain(const Variable& v) const {
  if (chains_.empty()) return false;
  const Statement& s = model()[model()[chains_[0]].statement];
  return std::ranges::find(v.axes, model()[*s.lagged].plate) != v.axes.end();
}

std::string HeldOut::chain_names() const {
  std::vector<std::string> names;
  for (const VariableId c : chains_)
    names.push_back("'" + model()[c].name + "'");
  return fmt::format("{}", fmt::join(names, " and "));
}

/// Several chains are scored together if they lie on the same axes, and are all of categories or all Gaussian.
std::optional<Error> HeldOut::add_chain(VariableId id) {
  const Model& m = model();
  const Variable& v = m[id];
  const bool continuous = !is_discrete(v.support);
  if (continuous && !m[v.statement].main.family->gaussian)
    return score_error(
        fmt::format("of chains of numbers, those of Gaussian states have a score, and '{}' has none", v.name));
  if (times_plate(m, v)) return score_error(fmt::format("elements of the chain '{}' have multiplicities", v.name));
  chains_.push_back(id);
  const Variable& first = m[chains_[0]];
  if (first.axes != v.axes)
    return score_error(fmt::format("chains that lie on different plates have no score, as {} do", chain_names()));
  if (is_discrete(first.support) == continuous)
    return score_error(
        fmt::format("there is no sum over categories and numbers of chains together, such as {}", chain_names()));
  return std::nullopt;
}

std::optional<Error> HeldOut::classify() {
  const Model& m = model();
  completion_ = false;
  chains_.clear();
  if (!m.potentials.empty())
    return score_error("a model with potentials has no score: its density has no known normaliser");
  for (const Statement& s : m.statements) {
    const Variable& v = m[s.variable];
    if (!s.lagged || v.observed) continue;
    if (std::optional<Error> e = add_chain(s.variable)) return e;
  }
  const std::vector<bool> own = single_observation_variables(m), reaches = ancestors_of_data();
  summed_.resize(m.variables.size());
  for (std::size_t v = 0; v < m.variables.size(); ++v) {
    const Variable& x = m.variables[v];
    if (x.observed || x.auxiliary || !is_local(VariableId(v)) || is_discrete(x.support)) continue;
    if (is_chain(VariableId(v)) || !reaches[v]) continue;
    // A continuous variable of a single observation has no data left once that is held out.
    if (own[v]) {
      return score_error(
          fmt::format("'{}' has an element for each observation: nothing is left to infer it from", x.name),
          {"a score needs several observations of each item, or local variables that are discrete"});
    }
    completion_ = true;
  }
  if (completion_ && !chains_.empty())
    return score_error(fmt::format("the items have variables of their own beside the chain {}", chain_names()));
  for (std::size_t v = 0; v < m.variables.size(); ++v) {
    const Variable& x = m.variables[v];
    if (x.observed || x.auxiliary || !is_discrete(x.support)) continue;
    summed_[v].by = is_chain(VariableId(v))         ? Summation::chain
                    : lies_along_chain(x) && own[v] ? Summation::per_observation
                    : !is_local(VariableId(v))      ? Summation::given_probabilities
                    : own[v]                        ? Summation::per_observation
                    : completion_                   ? Summation::given_probabilities
                                                    : Summation::joint;
    if (lies_along_chain(x) && !is_chain(VariableId(v)) && !own[v])
      return score_error(fmt::format("'{}' and the chain {} belong to the same observations: there is no sum over both",
                                     x.name, chain_names()));
  }
  return std::nullopt;
}

}  // namespace lehr
