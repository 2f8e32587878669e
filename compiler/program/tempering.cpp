#include "compiler/program/tempering.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "runtime/output/moments.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

void set_posterior_means(Forward& f, const Instance& instance) {
  const std::map<std::string, SavedVariable> saved = by_variable(instance.posterior(true));
  const model::Model& m = f.model();
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (v.observed || v.auxiliary || is_discrete(v.support) || !saved.contains(v.name)) continue;
    const auto mean = moments(saved.at(v.name), nullptr);
    const std::span<double> to = f.values(model::VariableId(k));
    if (mean && mean->mean.size() == to.size()) std::ranges::copy(mean->mean, to.begin());
  }
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
  out.every_ = s.every;
  if (const std::string why = out.compute_->refusal(); !why.empty()) {
    return Error{ExitCode::model,
                 "--temper",
                 fmt::format("this model cannot be tempered: {}", why),
                 {"--anneal weights the data of every model by a temperature that falls by a schedule"}};
  }
  if (s.normaliser == NormaliserKind::prior) {
    TemperedNormaliser::Estimate e = out.compute_->under_prior(static_cast<std::size_t>(s.draws), seed);
    out.normaliser = "prior";
    out.log_c = std::move(e.log_c);
    out.error = std::move(e.error);
    return out;
  }
  Forward f(model, data);
  set_posterior_means(f, instance);
  out.log_c = out.compute_->at(f);
  out.normaliser = "posterior";
  if (s.normaliser == NormaliserKind::automatic) {
    // It depends on nothing that is inferred when draws from the prior agree with the posterior means.
    const TemperedNormaliser::Estimate e = out.compute_->under_prior(2, seed);
    bool same = true;
    for (std::size_t m = 0; m < out.log_c.size(); ++m)
      same = same && std::abs(e.log_c[m] - out.log_c[m]) <= 1e-9 * (1 + std::abs(out.log_c[m])) &&
             e.error[m] <= 1e-9;
    if (same) out.normaliser = "exact";
  }
  return out;
}

Grid Tempering::grid() const {
  Grid out{temperatures, every_, {}, normaliser != "posterior"};
  if (out.constant) {
    out.log_normaliser = [log_c = log_c](std::span<const std::int64_t>) { return log_c; };
  } else {
    out.log_normaliser = [compute = compute_, model = model_, data = data_,
                          instance = instance_](std::span<const std::int64_t> items) {
      Forward f(*model, *data);
      set_posterior_means(f, *instance);
      return compute->at(f, items);
    };
  }
  return out;
}

TemperOptions Tempering::options(const CaviOptions& options) const { return {options, grid()}; }

}  // namespace lehr
