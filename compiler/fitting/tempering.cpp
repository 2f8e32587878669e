#include "compiler/fitting/tempering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/fitting/moments.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

namespace {

Error not_tempered(const std::string& why) {
  return {ExitCode::model,
          "--temper",
          fmt::format("this model cannot be tempered: {}", why),
          {"--anneal weights the data of every model by a temperature that falls by a schedule"}};
}

}  // namespace

Tempering::Factors Tempering::factors() const {
  const std::map<std::string, SavedVariable> saved = by_variable(instance_->posterior(true));
  Forward f(*model_, *data_);
  TemperedNormaliser::Concentrations concentrations(model_->variables.size());
  for (std::size_t k = 0; k < model_->variables.size(); ++k) {
    const model::Variable& v = model_->variables[k];
    if (v.observed || v.auxiliary || is_discrete(v.support) || !saved.contains(v.name)) continue;
    const SavedVariable& factor = saved.at(v.name);
    const math::FamilyRow& family = *schedule_->conditionals[schedule_->conditionals.block_of[k]].family;
    if (const NamedArray* c = pseudo_counts(family, factor)) concentrations[k] = c->values;
    const auto mean = moments(family, factor, nullptr);
    const std::span<double> to = f.values(model::VariableId(k));
    if (mean && mean->mean.size() == to.size()) std::ranges::copy(mean->mean, to.begin());
  }
  return {std::move(f), std::move(concentrations)};
}

bool Tempering::is_constant(const std::vector<double>& temperatures, const model::Model& model,
                            const schedule::Schedule& schedule, const BoundData& data, Factors& q, std::uint64_t seed) {
  const TemperedNormaliser some(model, schedule, data, temperatures);
  const std::vector<double> log_c = some.at(q.values, {}, q.concentrations);
  const TemperedNormaliser::Estimate e = some.under_prior(2, seed);
  for (std::size_t k = 0; k < log_c.size(); ++k) {
    if (std::abs(e.log_c[k] - log_c[k]) > 1e-9 * (1 + std::abs(log_c[k])) || e.error[k] > 1e-9) return false;
  }
  return true;
}

Result<Tempering> Tempering::make(const TemperSettings& s, const model::Model& model,
                                  const schedule::Schedule& schedule, const BoundData& data, const Instance& instance,
                                  std::uint64_t seed) {
  Tempering out;
  for (std::int64_t m = 0; m < s.levels; ++m)
    out.temperatures.push_back(std::pow(s.hottest, static_cast<double>(m) / static_cast<double>(s.levels - 1)));
  out.compute_ = std::make_shared<TemperedNormaliser>(model, schedule, data, out.temperatures);
  out.model_ = &model;
  out.schedule_ = &schedule;
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
  Factors q = out.factors();
  const bool exact =
      s.normaliser == NormaliserKind::automatic &&
      is_constant({out.temperatures.front(), out.temperatures[out.temperatures.size() / 2], out.temperatures.back()},
                  model, schedule, data, q, seed);
  out.normaliser = exact ? "exact" : "posterior";
  out.log_c =
      exact ? out.compute_->at(q.values, {}, q.concentrations) : out.compute_->near(q.values, {}, q.concentrations);
  if (out.normaliser == "posterior") out.every_ = s.every.value_or(10);
  return out;
}

Grid Tempering::grid() const {
  Grid out{temperatures, every_, {}, normaliser != "posterior"};
  if (out.constant) {
    out.log_normaliser = [log_c = log_c](std::span<const std::int64_t>) { return log_c; };
  } else {
    out.log_normaliser = [t = *this](std::span<const std::int64_t> items) {
      Factors q = t.factors();
      return t.compute_->near(q.values, items, q.concentrations);
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
