// Fills in the table from factors, or from stored draws for sampled variables. The stored draws are loaded when the
// first sampled variable is met.
#include "compiler/posterior/posterior_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/posterior/element_names.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/saved_draws.h"
#include "runtime/output/fit_files.h"

namespace lehr {
namespace {

/// Stands for a number that does not exist.
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Returns the values, or NaN for each if their number is wrong.
std::vector<double> or_none(std::vector<double> values, std::size_t count) {
  if (values.size() != count) values.assign(count, kNone);
  return values;
}

/// Returns the numbers of a variable from its factor, or nullopt if it has none.
std::optional<VariableSummary> of_factor(const SavedFit& fit, const SavedVariable& v) {
  if (v.parameters.empty()) return std::nullopt;
  std::optional<Moments> m = moments_of(fit, v);
  if (!m) return std::nullopt;
  VariableSummary out{v.name, stored_axes(fit, v.axes, m->elements.size()), m->elements, {}, {}, {}};
  for (const std::string& plate : stored_axes(fit, v.event, m->event.size()))
    out.axes.push_back(plate);
  out.shape.insert(out.shape.end(), m->event.begin(), m->event.end());
  out.mean = std::move(m->mean);
  out.sd = or_none(std::move(m->sd), out.mean.size());
  for (std::size_t q = 0; q < kTableProbabilities.size(); ++q)
    out.quantiles[q] = or_none(quantiles_of(fit, v, kTableProbabilities[q]), out.mean.size());
  return out;
}

/// Returns a quantile of sorted draws, interpolated linearly between neighbours (Hyndman & Fan 1996, type 7).
double quantile(const std::vector<double>& sorted, double probability) {
  const double at = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double here = sorted[below], next = sorted[std::min(below + 1, sorted.size() - 1)];
  return here + (at - static_cast<double>(below)) * (next - here);
}

/// Reads the draws of single numbers from an array over the axes of draws and then of the variable.
class ScalarDraws {
 public:
  ScalarDraws(const LabelledArray& a, std::size_t width) : values_(a.values), width_(width) {}
  /// Returns the number of draws of all chains.
  std::size_t count() const { return values_.size() / width_; }
  /// Returns all draws of one number.
  std::vector<double> of(std::size_t number) const {
    std::vector<double> out;
    for (std::size_t at = number; at < values_.size(); at += width_)
      out.push_back(values_[at]);
    return out;
  }

 private:
  const std::vector<double>& values_;
  std::size_t width_;
};

/// Fills in the quantiles of all numbers.
void add_quantiles(const ScalarDraws& draws, VariableSummary& to) {
  for (std::size_t i = 0; i < to.mean.size(); ++i) {
    std::vector<double> sorted = draws.of(i);
    std::ranges::sort(sorted);
    for (std::size_t q = 0; q < kTableProbabilities.size(); ++q)
      to.quantiles[q][i] = quantile(sorted, kTableProbabilities[q]);
  }
}

/// Replaces means of a category's positions by the relative frequencies of its values, along a new last axis.
void make_frequencies(const ScalarDraws& draws, const std::string& plate, std::size_t classes, VariableSummary& to) {
  std::vector<double> frequencies(to.mean.size() * classes, 0.0);
  for (std::size_t i = 0; i < to.mean.size(); ++i) {
    for (const double x : draws.of(i))
      if (x >= 0 && x < static_cast<double>(classes)) frequencies[i * classes + static_cast<std::size_t>(x)] += 1;
  }
  for (double& x : frequencies)
    x /= static_cast<double>(draws.count());
  to.axes.push_back(plate);
  to.shape.push_back(static_cast<std::int64_t>(classes));
  to.mean = std::move(frequencies);
  to.sd.assign(to.mean.size(), kNone);
  to.quantiles.fill(to.sd);
}

/// Returns the numbers of a sampled variable.
Result<VariableSummary> of_draws(const SavedFit& fit, const SavedVariable& v, const LabelledArrays& stored) {
  const NamedArray *mean = v.find(kDrawnMean), *sd = v.find(kDrawnSd);
  const Error no_draws{ExitCode::data, fit.directory, fmt::format("{} has no draws of '{}'", kDrawsFile, v.name), {}};
  const ArrayGroup* group = find_group(stored, "posterior");
  if (!mean || !sd || sd->values.size() != mean->values.size() || !group) return no_draws;
  VariableSummary out{v.name, plates_of(fit, v, mean->shape), mean->shape, mean->values, sd->values, {}};
  out.quantiles.fill(std::vector<double>(out.mean.size(), kNone));
  if (out.mean.empty()) return out;
  const auto found = std::ranges::find(group->arrays, v.name, &LabelledArray::name);
  if (found == group->arrays.end() || found->values.empty() || found->values.size() % out.mean.size() != 0)
    return no_draws;
  const ScalarDraws draws(*found, out.mean.size());
  const math::FamilyRow* row = math::find_factor_family(v.family);
  const auto classes = v.event.empty() ? fit.sizes.end() : fit.sizes.find(v.event.back());
  if (row && row->support == math::Support::category && classes != fit.sizes.end())
    make_frequencies(draws, classes->first, static_cast<std::size_t>(classes->second), out);
  else add_quantiles(draws, out);
  return out;
}

}  // namespace

Result<PosteriorTable> posterior_table(const SavedFit& fit, const std::vector<const SavedVariable*>& variables,
                                       const DrawsSource& draws) {
  PosteriorTable out;
  std::optional<LabelledArrays> stored;
  for (const SavedVariable* v : variables) {
    if (!v->find(kDrawnRHat)) {
      std::optional<VariableSummary> summary = of_factor(fit, *v);
      if (summary) out.variables.push_back(std::move(*summary));
      else out.without.push_back(v->name);
      continue;
    }
    if (!stored) {
      Result<LabelledArrays> read = draws();
      if (!read) return read.error();
      stored = std::move(*read);
    }
    Result<VariableSummary> summary = of_draws(fit, *v, *stored);
    if (!summary) return summary.error();
    out.variables.push_back(std::move(*summary));
  }
  return out;
}

}  // namespace lehr
