// The held-out score item by item. The observations of an item are scored together, those of different items
// separately. If the sum is not the score of all, items share what is summed over, and have no densities of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/evaluate/log_sum_exp.h"
#include "compiler/evaluate/normaliser.h"
#include "compiler/score/held_out.h"

namespace lehr {

using namespace model;

std::vector<IndexVarId> HeldOut::item_vars(const Statement& s) const {
  std::vector<IndexVarId> out;
  if (!chains_.empty()) {
    for (const IndexVarId b : s.index_vars) {
      if (s.lagged && b == *s.lagged) continue;
      // The elements of a nested plate are numbered over all rows, so its parent's index is not needed.
      if (!out.empty() && model()[b].parent == out.back()) out.pop_back();
      out.push_back(b);
    }
    return out;
  }
  for (const schedule::Step& step : analysed_.schedule.steps) {
    const auto* stage = std::get_if<schedule::ItemStage>(&step);
    const auto is_item = [&](IndexVarId b) { return stage && model()[b].plate == stage->item; };
    const auto found = std::ranges::find_if(s.index_vars, is_item);
    if (found != s.index_vars.end()) return {*found};
  }
  if (!s.index_vars.empty()) out.push_back(s.index_vars[0]);
  return out;
}

Result<HeldOut::Items> HeldOut::by_items(const ModelEvaluator& forward) const {
  const Model& m = model();
  Items out;
  for (const Observation& o : scored_) {
    const Statement& s = m[o.statement];
    const std::vector<IndexVarId> vars = item_vars(chains_.empty() ? s : m[m[chains_[0]].statement]);
    if (vars.size() > 1) return score_error("there is no density of each item: an item has several numbers");
    std::size_t item = 0;
    if (!vars.empty()) {
      const PlateId of = m[m[vars[0]].plate].set;
      if (out.plate && *out.plate != of)
        return score_error(fmt::format("there is no density of each item: observations lie on '{}' and on '{}'",
                                       m[*out.plate].name, m[of].name));
      out.plate = of;
      // The index variables of an observation are others than those of the chain, with the same plates.
      const auto same = std::ranges::find_if(s.index_vars, [&](IndexVarId b) { return m[m[b].plate].set == of; });
      if (same == s.index_vars.end())
        return score_error(
            fmt::format("there is no density of each item: '{}' does not lie on '{}'", m[s.variable].name, m[of].name));
      item = static_cast<std::size_t>(forward.at(o.element)[same->index()]);
    }
    if (out.observations.size() <= item) out.observations.resize(item + 1);
    out.observations[item].push_back(o);
  }
  if (out.plate) out.observations.resize(static_cast<std::size_t>(data_.sizes[out.plate->index()]));
  return out;
}

Result<ItemScores> HeldOut::score_items(const ModelEvaluator& forward, MarginalDensity& marginal,
                                        const Score& score) const {
  const Result<Items> items = by_items(forward);
  if (!items) return items.error();
  ItemScores out;
  if (items->plate) {
    out.plate = model()[*items->plate].name;
    out.labels = data_.labels[items->plate->index()];
  }
  for (const std::vector<Observation>& of_item : items->observations) {
    double count = 0;
    for (const Observation& o : of_item)
      count += o.copies;
    out.observations.push_back(count);
    if (chains_.empty()) out.density.push_back(of_item.empty() ? 0 : marginal.log_density(of_item));
    if (const auto& sum = marginal.too_large()) return sum_too_large(model(), *sum);
  }
  if (!chains_.empty()) out.density = score.sequences;
  const double sum = std::accumulate(out.density.begin(), out.density.end(), 0.0);
  if (out.density.size() == out.observations.size() &&
      std::abs(sum - score.total) <= 1e-9 * (1 + std::abs(score.total)))
    return out;
  return score_error("there is no density of each item: what is summed over belongs to several of them");
}

Result<ItemScores> HeldOut::score_at_temperatures(const ModelEvaluator& forward, MarginalDensity& marginal) const {
  const auto refused = [](const std::string& why) {
    return score_error("there is no score at the learned temperatures: " + why,
                       {"without them the score is that of the model itself, at temperature 1"});
  };
  if (completion_ || !chains_.empty()) return refused("items have chains or continuous variables of their own");
  const Result<Items> items = by_items(forward);
  if (!items) return items.error();
  // Temperatures whose probability would not show are left out.
  std::vector<double> temperatures, log_probabilities;
  for (std::size_t k = 0; k < temperatures_.size(); ++k) {
    if (!(probabilities_[k] > 1e-12)) continue;
    temperatures.push_back(temperatures_[k]);
    log_probabilities.push_back(std::log(probabilities_[k]));
  }
  // The normaliser is that of the model that was fitted, whose compounds have weights.
  const Model& fitted = analysed_.model;
  ModelEvaluator at(fitted, data_);
  for (std::size_t k = 0; k < fitted.variables.size(); ++k) {
    const std::span<const double> from = forward.values(VariableId(k));
    if (!fitted.variables[k].auxiliary) std::ranges::copy(from, at.values(VariableId(k)).begin());
  }
  const TemperedNormaliser normaliser(fitted, analysed_.schedule, data_, temperatures);
  std::string why = normaliser.unsupported_reason();
  if (why.empty()) why = normaliser.unsupported_reason(at, true);
  if (!why.empty()) return refused(why);
  std::vector<std::int64_t> numbers(items->observations.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<std::vector<double>> log_c = normaliser.by_item(at, numbers);
  ItemScores out;
  if (items->plate) {
    out.plate = model()[*items->plate].name;
    out.labels = data_.labels[items->plate->index()];
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::vector<Observation>& of_item = items->observations[i];
    if (std::ranges::any_of(of_item, [](const Observation& o) { return o.copies != 1; }))
      return refused("observations have multiplicities");
    std::vector<double> logs = log_probabilities;
    for (std::size_t k = 0; k < temperatures.size(); ++k) {
      marginal.set_power(1 / temperatures[k]);
      logs[k] += marginal.log_density(of_item) - log_c[i][k];
      if (const auto& sum = marginal.too_large()) return sum_too_large(model(), *sum);
    }
    out.density.push_back(of_item.empty() ? 0 : log_sum_exp(logs));
    out.observations.push_back(static_cast<double>(of_item.size()));
  }
  marginal.set_power(1);
  return out;
}

}  // namespace lehr
