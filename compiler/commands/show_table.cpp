#include "compiler/commands/show_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/fitting/element_names.h"
#include "runtime/files/csv_field.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

using json = nlohmann::ordered_json;

const std::vector<std::string> kValues{"mean", "sd", "q5", "q50", "q95"};

/// The values of a number, in that order.
std::vector<double> values_of(const PosteriorNumbers& v, std::size_t i) {
  std::vector<double> out{v.mean[i], v.sd[i]};
  for (const std::vector<double>& q : v.quantiles)
    out.push_back(q[i]);
  return out;
}

/// Axes under names that are all different.
std::vector<std::string> column_names_of(const PosteriorNumbers& v) {
  std::set<std::string> taken(kValues.begin(), kValues.end());
  taken.insert("variable");
  std::vector<std::string> out;
  for (const std::string& axis : v.axes) {
    std::string name = axis;
    for (int k = 2; !taken.insert(name).second; ++k)
      name = fmt::format("{}_{}", axis, k);
    out.push_back(name);
  }
  return out;
}

/// A name or label as a cell: nothing in it moves the cursor of a terminal.
std::string text_cell(const std::string& text) { return csv_field(printable(text, text.size())); }

std::string number_cell(double x) { return std::isnan(x) ? "" : fmt::format("{}", x); }

}  // namespace

std::string format_posterior_csv(const SavedFit& fit, const PosteriorTable& table) {
  std::vector<std::string> axes;
  for (const PosteriorNumbers& v : table.variables) {
    for (const std::string& name : column_names_of(v))
      if (std::ranges::find(axes, name) == axes.end()) axes.push_back(name);
  }
  std::string out = "variable";
  for (const std::string& name : axes)
    out += "," + text_cell(name);
  out += fmt::format(",{}\n", fmt::join(kValues, ","));
  for (const PosteriorNumbers& v : table.variables) {
    const std::vector<std::string> own = column_names_of(v);
    for (std::size_t i = 0; i < v.mean.size(); ++i) {
      const std::vector<std::size_t> at = unravel(v.shape, i);
      out += text_cell(v.variable);
      for (const std::string& name : axes) {
        out += ',';
        const auto k = static_cast<std::size_t>(std::ranges::find(own, name) - own.begin());
        if (k == own.size()) continue;
        const std::string* label = find_label(fit, v.axes[k], at[k]);
        out += label ? text_cell(*label) : fmt::format("{}", at[k]);
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
  for (const PosteriorNumbers& v : table.variables) {
    const std::vector<std::string> own = column_names_of(v);
    for (std::size_t i = 0; i < v.mean.size(); ++i) {
      const std::vector<std::size_t> at = unravel(v.shape, i);
      json row{{"variable", v.variable}, {"index", json::object()}};
      for (std::size_t k = 0; k < own.size(); ++k) {
        const std::string* label = find_label(fit, v.axes[k], at[k]);
        row["index"][own[k]] = label ? json(*label) : json(at[k]);
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
