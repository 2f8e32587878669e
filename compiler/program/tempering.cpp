#include "compiler/program/tempering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/schedule/temper_items.h"
#include "runtime/output/moments.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

namespace {

Error not_tempered(const std::string& why) {
  return {ExitCode::model,
          "--temper",
          fmt::format("this model cannot be tempered: {}", why),
          {"--anneal weights the data of every model by a temperature that falls by a schedule"}};
}

}  // namespace

Result<model::GivenId> temper_items(model::Model& model, schedule::Schedule& schedule, BoundData& data) {
  auto items = schedule::temper_items(model, schedule.conditionals, schedule.tempered);
  if (const auto* why = std::get_if<std::string>(&items)) return not_tempered(*why);
  auto& tempered = std::get<schedule::TemperedItems>(items);
  model = std::move(tempered.model);
  schedule = plan(model, std::move(tempered.conditionals));
  data.givens.push_back(
      {std::vector<double>(static_cast<std::size_t>(std::max<std::int64_t>(0, data.sizes[tempered.item.index()])), 1.0)});
  return tempered.inverse;
}

Tempering::Factors Tempering::factors() const {
  const std::map<std::string, SavedVariable> saved = by_variable(instance_->posterior(true));
  Forward f(*model_, *data_);
  TemperedNormaliser::Concentrations concentrations(model_->variables.size());
  for (std::size_t k = 0; k < model_->variables.size(); ++k) {
    const model::Variable& v = model_->variables[k];
    if (v.observed || v.auxiliary || is_discrete(v.support) || !saved.contains(v.name)) continue;
    const SavedVariable& factor = saved.at(v.name);
    if (const NpyArray* c = factor.find("concentration")) concentrations[k] = c->values;
    const auto mean = moments(factor, nullptr);
    const std::span<double> to = f.values(model::VariableId(k));
    if (mean && mean->mean.size() == to.size()) std::ranges::copy(mean->mean, to.begin());
  }
  return {std::move(f), std::move(concentrations)};
}

std::vector<double> Tempering::under_posterior(std::span<const std::int64_t> items) const {
  Factors q = factors();
  return compute_->at(q.values, items, q.concentrations);
}

Result<Tempering> Tempering::make(const TemperSettings& s, const model::Model& model,
                                  const schedule::Schedule& schedule, const BoundData& data,
                                  const Instance& instance, std::uint64_t seed) {
  Tempering out;
  for (std::int64_t m = 0; m < s.levels; ++m)
    out.temperatures.push_back(
        std::pow(s.hottest, static_cast<double>(m) / static_cast<double>(s.levels - 1)));
  out.compute_ = std::make_shared<TemperedNormaliser>(model, schedule, data, out.temperatures);
  out.model_ = &model;
  out.data_ = &data;
  out.instance_ = &instance;
  out.local = s.local;
  out.every_ = s.every.value_or(1);
  if (const std::string why = out.compute_->refusal(); !why.empty()) return not_tempered(why);
  if (s.normaliser == NormaliserKind::prior) {
    TemperedNormaliser::Estimate e = out.compute_->under_prior(static_cast<std::size_t>(s.draws), seed);
    out.normaliser = "prior";
    out.log_c = std::move(e.log_c);
    out.error = std::move(e.error);
    return out;
  }
  out.log_c = out.under_posterior({});
  out.normaliser = "posterior";
  if (s.normaliser == NormaliserKind::automatic) {
    // It depends on nothing that is inferred when draws from the prior agree with the factors.
    const TemperedNormaliser::Estimate e = out.compute_->under_prior(2, seed);
    bool same = true;
    for (std::size_t m = 0; m < out.log_c.size(); ++m)
      same = same && std::abs(e.log_c[m] - out.log_c[m]) <= 1e-9 * (1 + std::abs(out.log_c[m])) &&
             e.error[m] <= 1e-9;
    if (same) out.normaliser = "exact";
  }
  if (out.normaliser == "posterior") out.every_ = s.every.value_or(10);
  return out;
}

Grid Tempering::grid() const {
  Grid out{temperatures, every_, {}, normaliser != "posterior"};
  if (out.constant) {
    out.log_normaliser = [log_c = log_c](std::span<const std::int64_t>) { return log_c; };
  } else {
    out.log_normaliser = [t = *this](std::span<const std::int64_t> items) {
      return t.under_posterior(items);
    };
  }
  return out;
}

ItemGrid Tempering::items() const {
  return {temperatures, [t = *this](std::span<const std::int64_t> items) {
            Factors q = t.factors();
            return t.compute_->by_item(q.values, items, q.concentrations);
          }};
}

TemperOptions Tempering::options(const CaviOptions& options) const { return {options, grid()}; }

}  // namespace lehr
