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

/// Moves the elements of an array along one axis, whose extent is the length of `to`: element j becomes element to[j].
void move_along(DataArray& a, std::size_t axis, const std::vector<std::size_t>& to) {
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::size_t out = 1;
    for (std::size_t k = begin; k < end; ++k)
      out *= static_cast<std::size_t>(a.shape[k]);
    return out;
  };
  const std::size_t inner = product(axis + 1, a.shape.size()), block = to.size() * inner;
  std::vector<double> moved(a.values.size());
  for (std::size_t begin = 0; begin < a.values.size(); begin += block) {
    for (std::size_t j = 0; j < to.size(); ++j)
      std::copy_n(a.values.begin() + static_cast<std::ptrdiff_t>(begin + j * inner), inner,
                  moved.begin() + static_cast<std::ptrdiff_t>(begin + to[j] * inner));
  }
  a.values = std::move(moved);
}

/// Returns the plate that the names of an array's columns are for: its last axis, or of sparse counts its values.
/// Returns nothing if the array has no such names.
std::optional<PlateId> plate_of_columns(const Binder& b, const Slot& slot, const DataArray& a) {
  if (slot.axes.empty() || a.axis_labels.empty()) return std::nullopt;
  if (a.ragged() && slot.value_plate) return b.model[*slot.value_plate].set;
  /// A table with one line per element of a nested plate has one axis for the nested plate and its parent.
  std::size_t packed = slot.axes.size();
  for (std::size_t k = 1; k < slot.axes.size(); ++k)
    packed -= b.model[b.model[slot.axes[k]].set].parent == b.model[slot.axes[k - 1]].set;
  if (a.shape.size() < 2 || (a.shape.size() != slot.axes.size() && a.shape.size() != packed)) return std::nullopt;
  return b.model[slot.axes.back()].set;
}

}  // namespace

std::vector<std::string> user_labels(const Binder& b, PlateId plate) {
  for (const auto& [name, labels] : b.settings.labels)
    for (const Plate& p : b.model.plates)
      if (p.name == name && p.set == plate) return labels;
  return {};
}

std::vector<std::string> names_of_columns(const Binder& b, PlateId plate) {
  for (const Slot& slot : b.slots) {
    const auto a = b.arrays.find(slot.name);
    if (a != b.arrays.end() && plate_of_columns(b, slot, a->second) == plate) return a->second.axis_labels;
  }
  return {};
}

void name_elements(Binder& b, const Slot& slot, DataArray& a) {
  if (slot.axes.empty()) return;
  // Names of a plate are those of the user, or else those of the first array that has some.
  const auto positions = [&](PlateId plate, const std::vector<std::string>& names) {
    std::vector<std::string>& labels = b.out.labels[plate.index()];
    if (labels.empty()) labels = names;
    const std::vector<std::string> given = user_labels(b, plate);
    return column_elements(b, plate, given.empty() ? labels : given, names, a);
  };
  const PlateId rows = b.model[slot.axes.front()].set;
  const bool dense = !a.ragged() && !a.shape.empty();
  if (!a.row_labels.empty()) {
    const std::vector<std::size_t> to = positions(rows, a.row_labels);
    if (dense && !to.empty() && a.shape.front() == std::ssize(to)) move_along(a, 0, to);
  }
  const std::optional<PlateId> plate = plate_of_columns(b, slot, a);
  if (!plate) return;
  const std::vector<std::size_t> to = positions(*plate, a.axis_labels);
  if (to.empty()) return;
  if (a.ragged() && slot.value_plate) {
    for (double& value : a.values)
      value = static_cast<double>(to[static_cast<std::size_t>(value)]);
  } else if (dense && a.shape.back() == std::ssize(to)) {
    const std::size_t last = a.shape.size() - 1;
    move_along(a, last, to);
    // The rows of a square matrix over the plate are those of its columns.
    const bool square = last > 0 && a.shape.size() == slot.axes.size() && b.model[slot.axes[last - 1]].set == *plate &&
                        a.shape[last - 1] == a.shape[last];
    if (square && a.row_labels.empty()) move_along(a, last - 1, to);
  }
}

}  // namespace lehr::model
