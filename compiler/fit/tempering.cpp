// Chooses how log C(T) is computed. If it is the same for every value of the latent variables, it is computed once.
// Otherwise it is computed by Monte Carlo over the prior, or at the current factors at every update.
#include "compiler/fit/tempering.h"

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
    if (mean && mean->mean.size() == to.size()) std::ranges::copy(mean->mean, to.begin());
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
    if (std::abs(e.log_c[k] - log_c[k]) > 1e-9 * (1 + std::abs(log_c[k])) || e.error[k] > 1e-9) return false;
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
  if (s.normaliser == NormaliserKind::prior) {
    TemperedNormaliser::Estimate e = out.compute_->under_prior(static_cast<std::size_t>(s.draws), context.seed);
    r.normaliser = "prior";
    r.log_c = std::move(e.log_c);
    r.error = std::move(e.error);
    return out;
  }
  const bool exact = s.normaliser == NormaliserKind::automatic && out.is_constant(q);
  r.normaliser = exact ? "exact" : "posterior";
  r.log_c = exact ? out.compute_->at(q.values, {}, q.concentrations)
                  : out.compute_->interpolated_at(q.values, {}, q.concentrations);
  if (!exact) out.every_ = s.every.value_or(10);
  return out;
}

Grid Tempering::grid() const {
  Grid out{report_.temperatures, every_, {}, report_.normaliser != "posterior"};
  if (out.constant) {
    out.log_normaliser = [log_c = report_.log_c](std::span<const std::int64_t>) { return log_c; };
  } else {
    out.log_normaliser = [t = *this](std::span<const std::int64_t> items) {
      Factors q = t.factors();
      return t.compute_->interpolated_at(q.values, items, q.concentrations);
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
