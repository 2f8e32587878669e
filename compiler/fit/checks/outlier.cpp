// Compares each value's distance from the median of its column with the median of all distances, which outliers leave
// as it is.
#include "compiler/fit/checks/outlier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/ill_scaled_columns.h"
#include "compiler/fit/checks/cancellation.h"

namespace lehr {
namespace {

constexpr double kOutlying = 1e4;  // times the median distance from the median

/// Returns the median, or NaN without values.
double median(std::vector<double> x) {
  if (x.empty()) return std::nan("");
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::ranges::nth_element(x, middle);
  return *middle;
}

/// A value that is far from the others.
struct Outlier {
  double times = kOutlying;  // its distance in median distances
  std::string name;          // "x[30, 0]"; empty: there is none
};

/// Replaces `worst` by the value of an array that is farther from its column.
void look(const model::Model& m, const BoundData& data, const model::Variable& v, const std::vector<double>& x,
          Outlier& worst) {
  const std::size_t columns = data_columns(m, data, v.axes, v.event);
  std::vector<std::int64_t> shape;
  for (const auto* axes : {&v.axes, &v.event})
    for (const model::PlateId p : *axes)
      shape.push_back(data.sizes[p.index()]);
  const bool is_nested = std::ranges::any_of(v.axes, [&](model::PlateId p) { return m[m[p].set].parent.has_value(); });
  if (is_nested) shape = {static_cast<std::int64_t>(x.size())};
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> column, distances;
    for (std::size_t i = c; i < x.size(); i += columns)
      if (!std::isnan(x[i])) column.push_back(x[i]);
    const double centre = median(column);
    for (const double value : column)
      distances.push_back(std::abs(value - centre));
    const double usual = median(std::move(distances));
    for (std::size_t i = c; usual > 0 && i < x.size(); i += columns) {
      const double times = std::abs(x[i] - centre) / usual;
      if (times > worst.times) worst = {times, v.name + subscripts(shape, i)};
    }
  }
}

}  // namespace

std::string outlier_clause(const model::Model& m, const BoundData& data) {
  Outlier worst;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (v.observed && (v.support == math::Support::real || v.support == math::Support::vector))
      look(m, data, v, data.observed[k].values, worst);
  }
  if (worst.name.empty()) return "";
  return fmt::format("; {} lies {:.1g} times as far from the median as half of the values", worst.name, worst.times);
}

}  // namespace lehr
