// Takes names of elements from files: row labels, column names, and values of sparse counts. Names become labels of a
// plate, or, if its elements already have names, decide which column belongs to which element.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/binding/binder.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// Reports a column that names no element, while other columns do.
void unknown_column(Binder& b, PlateId plate, const std::vector<std::string>& labels, const std::string& name,
                    const DataArray& a) {
  Error& e = problem(b, ExitCode::data, a.source,
                     fmt::format("'{}' is no element of plate '{}', and others of the columns are", printable(name),
                                 b.model[plate].name));
  constexpr std::size_t kMostShown = 12;
  std::vector<std::string> shown;
  for (const std::string& label : labels)
    if (shown.size() < kMostShown) shown.push_back(printable(label));
  e.notes.push_back(
      fmt::format("its elements are {}{}", fmt::join(shown, ", "), labels.size() > kMostShown ? ", ..." : ""));
}

/// Returns for each column the element that its name stands for; elements without a column follow. Returns nothing if
/// no column has to move. That is so if the names are those of the elements in order, or new names of the elements in
/// order.
std::vector<std::size_t> column_elements(Binder& b, PlateId plate, const std::vector<std::string>& labels,
                                         const std::vector<std::string>& names, const DataArray& a) {
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < labels.size(); ++i)
    at.emplace(labels[i], i);
  const auto is_label = [&](const std::string& name) { return at.contains(name); };
  if (names == labels || std::ranges::none_of(names, is_label)) return {};
  std::vector<std::size_t> out;
  std::vector<bool> used(labels.size(), false);
  for (const std::string& name : names) {
    const auto found = at.find(name);
    if (found == at.end() || used[found->second]) {
      unknown_column(b, plate, labels, name, a);
      return {};
    }
    used[found->second] = true;
    out.push_back(found->second);
  }
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!used[i]) out.push_back(i);
  return out;
}

/// Moves the columns of an array of rows: column j becomes column to[j].
void move_columns(DataArray& a, const std::vector<std::size_t>& to) {
  std::vector<double> row(to.size());
  for (std::size_t begin = 0; begin < a.values.size(); begin += to.size()) {
    for (std::size_t j = 0; j < to.size(); ++j)
      row[to[j]] = a.values[begin + j];
    std::ranges::copy(row, a.values.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace

std::vector<std::string> user_labels(const Binder& b, PlateId plate) {
  for (const auto& [name, labels] : b.settings.labels)
    for (const Plate& p : b.model.plates)
      if (p.name == name && p.set == plate) return labels;
  return {};
}

void name_elements(Binder& b, const Slot& slot, DataArray& a) {
  /// A table with one line per element of a nested plate has one axis for the nested plate and its parent.
  std::size_t packed = slot.axes.size();
  for (std::size_t k = 1; k < slot.axes.size(); ++k)
    packed -= b.model[b.model[slot.axes[k]].set].parent == b.model[slot.axes[k - 1]].set;
  const auto name = [&](PlateId plate, const std::vector<std::string>& names) {
    if (b.out.labels[plate.index()].empty()) b.out.labels[plate.index()] = names;
  };
  if (slot.axes.empty()) return;
  if (!a.row_labels.empty()) name(slot.axes.front(), a.row_labels);
  const bool sparse = a.ragged() && slot.value_plate;
  if (a.axis_labels.empty() ||
      (!sparse && (a.shape.size() < 2 || (a.shape.size() != slot.axes.size() && a.shape.size() != packed))))
    return;
  const PlateId plate = b.model[sparse ? *slot.value_plate : slot.axes.back()].set;
  name(plate, a.axis_labels);
  const std::vector<std::size_t> to = column_elements(b, plate, user_labels(b, plate), a.axis_labels, a);
  if (to.empty()) return;
  if (sparse) {
    for (double& value : a.values)
      value = static_cast<double>(to[static_cast<std::size_t>(value)]);
  } else if (!a.ragged() && a.shape.back() == std::ssize(to)) {
    move_columns(a, to);
  }
}

}  // namespace lehr::model
