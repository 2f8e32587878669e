// Collects the transitions and observations of chains of categories as log densities on a lattice, and finds the best
// path by the Viterbi algorithm (compiler/evaluate/state_chains.h).
#include "compiler/predict/state_paths.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "compiler/evaluate/dependence.h"
#include "compiler/evaluate/marginal.h"

namespace lehr {
namespace {

using namespace model;

/// Chains with more combined values are not searched together.
constexpr std::size_t kMaxSearchedStates = 256;

/// Returns true if a statement depends on one of the chains, directly or through others.
bool depends(const Model& m, const Statement& s, const std::vector<VariableId>& chains) {
  const std::vector<bool> above = ancestors(m, s);
  return std::ranges::any_of(chains, [&](VariableId c) { return above[c.index()]; });
}

/// Returns the chains of categories on the same axes, which are searched together; the chain alone if they have too
/// many values.
std::vector<VariableId> beside(const Model& m, const ModelEvaluator& forward, VariableId chain) {
  std::vector<VariableId> out;
  std::size_t states = 1;
  for (const Statement& s : m.statements) {
    const Variable& v = m[s.variable];
    if (!s.lagged || v.observed || !is_discrete(v.support) || v.axes != m[chain].axes) continue;
    out.push_back(s.variable);
    states *= std::min(forward.states(s.variable), kMaxSearchedStates + 1);
    if (states > kMaxSearchedStates) return {chain};
  }
  return out;
}

/// Returns true if everything that depends on the chains is observed, or belongs to a single observation and can be
/// summed over (`own`).
bool has_paths(const Model& m, const BoundData& data, const std::vector<VariableId>& chains,
               const std::vector<bool>& own) {
  if (std::ranges::any_of(m[chains[0]].axes, [&](PlateId p) { return m[p].times.has_value(); })) return false;
  for (const Statement& s : m.statements) {
    const std::size_t k = s.variable.index();
    const bool is_chain = std::ranges::find(chains, s.variable) != chains.end();
    if (is_chain || m[s.variable].observed || own[k] || !depends(m, s, chains)) continue;
    if (!m[s.variable].clamped || data.observed[k].has_missing) return false;
  }
  return m.potentials.empty();
}

/// Adds the observations to the sequences. Returns false if one does not belong to a step or a pair of steps.
bool add_observations(const ModelEvaluator& forward, const std::vector<VariableId>& chains, DiscreteChains& to) {
  const Model& m = forward.model();
  for (std::size_t k = 0; k < m.statements.size(); ++k) {
    const Statement& s = m.statements[k];
    const bool is_chain = std::ranges::find(chains, s.variable) != chains.end();
    if (!has_data(m[s.variable]) || is_chain || !depends(m, s, chains)) continue;
    bool well = true;
    IndexValues at = forward.origin();
    forward.each(s.index_vars, at, [&] {
      const Element e = forward.element(s, at);
      const double copies = multiplicity_of(m, forward.data(), s, at);
      if (!well || copies == 0 || std::isnan(forward.values(e)[0])) return;
      well = to.add({StatementId(k), e, copies}) != DiscreteChains::Use::refused;
    });
    if (!well) return false;
  }
  return true;
}

/// Returns the values of chain `v` on the best path of the chains `all`; empty if there is no path.
std::vector<std::int64_t> best_values(const Model& m, const BoundData& data, VariableId v,
                                      const std::vector<VariableId>& all,
                                      const std::vector<std::vector<double>>& means) {
  ModelEvaluator forward(m, data);
  std::vector<bool> own = single_observation_variables(m);
  for (std::size_t k = 0; k < own.size(); ++k)
    own[k] = own[k] && is_discrete(m.variables[k].support) && std::ranges::find(all, VariableId(k)) == all.end();
  if (!has_paths(m, data, all, own)) return {};
  std::vector<SummedVariable> summed(m.variables.size());
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    if (own[k]) summed[k].by = Summation::per_observation;
    if (m.variables[k].observed) continue;
    const std::span<double> to = forward.values(VariableId(k));
    if (!is_discrete(m.variables[k].support)) std::ranges::copy(means[k], to.begin());
    for (std::size_t i = 0; m.variables[k].clamped && i < to.size(); ++i)
      if (const double x = data.observed[k].values[i]; !std::isnan(x)) to[i] = x;
  }
  DiscreteChains chains(forward, all, std::move(own));
  if (chains.refused() || !add_observations(forward, all, chains)) return {};
  const auto is_observed = [&](std::size_t k) { return chains.is_observed(k); };
  if (std::ranges::none_of(std::views::iota(std::size_t{0}, chains.sequences().size()), is_observed)) return {};
  MarginalDensity marginal(forward, std::move(summed));
  std::vector<std::int64_t> out(forward.elements(v));
  for (std::size_t k = 0; k < chains.sequences().size(); ++k) {
    const auto density = [&](StatementId s, const Element& e) { return marginal.log_density_of_element(s, e); };
    const std::optional<Lattice> lattice = chains.lattice(k, density);
    const std::vector<std::int64_t> path = lattice ? viterbi_path(*lattice) : std::vector<std::int64_t>();
    if (path.empty()) return {};
    const auto of_v = static_cast<std::size_t>(std::ranges::find(all, v) - all.begin());
    for (std::size_t t = 0; t < path.size(); ++t)
      out[chains.sequences()[k][t]] =
          static_cast<std::int64_t>(chains.value_of(of_v, static_cast<std::size_t>(path[t])));
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> most_probable_states(const Model& m, const BoundData& data, VariableId v,
                                               const std::vector<std::vector<double>>& means) {
  const std::vector<VariableId> all = beside(m, ModelEvaluator(m, data), v);
  std::vector<std::int64_t> out = best_values(m, data, v, all, means);
  return out.empty() && all.size() > 1 ? best_values(m, data, v, {v}, means) : out;
}

}  // namespace lehr
