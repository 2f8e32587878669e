// Chooses how log C(T) is computed. If it is the same for every value of the latent variables, it is computed once.
// Otherwise it is computed by Monte Carlo over the prior, or at the current factors at every update.
#include "compiler/fit/methods/tempering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/posterior/moments.h"
#include "runtime/output/saved_fit.h"

namespace lehr {
namespace {

/// Returns the error for a model that cannot be tempered.
Error not_tempered(const std::string& why) {
  return {ExitCode::model,
          option("temper"),
          fmt::format("this model cannot be tempered: {}", why),
          {option("anneal") + " weights the data of every model by a temperature that falls by a schedule"}};
}

/// Returns exp(E[log x]) of one element of a positive number, which exists for factors without a mean; NaN where the
/// family has no such statistic.
double geometric_mean(const math::FamilyRow& family, const SavedVariable& v, std::size_t element) {
  math::Environment parameters;
  for (const math::FactorParameter& p : family.factor->parameters) {
    const NamedArray* a = p.exported ? v.find(p.name) : nullptr;
    if (a && p.event_rank == 0 && element < a->values.size()) parameters.symbols[p.name] = {0, {a->values[element]}};
  }
  const auto log = std::ranges::find(family.factor->statistics, math::Stat::log, &math::StatisticRow::stat);
  return log == family.factor->statistics.end() ? std::nan("") : std::exp(math::evaluate(log->expectation, parameters));
}

}  // namespace

Tempering::Factors Tempering::factors() const {
  const model::Model& m = context_.analysed.model;
  const conditionals::Conditionals& c = context_.analysed.schedule.conditionals;
  const std::map<std::string, SavedVariable> saved =
      by_variable(context_.instance.posterior(true, LocationOrigin::reference));
  ModelEvaluator f(m, context_.data);
  TemperedNormaliser::Concentrations concentrations(m.variables.size());
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (v.observed || v.auxiliary || is_discrete(v.support) || !saved.contains(v.name)) continue;
    const SavedVariable& factor = saved.at(v.name);
    const math::FamilyRow& family = conditionals::family_of(m, c, model::VariableId(k));
    if (const NamedArray* counts = pseudo_counts(family, factor)) concentrations[k] = counts->values;
    const auto mean = moments(family, factor, nullptr);
    const std::span<double> to = f.values(model::VariableId(k));
    for (std::size_t i = 0; mean && mean->mean.size() == to.size() && i < to.size(); ++i)
      to[i] = std::isfinite(mean->mean[i]) ? mean->mean[i] : geometric_mean(family, factor, i);
    const std::vector<double>& observed = context_.data.observed[k].values;
    for (std::size_t i = 0; v.clamped && i < observed.size(); ++i)
      if (!std::isnan(observed[i])) to[i] = observed[i];
  }
  return {std::move(f), std::move(concentrations)};
}

bool Tempering::is_constant(Factors& q) const {
  const std::vector<double>& t = report_.temperatures;
  const TemperedNormaliser some(context_.analysed.model, context_.analysed.schedule, context_.data,
                                {t.front(), t[t.size() / 2], t.back()});
  const std::vector<double> log_c = some.at(q.values, {}, q.concentrations);
  const TemperedNormaliser::Estimate e = some.under_prior(2, context_.seed);
  for (std::size_t k = 0; k < log_c.size(); ++k) {
    const bool equal = std::abs(e.log_c[k] - log_c[k]) <= 1e-9 * (1 + std::abs(log_c[k])) && e.error[k] <= 1e-9;
    if (!equal) return false;  // also where a prior cannot be drawn from
  }
  return true;
}

Result<Tempering> Tempering::make(const TemperSettings& s, const RunContext& context) {
  Tempering out(context);
  TemperingReport& r = out.report_;
  for (std::int64_t m = 0; m < s.levels; ++m) {
    const double part = static_cast<double>(m) / static_cast<double>(s.levels - 1);
    r.temperatures.push_back(s.even_inverse ? 1 / (1 + part * (1 / s.max_temperature - 1))
                                            : std::pow(s.max_temperature, part));
  }
  out.compute_ = std::make_shared<TemperedNormaliser>(context.analysed.model, context.analysed.schedule, context.data,
                                                      r.temperatures);
  r.local = s.local;
  out.every_ = s.every.value_or(1);
  if (const std::string why = out.compute_->unsupported_reason(); !why.empty()) return not_tempered(why);
  Factors q = out.factors();
  if (const std::string why = out.compute_->unsupported_reason(q.values, s.local); !why.empty())
    return not_tempered(why);
  const bool prior = s.normaliser == NormaliserKind::prior;
  const bool exact = s.normaliser == NormaliserKind::automatic && out.is_constant(q);
  r.normaliser = prior ? "prior" : exact ? "exact" : "posterior";
  TemperedNormaliser::Estimate e = prior ? out.compute_->under_prior(static_cast<std::size_t>(s.draws), context.seed)
                                         : out.compute_->interpolated_at(q.values, {}, q.concentrations);
  r.log_c = std::move(e.log_c);
  r.error = std::move(e.error);
  if (r.normaliser == "posterior") out.every_ = s.every.value_or(10);
  if (std::ranges::any_of(r.log_c, [](double x) { return std::isnan(x); }))
    return not_tempered(prior ? "its normaliser under the prior is not a number"
                              : "its normaliser at the start is not a number");
  return out;
}

Grid Tempering::grid() const {
  Grid out{report_.temperatures, every_, {}, report_.normaliser != "posterior"};
  if (out.constant) {
    out.log_normaliser = [log_c = report_.log_c](std::span<const std::int64_t>) { return log_c; };
  } else {
    out.log_normaliser = [t = *this](std::span<const std::int64_t> items) {
      Factors q = t.factors();
      return t.compute_->interpolated_at(q.values, items, q.concentrations).log_c;
    };
  }
  return out;
}

ItemTemperatureGrid Tempering::items() const {
  return {report_.temperatures,
          [t = *this](std::span<const std::int64_t> items) {
            Factors q = t.factors();
            return t.compute_->by_item(q.values, items, q.concentrations);
          },
          compute_->copies()};
}

}  // namespace lehr
