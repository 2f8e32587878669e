// Evaluates log densities of observations at a draw, and simulates a replicated data set from it. Two evaluators of the
// model hold the same latent values: one with the observations, one with the replicated data.
#include "compiler/posterior/predictive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/draw_values.h"
#include "compiler/evaluate/observation.h"
#include "compiler/evaluate/packed.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// The maximum number of numbers of local variables in memory, for all items at once.
constexpr double kMaxStored = 2e7;

/// Returns the observed variables of the model's text.
std::vector<VariableId> observed_variables(const Model& m) {
  std::vector<VariableId> out;
  for (std::size_t k = 0; k < m.variables.size(); ++k)
    if (m.variables[k].observed && !m.variables[k].auxiliary) out.emplace_back(k);
  return out;
}

/// Returns why observations have no density of their own; an empty string if they have.
std::string no_density(const Model& m, const BoundData& data) {
  for (const Potential& p : m.potentials) {
    for (const VariableRef* ref : references_under(m, {p.value})) {
      if (m[ref->variable].observed)
        return fmt::format("'{}' is in a potential, and its density has no known normaliser", m[ref->variable].name);
    }
  }
  for (const Plate& p : m.plates) {
    const auto is_copied = [](double count) { return count != 1; };
    if (p.times && std::ranges::any_of(data.givens[p.times->index()].values, is_copied))
      return fmt::format("elements of '{}' have copies", p.name);
  }
  return "";
}

/// Returns, by VariableId, how each variable is summed over: those that are added to observations with their prior.
std::vector<SummedVariable> summed_by_prior(const std::vector<bool>& added) {
  std::vector<SummedVariable> out(added.size());
  for (std::size_t k = 0; k < added.size(); ++k)
    if (added[k]) out[k].by = Summation::per_observation;
  return out;
}

/// Returns how many numbers a variable has. A category counts once, or once for each value with `probabilities`.
double count_numbers(const BoundData& data, const Model& m, const Variable& v, bool probabilities) {
  double n = 1;
  for (const std::int64_t extent : stored_shape(m, data, v.axes, v.event))
    n *= static_cast<double>(extent);
  return probabilities && v.value_plate ? n * static_cast<double>(data.sizes[v.value_plate->index()]) : n;
}

/// Returns how many numbers the local variables of all items have.
double local_scalar_count(const Analysed& a, const BoundData& data) {
  double out = 0;
  for (std::size_t k = 0; k < a.model.variables.size(); ++k) {
    const conditionals::BlockId b = a.schedule.conditionals.block_of[k];
    if (b.valid() && a.schedule.stage_of[b.index()]) out += count_numbers(data, a.model, a.model.variables[k], true);
  }
  return out;
}

/// Returns the k-th array for a further draw: makes it at the first draw, and lengthens its axis of draws.
NamedArray& array_of(std::vector<NamedArray>& all, std::size_t k, const std::string& name,
                     std::vector<std::int64_t> shape, bool integer) {
  if (k == all.size()) {
    shape.insert(shape.begin(), 0);
    all.push_back({name, std::move(shape), {}, integer});
  }
  ++all[k].shape[0];
  return all[k];
}

}  // namespace

std::int64_t PredictivePlan::every(std::int64_t of) const {
  if (draws == 0 || of == 0) return 0;
  const std::int64_t selected = std::min(draws, of);
  return (of + selected - 1) / selected;
}

PredictivePlan plan_predictive(const Analysed& a, const BoundData& data, std::int64_t max_scalars) {
  if (max_scalars == 0) return {};
  if (std::string why = no_density(a.model, data); !why.empty()) return {0, std::move(why)};
  double of_draw = 0;
  for (const VariableId v : observed_variables(a.model))
    of_draw += count_numbers(data, a.model, a.model[v], false);
  if (of_draw == 0) {
    const auto latent = std::ranges::find_if(a.model.variables, [](const Variable& v) { return v.clamped; });
    if (latent == a.model.variables.end()) return {0, "nothing is observed"};
    return {0, fmt::format("with missing values '{}' is a latent variable, and has some of its values", latent->name)};
  }
  const double draws = std::floor(static_cast<double>(max_scalars) / of_draw);
  if (draws < 1) return {0, fmt::format("a single draw of all chains has {:.3g} numbers a chain", of_draw)};
  if (const double stored = local_scalar_count(a, data); stored > kMaxStored)
    return {0, fmt::format("the variables of all items are {:.3g} numbers", stored)};
  return {static_cast<std::int64_t>(std::min(draws, 1e12)), ""};
}

Predictive::Predictive(const Model& model, const BoundData& data, const CentringOffsets& references)
    : model_(model),
      whole_(with_whole_compounds(model)),
      references_(references),
      observed_(whole_, data),
      replicated_(model, data),
      added_(added_to_observations(model)),
      marginal_(observed_, summed_by_prior(added_)),
      variables_(observed_variables(model)) {}

void Predictive::add(std::int64_t draw, const std::vector<NamedArray>& state, Rng& rng, PredictiveDraws& to) {
  for (std::size_t k = 0; k < model_.variables.size(); ++k) {
    if (added_[k]) std::ranges::fill(replicated_.values(VariableId(k)), std::nan(""));
    if (added_[k]) continue;
    const auto drawn = std::ranges::find(state, model_.variables[k].name, &NamedArray::name);
    if (drawn == state.end() || model_.variables[k].observed) continue;
    std::ranges::copy(drawn->values, observed_.values(VariableId(k)).begin());
    std::ranges::copy(drawn->values, replicated_.values(VariableId(k)).begin());
  }
  to.draws.push_back(draw);
  add_log_likelihood(to);
  add_replicated(rng, to);
}

void Predictive::add_log_likelihood(PredictiveDraws& to) {
  for (std::size_t k = 0; k < variables_.size(); ++k) {
    const Variable& v = model_[variables_[k]];
    NamedArray& array =
        array_of(to.log_likelihood, k, v.name, stored_shape(model_, observed_.data(), v.axes, {}), false);
    const Statement& s = model_[v.statement];
    IndexValues at = observed_.origin();
    observed_.each(s.index_vars, at, [&] {
      array.values.push_back(marginal_.log_density_of_element(v.statement, observed_.element(s, at)));
    });
  }
}

void Predictive::add_replicated(Rng& rng, PredictiveDraws& to) {
  for (const VariableId v : variables_)
    std::ranges::fill(replicated_.values(v), std::nan(""));
  const std::optional<Error> problem = draw_values(replicated_, rng);
  if (problem && to.problem.empty()) to.problem = problem->text;
  for (std::size_t k = 0; k < variables_.size(); ++k) {
    const Variable& v = model_[variables_[k]];
    NamedArray& array = array_of(to.replicated, k, v.name, stored_shape(model_, observed_.data(), v.axes, v.event),
                                 has_integers(v.support));
    const std::span<const double> x = std::as_const(replicated_).values(variables_[k]);
    array.values.insert(array.values.end(), x.begin(), x.end());
    if (const auto* from = centring_offset_of(references_, variables_[k]))
      add_centring_offset(std::span(array.values).last(x.size()), *from, 1);
  }
}

}  // namespace lehr
