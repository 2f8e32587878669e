// Matches the rows of tables with elements. Names and numbers come from id columns; the elements that exist are those
// of all data over the plate.
#include "compiler/binding/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "compiler/binding/binder.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// Returns the file in a source: "p.csv" of "p.csv, column 'x, y' (numbers, but 'a' at p.csv:5:1)".
std::string_view file_of(std::string_view source) {
  const std::size_t column = source.find(", column '");
  return source.substr(0, column != std::string_view::npos ? column : source.find(", '"));
}

}  // namespace

bool is_column(const DataArray& a) { return !a.named_by_binding && a.source.find(", column '") != std::string::npos; }

bool of_one_file(const DataArray& a, const DataArray& b) { return file_of(a.source) == file_of(b.source); }

bool are_positions(const DataArray& ids) {
  std::vector<double> sorted = ids.values;
  std::ranges::sort(sorted);
  for (std::size_t k = 0; k < sorted.size(); ++k)
    if (sorted[k] != static_cast<double>(k)) return false;
  return true;
}

std::vector<const DataArray*> all_of(const DataArray& first) {
  std::vector<const DataArray*> out = {&first};
  for (const DataArray& other : first.duplicates)
    out.push_back(&other);
  return out;
}

void set_labels_from_lines(Binder& b, PlateId plate, std::vector<std::string> names) {
  if (names.empty()) return;
  b.out.labels.resize(b.model.plates.size());
  b.out.labels[plate.index()] = std::move(names);
  b.named_by_rows.insert(plate);
}

void put(Dataset& data, const std::string& name, std::vector<DataArray> arrays) {
  if (arrays.empty()) return;
  DataArray first = std::move(arrays.front());
  first.duplicates.assign(std::make_move_iterator(arrays.begin() + 1), std::make_move_iterator(arrays.end()));
  data.emplace(name, std::move(first));
}

Dataset::iterator put_first(Dataset& data, Dataset::iterator entry, std::size_t k) {
  const std::string name = entry->first;
  std::vector<DataArray> all = std::exchange(entry->second.duplicates, {});
  all.insert(all.begin(), std::move(entry->second));
  const auto chosen = all.begin() + static_cast<std::ptrdiff_t>(k);
  std::rotate(all.begin(), chosen, chosen + 1);
  data.erase(entry);
  put(data, name, std::move(all));
  return data.find(name);
}

DataArray take(Dataset& data, Dataset::iterator entry, std::size_t k) {
  entry = put_first(data, entry, k);
  const std::string name = entry->first;
  DataArray out = std::move(entry->second);
  data.erase(entry);
  put(data, name, std::exchange(out.duplicates, {}));
  return out;
}

std::vector<Column> columns_in_table_of(Binder& b, PlateId plate, const DataArray& ids) {
  std::vector<Column> out;
  for (const Slot& slot : b.slots) {
    const auto it = b.arrays.find(slot.name);
    if (it == b.arrays.end() || slot.axes.empty() || b.model[slot.axes[0]].set != plate) continue;
    DataArray& a = it->second;
    if (stands_beside(a, ids)) out.push_back({&slot, &a});
  }
  return out;
}

bool stands_beside(const DataArray& a, const DataArray& ids) {
  return !a.ragged() && !a.shape.empty() && a.shape[0] == std::ssize(ids.values) && a.row_labels.empty() &&
         of_one_file(a, ids);
}

std::vector<DataArray*> id_columns(Dataset& data, const std::string& plate,
                                   const std::vector<const DataArray*>& along) {
  std::vector<DataArray*> out;
  const auto entry = data.find(plate);
  if (entry == data.end()) return out;
  const auto add = [&](DataArray& ids) {
    const bool beside = std::ranges::any_of(along, [&](const DataArray* a) { return stands_beside(*a, ids); });
    if (beside && ids.shape.size() == 1 && !ids.values.empty()) out.push_back(&ids);
  };
  add(entry->second);
  for (DataArray& other : entry->second.duplicates)
    add(other);
  return out;
}

std::vector<const DataArray*> id_columns_of(Binder& b, PlateId plate) {
  std::vector<const DataArray*> along;
  for (const Slot& slot : b.slots) {
    const auto it = b.arrays.find(slot.name);
    if (it != b.arrays.end() && !slot.axes.empty() && b.model[slot.axes[0]].set == plate) along.push_back(&it->second);
  }
  const std::vector<DataArray*> ids = id_columns(*b.data, b.model[plate].name, along);
  return {ids.begin(), ids.end()};
}

std::vector<const DataArray*> arrays_referring_to(const Binder& b, PlateId plate, bool by_text) {
  std::vector<const DataArray*> out;
  for (const Slot& slot : b.slots) {
    const auto it = b.arrays.find(slot.name);
    if (it == b.arrays.end() || !slot.value_plate || b.model[*slot.value_plate].set != plate) continue;
    if (it->second.levels.empty() != by_text) out.push_back(&it->second);
  }
  return out;
}

std::optional<ElementRows> match_rows_by_number(Binder& b, const Plate& outer, const DataArray& ids,
                                                const LineGroups& rows) {
  ElementRows out;
  for (std::size_t row = 0; row < rows.names.size(); ++row) {
    const double id = ids.values[static_cast<std::size_t>(rows.offsets[row])],
                 at = id - static_cast<double>(outer.from);
    if (!(at >= 0) || at != std::floor(at) || at >= static_cast<double>(kLargestImplied)) {
      problem(b, ExitCode::data, ids.source,
              fmt::format("{:.10g} is not the number of an element of plate '{}'", id, outer.name))
          .notes = {fmt::format("they are numbered from {}", outer.from)};
      return std::nullopt;
    }
    const auto index = static_cast<std::size_t>(at);
    if (index >= out.row.size()) out.row.resize(index + 1);
    out.row[index] = row;
  }
  // Elements may also be numbered by other data, by other tables, or by a size that is claimed.
  double size = static_cast<double>(out.row.size());
  for (const DataArray* a : arrays_referring_to(b, outer.set, false))
    for (const double v : a->values)
      if (v >= size && v < static_cast<double>(kLargestImplied)) size = v + 1;
  for (const DataArray* table : id_columns_of(b, outer.set)) {
    DataArray others = *table;
    parse_numeric_levels(others);
    for (const double v : others.values) {
      const double at = v - static_cast<double>(outer.from);
      if (others.levels.empty() && at >= size && at < static_cast<double>(kLargestImplied)) size = at + 1;
    }
  }
  for (const Claim& c : b.claims[outer.set])
    size = std::max(size, static_cast<double>(c.size));
  if (outer.size) size = std::max(size, evaluate(b, *outer.size).value_or(0));
  out.row.resize(static_cast<std::size_t>(size));
  for (std::size_t k = 0; outer.from == 0 && k < out.row.size(); ++k)
    out.names.push_back(fmt::format("{}", k));
  return out;
}

std::optional<ElementRows> by_name(Binder& b, const Plate& outer, const DataArray& ids, const LineGroups& rows,
                                   std::vector<std::string> names) {
  ElementRows out{std::vector<std::optional<std::size_t>>(names.size()), std::move(names)};
  for (std::size_t row = 0; row < rows.names.size(); ++row) {
    const auto found = std::ranges::find(out.names, rows.names[row]);
    if (found == out.names.end()) {
      problem(b, ExitCode::data, ids.source,
              fmt::format("'{}' is not among the labels of plate '{}'", printable(rows.names[row]), outer.name));
      return std::nullopt;
    }
    out.row[static_cast<std::size_t>(found - out.names.begin())] = row;
  }
  return out;
}

ElementRows elements_from_rows(Binder& b, const Plate& outer, const LineGroups& rows) {
  ElementRows out{{}, rows.names};
  for (std::size_t row = 0; row < rows.names.size(); ++row)
    out.row.emplace_back(row);
  std::set<std::string> others;
  for (const DataArray* a : arrays_referring_to(b, outer.set, true))
    others.insert(a->levels.begin(), a->levels.end());
  for (const DataArray* ids : id_columns_of(b, outer.set))
    for (std::size_t line = 0; line < ids->values.size(); ++line)
      if (!std::isnan(ids->values[line])) others.insert(entry_text(*ids, line));
  for (const std::string& name : rows.names)
    others.erase(name);
  out.names.insert(out.names.end(), others.begin(), others.end());
  out.row.resize(out.names.size());
  return out;
}

}  // namespace lehr::model
