// Moments of columns by stable updates, and the check of each column.
#include "compiler/evaluate/ill_scaled_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lehr {
namespace {

using namespace model;

/// Appends the ill-scaled columns of one array.
void add(const Model& m, const BoundData& data, const std::string& name, const std::vector<PlateId>& axes,
         const std::vector<PlateId>& event, const std::vector<double>& values, std::vector<IllScaledColumn>& to) {
  const std::size_t columns = data_columns(m, data, axes, event);
  const ColumnMoments moments = column_moments(values, columns);
  for (std::size_t k = 0; k < columns; ++k) {
    if (!(std::abs(moments.mean[k]) > kIllScaledRatio * moments.sd[k]) || !(moments.sd[k] > 0)) continue;
    to.push_back({columns == 1 ? name : fmt::format("{}[{}]", name, k), moments.mean[k], moments.sd[k]});
  }
}

}  // namespace

void RunningMoments::add(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    Column& c = columns_[i % columns_.size()];
    // Welford (1962): squares about the running mean.
    c.count += 1;
    const double step = values[i] - c.mean;
    c.mean += step / c.count;
    c.squares += step * (values[i] - c.mean);
  }
}

void RunningMoments::add(const RunningMoments& more) {
  const auto has_some = [](const Column& c) { return c.count > 0; };
  if (std::ranges::none_of(more.columns_, has_some)) return;
  if (std::ranges::none_of(columns_, has_some)) {
    *this = more;
    return;
  }
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    Column& c = columns_[k];
    const Column& m = more.columns_[k];
    if (m.count == 0) continue;
    // Chan, Golub & LeVeque (1983): moments of the union.
    const double count = c.count + m.count, step = m.mean - c.mean;
    c.squares += m.squares + step * step * (c.count * m.count / count);
    c.mean += step * (m.count / count);
    c.count = count;
  }
}

ColumnMoments RunningMoments::moments() const {
  ColumnMoments out;
  for (const Column& c : columns_) {
    out.mean.push_back(c.mean);
    out.sd.push_back(c.count > 1 ? std::sqrt(c.squares / (c.count - 1)) : 0);
  }
  return out;
}

ColumnMoments column_moments(const std::vector<double>& values, std::size_t columns) {
  RunningMoments out(columns);
  out.add(values);
  return out.moments();
}

std::size_t data_columns(const Model& m, const BoundData& data, const std::vector<PlateId>& axes,
                         const std::vector<PlateId>& event) {
  const bool along_plate = event.empty() && axes.size() > 1 && !m[axes.back()].parent && !m[axes.back()].ordered;
  if (event.size() != 1 && !along_plate) return 1;
  const PlateId last = event.empty() ? axes.back() : event[0];
  return static_cast<std::size_t>(data.sizes[m[last].set.index()]);
}

std::vector<IllScaledColumn> ill_scaled_columns(const Model& m, const BoundData& data) {
  std::vector<IllScaledColumn> out;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const bool real = v.support == math::Support::real || v.support == math::Support::vector;
    if (v.observed && real) add(m, data, v.name, v.axes, v.event, data.observed[k].values, out);
  }
  for (std::size_t k = 0; k < m.givens.size(); ++k) {
    const Given& g = m.givens[k];
    if ((g.type == GivenType::real || g.type == GivenType::vector) && !g.constant)
      add(m, data, g.name, g.axes, g.event, data.givens[k].values, out);
  }
  return out;
}

std::string describe(const IllScaledColumn& c) {
  // The advice has as many digits as the standard deviation resolves.
  const double digits = std::pow(10, std::floor(std::log10(c.sd)));
  return fmt::format("'{}' lies at {:.3g} with a standard deviation of {:.3g}: subtract {} from it", c.name, c.mean,
                     c.sd, std::round(c.mean / digits) * digits);
}

}  // namespace lehr
