// The table of data: moments in one pass over each array by Welford's algorithm.
#include "compiler/report/data_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/report/page.h"

namespace lehr::report {
namespace {

/// Summary of the numbers in an array.
struct ArraySummary {
  std::size_t present = 0, missing = 0;  // counts
  double mean = 0, square = 0;           // mean, and sum of squared deviations from it
  double low = std::numeric_limits<double>::infinity(), high = -low;
  /// Returns the sample standard deviation; NaN for less than two numbers.
  double sd() const { return present > 1 ? std::sqrt(square / static_cast<double>(present - 1)) : std::nan(""); }
};

/// Summarises an array; NaN is a missing value.
ArraySummary summarise_array(const std::vector<double>& values) {
  ArraySummary out;
  for (const double x : values) {
    if (std::isnan(x)) {
      ++out.missing;
      continue;
    }
    ++out.present;
    const double away = x - out.mean;
    out.mean += away / static_cast<double>(out.present);
    out.square += away * (x - out.mean);
    out.low = std::min(out.low, x);
    out.high = std::max(out.high, x);
  }
  return out;
}

/// Collects the rows of the table.
class SummaryTable {
 public:
  SummaryTable(const model::Model& m, const BoundData& data) : m_(m), data_(data) {}

  /// Adds the row of an array. `values` is the plate of which the numbers are elements, for categories; their distinct
  /// values are counted instead of averaged. Empty arrays get no row.
  void add(const std::string& name, const char* role, std::vector<model::PlateId> axes,
           const std::vector<model::PlateId>& event, std::optional<model::PlateId> values, const BoundArray& array) {
    if (array.values.empty()) return;
    axes.insert(axes.end(), event.begin(), event.end());
    const ArraySummary seen = summarise_array(array.values);
    std::vector<Markup> row{text(name), text(role), text(extents(axes)), text(fmt::format("{}", seen.present)),
                            text(seen.missing > 0 ? fmt::format("{}", seen.missing) : "")};
    if (values) {
      std::vector<double> levels = array.values;
      std::erase_if(levels, [](double x) { return std::isnan(x); });
      std::ranges::sort(levels);
      const auto rest = std::ranges::unique(levels);
      levels.erase(rest.begin(), rest.end());
      row.push_back(text(fmt::format("{} of {} {}", levels.size(), data_.sizes[values->index()], m_[*values].name)));
    } else if (seen.present > 0) {
      for (const double x : {seen.mean, seen.sd(), seen.low, seen.high})
        row.push_back(number(x));
    }
    row.resize(9);
    table_.rows.push_back(std::move(row));
  }
  Markup markup() const { return table_.rows.empty() ? Markup() : report::markup(table_); }

 private:
  /// Returns the axes with their sizes: "doc 200 × term 50".
  std::string extents(const std::vector<model::PlateId>& axes) const {
    std::string out;
    for (const model::PlateId p : axes)
      out += fmt::format("{}{} {}", out.empty() ? "" : " × ", m_[p].name, data_.sizes[p.index()]);
    return out.empty() ? "a number" : out;
  }

  const model::Model& m_;
  const BoundData& data_;
  Table table_{{"array", "", "axes", "numbers", "missing", "mean", "sd", "smallest", "largest"}, {}};
};

}  // namespace

Markup data_summary(const model::Model& m, const BoundData& data) {
  SummaryTable table(m, data);
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (model::has_data(v) || (k < data.clamped.size() && data.clamped[k]))
      table.add(v.name, v.observed ? "observed" : "known in part", v.axes, v.event, v.value_plate, data.observed[k]);
  }
  for (std::size_t k = 0; k < m.givens.size(); ++k)
    table.add(m.givens[k].name, "given", m.givens[k].axes, m.givens[k].event, m.givens[k].value_plate, data.givens[k]);
  return table.markup();
}

}  // namespace lehr::report
