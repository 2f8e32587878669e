// Matches tables that have one line per element of a plate to which other data refer. A column named like the plate
// says which element each line is; the lines are sorted by it.
//
//   site,height            data height[site] : real;  data where[n] : site;
//   north,12               `where` has the words north and south, and
//   south,7                height[where[n]] must find the right line
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/binding/binder.h"
#include "compiler/binding/table_rows.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// Returns true if the ids number the lines 1, 2, ... in order.
bool are_ordinals(const DataArray& ids) {
  for (std::size_t k = 0; k < ids.values.size(); ++k)
    if (ids.values[k] != static_cast<double>(k) + 1) return false;
  return ids.levels.empty();
}

/// Returns the names that the elements have so far: from the lines of another table, those of user_labels(), or the
/// names of the columns of another array if the ids are among them. Empty without names.
std::vector<std::string> assigned_names(const Binder& b, const Plate& plate, const DataArray& ids) {
  if (b.named_by_rows.contains(plate.set)) return b.out.labels[plate.set.index()];
  if (std::vector<std::string> names = user_labels(b, plate.set); !names.empty()) return names;
  std::vector<std::string> columns = names_of_columns(b, plate.set);
  for (std::size_t line = 0; line < ids.values.size(); ++line) {
    const bool missing = std::isnan(ids.values[line]);
    if (missing || std::ranges::find(columns, entry_text(ids, line)) == columns.end()) return {};
  }
  return columns;
}

/// What the ids of lines are: numbers from Plate::from on, positions from 0, names that elements already have, or words
/// that name the elements.
enum class Ids { numbered, positions, labels, words };

/// Returns what the ids are. Returns nothing if they need not be looked at: no other data refer to the elements, or
/// they do so by other means.
std::optional<Ids> ids_are(Binder& b, const Plate& plate, const DataArray& ids) {
  const bool numeric = ids.levels.empty(), referred_by_word = !arrays_referring_to(b, plate.set, true).empty(),
             referred_by_number = !arrays_referring_to(b, plate.set, false).empty(),
             others = !id_columns_of(b, plate.set).empty();
  if (numeric && plate.from > 0) return Ids::numbered;
  if (const std::vector<std::string> names = assigned_names(b, plate, ids); !names.empty()) {
    if (!numeric || std::ranges::find(names, entry_text(ids, 0)) != names.end()) return Ids::labels;
    if (are_ordinals(ids)) return std::nullopt;
    return are_positions(ids) ? Ids::positions : Ids::labels;
  }
  if (!referred_by_word && !referred_by_number && !others) return std::nullopt;
  if (!referred_by_number && (!numeric || (others && !referred_by_word))) return Ids::words;
  if (b.settings.subset_plate && b.model[*b.settings.subset_plate].set == plate.set) return std::nullopt;
  return numeric ? Ids::positions : Ids::words;
}

/// Returns which line each element has, or nothing after a problem.
std::optional<ElementRows> match_element_rows(Binder& b, const Plate& plate, const DataArray& ids, Ids kind,
                                              const LineGroups& lines) {
  if (kind == Ids::labels) return by_name(b, plate, ids, lines, assigned_names(b, plate, ids));
  if (kind == Ids::words) return elements_from_rows(b, plate, lines);
  std::optional<ElementRows> out = match_rows_by_number(b, plate, ids, lines);
  if (out) out->names.clear();
  return out;
}

/// Sorts the values of an array by element. Elements without a line are missing.
void sort_by_element(DataArray& a, const ElementRows& element_rows) {
  std::size_t width = 1;
  for (std::size_t k = 1; k < a.shape.size(); ++k)
    width *= static_cast<std::size_t>(a.shape[k]);
  std::vector<double> out;
  for (const std::optional<std::size_t>& line : element_rows.row) {
    if (!line) {
      out.insert(out.end(), width, std::numeric_limits<double>::quiet_NaN());
      a.has_missing = true;
      continue;
    }
    const auto begin = a.values.begin() + static_cast<std::ptrdiff_t>(*line * width);
    out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  a.values = std::move(out);
  a.shape[0] = std::ssize(element_rows.row);
}

/// Returns true if every element has a line, or only variables lack values: data without a distribution cannot be
/// missing. Reports a problem otherwise.
bool check_every_element_has_line(Binder& b, const Plate& plate, const DataArray& ids,
                                  const std::vector<Column>& columns, const ElementRows& element_rows) {
  const auto gap = std::ranges::find_if(element_rows.row, [](const auto& line) { return !line; });
  const auto data = std::ranges::find_if(columns, [](const Column& c) { return c.slot->given.has_value(); });
  if (gap == element_rows.row.end() || data == columns.end()) return true;
  const auto k = static_cast<std::size_t>(gap - element_rows.row.begin());
  const std::string name = k < element_rows.names.size() ? printable(element_rows.names[k])
                                                         : fmt::format("{}", plate.from + static_cast<std::int64_t>(k));
  problem(b, ExitCode::data, ids.source,
          fmt::format("no line is that of {} {}, which has no {} then", plate.name, name, data->slot->name));
  return false;
}

/// Returns the lines as rows of one line each, with their ids. Reports a missing id, and an id that occurs twice.
std::optional<LineGroups> lines_of(Binder& b, const Plate& plate, const DataArray& ids) {
  LineGroups out;
  std::set<std::string> seen;
  for (std::size_t line = 0; line < ids.values.size(); ++line) {
    const bool missing = std::isnan(ids.values[line]);
    out.names.push_back(missing ? "" : entry_text(ids, line));
    out.offsets.push_back(std::ssize(out.names));
    if (!missing && seen.insert(out.names.back()).second) continue;
    problem(b, ExitCode::data, ids.source,
            missing ? fmt::format("record {} has no {}", line + 1, plate.name)
                    : fmt::format("two lines are those of {} {}", plate.name, printable(out.names.back())))
        .notes = {fmt::format("the column says which element of plate '{}' each line is", plate.name)};
    return std::nullopt;
  }
  return out;
}

/// Sorts the arrays beside an id column by element. Returns true if the column is such a column, also after a problem.
bool match_lines(Binder& b, PlateId id, const DataArray& column) {
  const Plate& plate = b.model[id];
  const std::vector<Column> columns = columns_in_table_of(b, id, column);
  if (columns.empty() || column.shape.size() != 1 || column.values.empty()) return false;
  DataArray ids = column;
  if (plate.from > 0) parse_numeric_levels(ids);
  const std::optional<Ids> kind = ids_are(b, plate, ids);
  if (!kind) return false;
  const std::optional<LineGroups> lines = lines_of(b, plate, ids);
  std::optional<ElementRows> element_rows = lines ? match_element_rows(b, plate, ids, *kind, *lines) : std::nullopt;
  if (!element_rows || !check_every_element_has_line(b, plate, ids, columns, *element_rows)) return true;
  for (const Column& c : columns)
    sort_by_element(*c.array, *element_rows);
  b.claims[id].push_back({std::ssize(element_rows->row), fmt::format("{} ({})", plate.name, ids.source)});
  set_labels_from_lines(b, id, std::move(element_rows->names));
  return true;
}

}  // namespace

void match_table_lines(Binder& b) {
  for (std::size_t i = 0; i < b.model.plates.size(); ++i) {
    const Plate& plate = b.model.plates[i];
    if (plate.set != PlateId(i) || plate.parent || plate.stick) continue;
    std::vector<DataArray> unmatched;
    // Several tables may have a column of this name; each is looked at once.
    for (auto entry = b.data->find(plate.name); entry != b.data->end(); entry = b.data->find(plate.name)) {
      DataArray ids = take(*b.data, entry, 0);
      if (!match_lines(b, PlateId(i), ids)) unmatched.push_back(std::move(ids));
    }
    put(*b.data, plate.name, std::move(unmatched));
  }
}

}  // namespace lehr::model
