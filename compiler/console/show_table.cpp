// CSV and JSON have the same rows and names. Both derive their index columns from the axes of each variable; an axis
// over a nested plate becomes a column for each level.
#include "compiler/console/show_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/posterior/element_names.h"
#include "runtime/files/csv_field.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

using json = nlohmann::ordered_json;

// Names of the value columns, in their order.
const std::vector<std::string> kValues{"mean", "sd", "q5", "q50", "q95"};

/// Returns the values of scalar `i` in the order of kValues.
std::vector<double> values_of(const VariableSummary& v, std::size_t i) {
  std::vector<double> out{v.mean[i], v.sd[i]};
  for (const std::vector<double>& q : v.quantiles)
    out.push_back(q[i]);
  return out;
}

/// An index column: of an axis, or of a plate in which the axis is nested.
struct AxisColumn {
  std::string name, plate;  // name of the column, and the plate that has its labels
  std::size_t axis = 0;     // axis of the variable
};

/// Returns the index columns of a variable. Names that are in use get a number: "doc_2".
std::vector<AxisColumn> axis_columns_of(const SavedFit& fit, const VariableSummary& v) {
  std::set<std::string> used_names(kValues.begin(), kValues.end());
  used_names.insert("variable");
  std::vector<AxisColumn> out;
  for (std::size_t k = 0; k < v.axes.size(); ++k) {
    for (const auto& [plate, number] : path_of(fit, v.axes[k], 0)) {
      std::string name = plate;
      for (int n = 2; !used_names.insert(name).second; ++n)
        name = fmt::format("{}_{}", plate, n);
      out.push_back({name, plate, k});
    }
  }
  return out;
}

/// Returns the number of the element of a column's plate, for the scalar at positions `at` along the axes.
std::size_t number_at(const SavedFit& fit, const VariableSummary& v, const AxisColumn& column,
                      const std::vector<std::size_t>& at) {
  for (const auto& [plate, number] : path_of(fit, v.axes[column.axis], at[column.axis]))
    if (plate == column.plate) return number;
  return at[column.axis];
}

/// Returns a name or label as a CSV cell, with control characters escaped so that a terminal is safe.
std::string text_cell(const std::string& text) { return csv_field(printable(text, text.size())); }

/// Returns a number as a cell; empty for NaN.
std::string number_cell(double x) { return std::isnan(x) ? "" : fmt::format("{}", x); }

}  // namespace

std::string format_posterior_csv(const SavedFit& fit, const PosteriorTable& table) {
  std::vector<std::string> axes;
  for (const VariableSummary& v : table.variables) {
    for (const AxisColumn& column : axis_columns_of(fit, v))
      if (std::ranges::find(axes, column.name) == axes.end()) axes.push_back(column.name);
  }
  std::string out = "variable";
  for (const std::string& name : axes)
    out += "," + text_cell(name);
  out += fmt::format(",{}\n", fmt::join(kValues, ","));
  for (const VariableSummary& v : table.variables) {
    const std::vector<AxisColumn> own = axis_columns_of(fit, v);
    for (std::size_t i = 0; i < v.mean.size(); ++i) {
      const std::vector<std::size_t> at = unravel(v.shape, i);
      out += text_cell(v.variable);
      for (const std::string& name : axes) {
        out += ',';
        const auto column = std::ranges::find(own, name, &AxisColumn::name);
        if (column == own.end()) continue;
        const std::size_t number = number_at(fit, v, *column, at);
        const std::string* label = find_label(fit, column->plate, number);
        out += label ? text_cell(*label) : fmt::format("{}", first_number(fit, column->plate) + number);
      }
      for (const double x : values_of(v, i))
        out += "," + number_cell(x);
      out += '\n';
    }
  }
  return out;
}

std::string format_posterior_json(const SavedFit& fit, const PosteriorTable& table) {
  json rows = json::array();
  for (const VariableSummary& v : table.variables) {
    const std::vector<AxisColumn> own = axis_columns_of(fit, v);
    for (std::size_t i = 0; i < v.mean.size(); ++i) {
      const std::vector<std::size_t> at = unravel(v.shape, i);
      json row{{"variable", v.variable}, {"index", json::object()}};
      for (const AxisColumn& column : own) {
        const std::size_t number = number_at(fit, v, column, at);
        const std::string* label = find_label(fit, column.plate, number);
        row["index"][column.name] = label ? json(*label) : json(first_number(fit, column.plate) + number);
      }
      const std::vector<double> values = values_of(v, i);
      for (std::size_t k = 0; k < values.size(); ++k)
        row[kValues[k]] = std::isfinite(values[k]) ? json(values[k]) : json();
      rows.push_back(std::move(row));
    }
  }
  return rows.dump(1, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace lehr
