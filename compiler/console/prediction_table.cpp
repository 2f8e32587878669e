// Rows of predictions as CSV. The index columns are those of all variables together, in order of appearance; a variable
// leaves those empty that it does not have.
#include "compiler/console/prediction_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "compiler/predict/prediction_arrays.h"
#include "runtime/files/csv_field.h"

namespace lehr {
namespace {

using namespace model;

// Names that index columns must not have.
const std::set<std::string> kReservedColumns = {"variable", "value", "probability", "most_probable", "path", "mean",
                                                "mcse",     "sd",    "q5",          "q50",           "q95"};

/// An index of a variable: the name of its column, and the plate that has its labels.
struct Axis {
  std::string column;
  PlateId plate;
};

/// Returns the indices of a variable, first those of its plates, then those of its event. Names that are in use get a
/// number: "doc_2".
std::vector<Axis> axes_of(const Model& m, VariableId id) {
  const Variable& v = m[id];
  std::vector<Axis> out;
  const auto add = [&](const std::string& plate, PlateId set) {
    std::string name = plate;
    const auto is_used = [&] {
      return kReservedColumns.contains(name) || std::ranges::find(out, name, &Axis::column) != out.end();
    };
    for (int k = 2; is_used(); ++k)
      name = fmt::format("{}_{}", plate, k);
    out.push_back({name, set});
  };
  for (const IndexVarId b : m[v.statement].index_vars)
    add(m[b].name, m[m[b].plate].set);
  for (const PlateId p : v.event)
    add(m[p].name, m[p].set);
  return out;
}

/// Returns a number with 17 digits, so that it reads back as the same double; empty for NaN.
std::string number(double x) { return std::isnan(x) ? "" : fmt::format("{:.17g}", x); }

/// Returns the label of an element, or its position counted from `first` if the plate has no labels.
std::string label(const BoundData& data, PlateId plate, std::int64_t position, std::int64_t first) {
  const std::vector<std::string>& labels = data.labels[plate.index()];
  const auto k = static_cast<std::size_t>(position);
  return k < labels.size() ? csv_field(labels[k]) : fmt::format("{}", position - first);
}

/// Returns "1" if `value` is that of element `i` on the most probable path, else "0"; empty without a path.
std::string on_path(const PredictedVariable& v, std::size_t i, std::size_t value) {
  if (v.path.empty()) return "";
  return v.path[i] == static_cast<std::int64_t>(value) ? "1" : "0";
}

/// Makes the rows of a prediction.
class Table {
 public:
  explicit Table(const Prediction& p) : p_(p), forward_(p.model, p.data) {
    for (const PredictedVariable& v : p.variables)
      for (const Axis& axis : axes_of(model(), v.variable))
        if (std::ranges::find(columns_, axis.column) == columns_.end()) columns_.push_back(axis.column);
  }

  /// Returns the header line.
  std::string header() const {
    std::string out = "variable";
    for (const std::string& c : columns_)
      out += "," + csv_field(c);
    out += ",value,probability,most_probable,path,mean,sd";
    for (const char* q : kQuantileNames)
      out += fmt::format(",{}", q);
    return out + ",mcse\n";
  }

  /// Returns all rows of a variable.
  std::string rows(const PredictedVariable& v) {
    for (std::size_t i = 0; i < v.elements.size(); ++i)
      add_rows(v, i);
    return std::exchange(out_, {});
  }

 private:
  const Model& model() const { return p_.model; }

  /// Returns the index columns of scalar `j` of an element, each after a comma. `at` has the positions of the element
  /// along its plates. Elements of nested plates count from the start of their row, items of a batch among all items.
  std::string indices(const PredictedVariable& v, const std::vector<Axis>& axes, const IndexValues& at,
                      std::size_t j) const {
    const std::vector<IndexVarId>& bounds = model()[model()[v.variable].statement].index_vars;
    std::vector<std::string> fields(columns_.size());
    auto rest = static_cast<std::int64_t>(j);
    for (std::size_t a = axes.size(); a-- > 0;) {
      std::int64_t position = 0, first = 0;
      if (a < bounds.size()) {
        const IndexVar& b = model()[bounds[a]];
        position = at[bounds[a].index()];
        if (model()[b.plate].set == p_.items) first = -p_.first;
        if (b.parent) first = p_.data.offsets[b.plate.index()][static_cast<std::size_t>(at[b.parent->index()])];
        first -= model()[model()[b.plate].set].from;
      } else {
        const std::int64_t n = p_.data.sizes[axes[a].plate.index()];
        position = rest % n;
        rest /= n;
      }
      const auto column = std::ranges::find(columns_, axes[a].column) - columns_.begin();
      fields[static_cast<std::size_t>(column)] = label(p_.data, axes[a].plate, position, first);
    }
    std::string out;
    for (const std::string& text : fields)
      out += "," + text;
    return out;
  }

  /// Adds the rows of the i-th element of a variable.
  void add_rows(const PredictedVariable& v, std::size_t i) {
    const std::vector<Axis> axes = axes_of(model(), v.variable);
    const IndexValues at = forward_.at({v.variable, v.elements[i]});
    const std::string of_element = indices(v, axes, at, 0);
    for (std::size_t j = 0; j < v.width; ++j) {
      out_ += model()[v.variable].name;
      out_ += v.probabilities || j == 0 ? of_element : indices(v, axes, at, j);
      add_values(v, i, j);
    }
  }

  /// Adds the numeric columns of a row: scalar or category value `j` of the i-th element.
  void add_values(const PredictedVariable& v, std::size_t i, std::size_t j) {
    const std::size_t at = i * v.width + j;
    if (v.probabilities) {
      const PlateId values = model()[*model()[v.variable].value_plate].set;
      out_ += fmt::format(",{},{},{},{},,", label(p_.data, values, static_cast<std::int64_t>(j), 0), number(v.mean[at]),
                          j == v.most_probable(i) ? 1 : 0, on_path(v, i, j));
      for (std::size_t q = 0; q < kPredictedQuantiles.size(); ++q)
        out_ += ",";
    } else {
      out_ += fmt::format(",,,,,{},{}", number(v.mean[at]), number(v.sd[at]));
      for (const std::vector<double>& q : v.quantiles)
        out_ += "," + number(q[at]);
    }
    out_ += "," + number(v.error[at]) + "\n";
  }

  const Prediction& p_;
  ModelEvaluator forward_;
  std::vector<std::string> columns_;
  std::string out_;
};

}  // namespace

std::string prediction_columns(const Prediction& prediction) { return Table(prediction).header(); }

std::string prediction_rows(const Prediction& prediction, const PredictedVariable& of) {
  return Table(prediction).rows(of);
}

std::string prediction_csv(const Prediction& prediction) {
  std::string out = prediction_columns(prediction);
  for (const PredictedVariable& v : prediction.variables)
    out += prediction_rows(prediction, v);
  return out;
}

}  // namespace lehr
