// Computes statistics of observed columns, and of the same columns in data sets simulated from the factors. Values that
// are missing in the data are left out of the simulated columns, too.
#include "compiler/diagnose/predictive_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "compiler/evaluate/draw_values.h"
#include "compiler/evaluate/ill_scaled_columns.h"
#include "compiler/evaluate/observation.h"
#include "compiler/posterior/factor_sampler.h"

namespace lehr {
namespace {

using namespace model;

/// Arrays with more columns are compared as a whole.
constexpr std::size_t kMaxColumns = 20;

/// A statistic of a list of numbers.
struct Statistic {
  const char* name;  // as printed
  double (*of)(const std::vector<double>&);
};

/// Returns the mean.
double mean(const std::vector<double>& x) { return column_moments(x, 1).mean[0]; }
/// Returns the standard deviation.
double sd(const std::vector<double>& x) { return column_moments(x, 1).sd[0]; }
/// Returns the smallest number.
double least(const std::vector<double>& x) { return *std::ranges::min_element(x); }
/// Returns the largest number.
double largest(const std::vector<double>& x) { return *std::ranges::max_element(x); }
/// Returns the fraction of zeros.
double zeros(const std::vector<double>& x) {
  return static_cast<double>(std::ranges::count(x, 0.0)) / static_cast<double>(x.size());
}
/// Returns the fraction of the most frequent value.
double commonest(const std::vector<double>& x) {
  std::map<double, double> count;
  for (const double v : x)
    count[v] += 1;
  return std::ranges::max_element(count, {}, [](const auto& c) { return c.second; })->second /
         static_cast<double>(x.size());
}

/// Returns the statistics that suit the values of a variable.
std::vector<Statistic> statistics_of(const Variable& v) {
  if (v.support == math::Support::category) return {{"commonest", commonest}};
  if (v.support == math::Support::bit) return {{"mean", mean}};
  std::vector<Statistic> out{{"mean", mean}, {"sd", sd}, {"min", least}, {"max", largest}};
  if (v.support == math::Support::count || v.support == math::Support::counts) out.push_back({"zeros", zeros});
  return out;
}

/// Returns the values of column `k` that are observed in `data`, with the reference `from` added back.
std::vector<double> column(std::span<const double> x, const std::vector<double>& data, std::size_t k,
                           std::size_t columns, const std::vector<double>* from) {
  std::vector<double> out;
  for (std::size_t i = k; i < x.size(); i += columns)
    if (!std::isnan(data[i])) out.push_back(x[i] + (from ? (*from)[i % from->size()] : 0));
  return out;
}

/// One statistic of one column, and its values for replicated data.
struct CheckedStatistic {
  VariableId variable;             // the observed variable
  std::size_t column, columns;     // which column of how many
  Statistic statistic;             // that is computed
  std::string name;                // of the column
  double observed = 0;             // its value for the data
  std::vector<double> replicated;  // its values for the simulated data
};

/// Lists the statistics of all observed variables.
std::vector<CheckedStatistic> statistics_to_check(const RestoredFit& s) {
  std::vector<CheckedStatistic> out;
  const Model& m = s.model();
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    if (!v.observed || v.auxiliary || v.event.size() > 1) continue;
    std::size_t columns = data_columns(m, s.data(), v.axes, v.event);
    if (columns > kMaxColumns || is_discrete(v.support)) columns = 1;
    const std::vector<double>& data = s.data().observed[k].values;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::vector<double> x =
          column(data, data, c, columns, centring_offset_of(s.bound->references, VariableId(k)));
      if (x.empty()) continue;
      const std::string name = columns == 1 ? v.name : fmt::format("{}[{}]", v.name, c);
      for (const Statistic& of : statistics_of(v))
        out.push_back({VariableId(k), c, columns, of, name, of.of(x), {}});
    }
  }
  return out;
}

/// Compares the observed value of a statistic with the replicated ones.
PredictiveCheck summed_up(const CheckedStatistic& a) {
  PredictiveCheck out{a.name, a.statistic.name, a.observed, mean(a.replicated), sd(a.replicated), 0};
  for (const double x : a.replicated)
    out.p += x > a.observed ? 1 : x == a.observed ? 0.5 : 0;
  out.p /= static_cast<double>(a.replicated.size());
  return out;
}

}  // namespace

PredictiveChecks predictive_checks(const RestoredFit& s, std::int64_t draws, std::uint64_t seed) {
  PredictiveChecks out;
  const Model& m = s.model();
  out.why = plan_predictive(s.analysed(), s.data(), std::numeric_limits<std::int64_t>::max()).why;
  if (!out.why.empty()) return out;
  const std::vector<bool> added = added_to_observations(m);
  std::vector<bool> latent;
  ModelEvaluator forward(m, s.data());
  std::vector<std::vector<bool>> all;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    latent.push_back(model::is_latent(m.variables[k]) && !added[k]);
    all.emplace_back(m.variables[k].auxiliary ? 0 : forward.elements(VariableId(k)), true);
  }
  const Symbolic symbolic(forward);
  PosteriorMoments posterior_moments(s.analysed(), s.variables, all, symbolic);
  const Result<FactorSampler> factors = FactorSampler::make(s.analysed(), s.variables, latent, posterior_moments);
  if (!factors) {
    out.why = factors.error().text;
    return out;
  }
  std::vector<CheckedStatistic> checked = statistics_to_check(s);
  Rng rng(seed, 1);
  for (std::int64_t d = 0; d < draws; ++d) {
    factors->draw(all, forward, rng);
    for (std::size_t k = 0; k < m.variables.size(); ++k)
      if (added[k] || (m.variables[k].observed && !m.variables[k].auxiliary))
        std::ranges::fill(forward.values(VariableId(k)), std::nan(""));
    if (const std::optional<Error> e = draw_values(forward, rng)) {
      out.why = e->text;
      return out;
    }
    for (CheckedStatistic& a : checked) {
      const std::size_t k = a.variable.index();
      a.replicated.push_back(
          a.statistic.of(column(std::as_const(forward).values(a.variable), s.data().observed[k].values, a.column,
                                a.columns, centring_offset_of(s.bound->references, a.variable))));
    }
  }
  for (const CheckedStatistic& a : checked)
    out.checks.push_back(summed_up(a));
  return out;
}

}  // namespace lehr
