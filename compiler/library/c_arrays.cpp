// Converts results to lists of arrays for C.
#include "compiler/library/c_arrays.h"

#include <cmath>
#include <map>

#include "compiler/fit/many_fits.h"
#include "compiler/posterior/posterior_numbers.h"
#include "compiler/posterior/saved_draws.h"

void lehr_arrays::add(std::string name, std::vector<std::int64_t> shape, std::vector<double> values, bool integer,
                      std::vector<std::string> plates) {
  const std::vector<double>& stored = owned.emplace_back(std::move(values));
  entries.push_back({std::move(name), std::move(shape), stored.data(), integer, std::move(plates)});
}

namespace lehr {

lehr_arrays to_arrays(Predictions made) {
  lehr_arrays out;
  for (PredictedArray& a : made.arrays)
    out.add(std::move(a.name), std::move(a.shape), std::move(a.values), a.integer);
  return out;
}

lehr_arrays to_arrays(HeldOutScore made) {
  lehr_arrays out;
  out.add("total", {}, {made.total});
  out.add("observations", {}, {made.observations}, true);
  const std::int64_t sequences = std::ssize(made.sequences);
  if (sequences > 0) out.add("sequences", {sequences}, std::move(made.sequences));
  const std::int64_t items = std::ssize(made.items);
  if (items > 0) out.add("items", {items}, std::move(made.items));
  if (items > 0) out.add("item_observations", {items}, std::move(made.item_observations));
  return out;
}

Result<lehr_arrays> posterior_arrays(const Fit& fit) {
  lehr_arrays out;
  out.fit = fit.shared();
  for (const NamedArray& a : out.fit->run.posterior)
    out.entries.push_back({a.name, a.shape, a.values.data(), a.integer, {}});
  return out;
}

Result<lehr_arrays> number_arrays(const Fit& fit) {
  SavedFit saved = saved_fit(fit.impl().summary, fit.impl().run.posterior);
  saved.sds = fit.impl().run.sds;
  std::vector<const SavedVariable*> variables;
  for (const SavedVariable& v : saved.variables)
    if (v.members.empty()) variables.push_back(&v);
  Result<PosteriorTable> table =
      posterior_table(saved, variables, [&] { return Result<LabelledArrays>(fit.impl().draws); });
  if (!table) return table.error();
  lehr_arrays out;
  for (VariableSummary& v : table->variables) {
    const auto add = [&](const char* suffix, std::vector<double>& values) {
      out.add(v.variable + suffix, v.shape, std::move(values), false, v.axes);
    };
    add(".mean", v.mean);
    add(".sd", v.sd);
    constexpr std::array kNames{".q5", ".q50", ".q95"};
    static_assert(kNames.size() == kTableProbabilities.size());
    for (std::size_t q = 0; q < kNames.size(); ++q)
      add(kNames[q], v.quantiles[q]);
    if (const NamedArray* a = find_array(saved.sds, v.variable + ".covariance"))
      out.add(a->name, a->shape, a->values, false, {});
  }
  return out;
}

Result<lehr_arrays> table_of(const std::vector<Result<Fit>>& fits) {
  constexpr double kNoFit = 4;  // status of a data set without a fit, behind those of FitStatus
  const std::vector<std::int64_t> shape{std::ssize(fits)};
  const std::vector<double> none(fits.size(), std::nan(""));
  std::vector<double> status(fits.size(), kNoFit), elbo = none, sweeps = none, warnings = none;
  std::vector<std::string> order;  // of the numbers, as they first occur
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> moments;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (!fits[k]) continue;
    const Fit& fit = *fits[k];
    status[k] = static_cast<double>(fit.status());
    elbo[k] = fit.elbo();
    sweeps[k] = static_cast<double>(fit.iterations());
    warnings[k] = static_cast<double>(fit.warnings().size());
    SavedFit saved = saved_fit(fit.impl().summary, fit.impl().run.posterior);
    saved.sds = fit.impl().run.sds;
    for (const PosteriorNumber& x : tabled_numbers(saved)) {
      const auto [column, is_new] = moments.try_emplace(x.name, none, none);
      if (is_new) order.push_back(x.name);
      column->second.first[k] = x.mean;
      column->second.second[k] = x.sd;
    }
  }
  lehr_arrays out;
  out.add("status", shape, std::move(status), true);
  out.add("elbo", shape, std::move(elbo));
  out.add("sweeps", shape, std::move(sweeps));
  out.add("warnings", shape, std::move(warnings));
  for (const std::string& name : order) {
    auto& [mean, sd] = moments.at(name);
    out.add(name + ".mean", shape, std::move(mean));
    out.add(name + ".sd", shape, std::move(sd));
  }
  return out;
}

Result<lehr_arrays> trace_arrays(const Fit& fit) {
  const std::vector<Sweep>& sweeps = fit.trace();
  const auto column = [&](auto member) {
    std::vector<double> out;
    for (const Sweep& s : sweeps)
      out.push_back(static_cast<double>(s.*member));
    return out;
  };
  lehr_arrays out;
  const std::vector<std::int64_t> shape{std::ssize(sweeps)};
  out.add("iteration", shape, column(&Sweep::iteration), true);
  out.add("seconds", shape, fit.impl().seconds);
  out.add("elbo", shape, column(&Sweep::elbo));
  out.add("temperature", shape, column(&Sweep::temperature));
  out.add("objective", shape, column(&Sweep::objective));
  return out;
}

Result<lehr_arrays> drawn_arrays(const Fit& fit, std::int64_t draws, std::uint64_t seed) {
  LabelledArrays all = fit.impl().draws;
  if (all.groups.empty()) {
    const SavedFit saved = saved_fit(fit.impl().summary, fit.impl().run.posterior);
    Result<FactorDraws> drawn = draw_factors(saved, draws, seed);
    if (!drawn) return without_option_prefix(drawn.error());
    all = std::move(drawn->arrays);
  }
  lehr_arrays out;
  for (ArrayGroup& g : all.groups) {
    if (g.name != "posterior") continue;
    for (LabelledArray& a : g.arrays)
      out.add(std::move(a.name), std::move(a.shape), std::move(a.values), a.integer, std::move(a.axes));
  }
  return out;
}

}  // namespace lehr
