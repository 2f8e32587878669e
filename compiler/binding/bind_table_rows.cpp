// Matches tables with one line per element of a nested plate, as exports of measurements are (`id,t,y`). A column named
// like the outer plate says which row a line belongs to. One named like the nested plate must count the steps of each
// row.
//
//   id,t,y                 plate id;  plate t in id ordered;  data y[id, t] : real;
//   a,1,0.3                row a has two elements, row b has one
//   a,2,0.1
//   b,1,0.7
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/binding/binder.h"
#include "compiler/binding/table_rows.h"
#include "compiler/model/statement_text.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// Returns the only plate that is nested in `outer`, or nothing if there is none or more than one.
std::optional<PlateId> nested_in(const Model& m, PlateId outer) {
  std::optional<PlateId> out;
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    const PlateId p(i);
    if (m[p].parent != outer || m[p].set != p) continue;
    if (out) return std::nullopt;
    out = p;
  }
  return out;
}

/// Checks the column that numbers the steps within rows: whole numbers that grow by one from line to line. A gap would
/// be read as if no time had passed.
void check_steps(Binder& b, const DataArray& steps, const DataArray& ids, const std::vector<std::int64_t>& offsets,
                 const std::string& outer) {
  const auto whole = [](double v) { return v == std::floor(v); };
  if (!steps.levels.empty() || !std::ranges::all_of(steps.values, whole)) {
    problem(b, ExitCode::data, steps.source, fmt::format("the steps of each {} are whole numbers", outer)).notes = {
        "without such a column lines that follow each other are steps that do: give dates another name"};
    return;
  }
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    for (auto i = static_cast<std::size_t>(offsets[row]) + 1; i < static_cast<std::size_t>(offsets[row + 1]); ++i) {
      if (steps.values[i] == steps.values[i - 1] + 1) continue;
      problem(b, ExitCode::data, steps.source,
              fmt::format("{} goes from {:.10g} to {:.10g} within {} {}", steps.name, steps.values[i - 1],
                          steps.values[i], outer, printable(entry_text(ids, i))))
          .notes = {
          "lines of one row stand in order, one step after another; for a step without observation give a "
          "line with an empty field"};
      return;
    }
  }
}

/// Checks the column that numbers the lines within rows, if other data refer to these numbers: they ascend by one from
/// Plate::from on.
void check_numbers(Binder& b, const Plate& nested, const DataArray& numbers, const DataArray& ids,
                   const std::vector<std::int64_t>& offsets, const std::string& outer) {
  if (!numbers.levels.empty()) return;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      const auto line = static_cast<std::size_t>(i);
      const auto expected = static_cast<double>(nested.from + i - offsets[row]);
      if (numbers.values[line] == expected) continue;
      problem(b, ExitCode::data, numbers.source,
              fmt::format("{} is {:.10g} on line {:.0f} of {} {}", numbers.name, numbers.values[line],
                          expected - static_cast<double>(nested.from) + 1, outer, printable(entry_text(ids, line))))
          .notes = {
          fmt::format("other data refer to these numbers: sort the lines of each {} by {}, which counts from "
                      "{} without gaps",
                      outer, numbers.name, nested.from)};
      return;
    }
  }
}

/// Returns true if another table has the array, with an id column of its own.
bool has_ids(Binder& b, PlateId plate, const DataArray& a) {
  const std::vector<const DataArray*> tables = id_columns_of(b, plate);
  return std::ranges::any_of(tables, [&](const DataArray* ids) { return of_one_file(a, *ids); });
}

/// Returns true if a slot has one value or vector per row, while its array has one per line of the table.
bool repeats_on_lines(Binder& b, const Slot& slot, const DataArray& a, PlateId outer, std::size_t lines) {
  if (a.ragged() || a.shape.empty() || a.shape[0] != static_cast<std::int64_t>(lines)) return false;
  const auto within = [&](PlateId p) { return b.model[p].set == outer; };
  const auto nested = [&](PlateId p) { return b.model[b.model[p].set].parent.has_value(); };
  return !slot.axes.empty() && within(slot.axes[0]) && std::none_of(slot.axes.begin(), slot.axes.end(), nested) &&
         !has_ids(b, outer, a);
}

/// Reduces an array with one value per line to one value per row. The lines of a row must agree; a line may leave its
/// value out.
void collapse_repeated_lines(Binder& b, DataArray& a, const DataArray& ids, const std::vector<std::int64_t>& offsets,
                             const std::string& outer) {
  const std::size_t width = a.values.size() / ids.values.size(), rows = offsets.size() - 1;
  std::vector<double> once(rows * width, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < rows; ++row) {
    for (auto line = static_cast<std::size_t>(offsets[row]); line < static_cast<std::size_t>(offsets[row + 1]);
         ++line) {
      for (std::size_t j = 0; j < width; ++j) {
        const double line_value = a.values[line * width + j];
        double& value = once[row * width + j];
        if (std::isnan(value)) value = line_value;
        if (std::isnan(line_value) || line_value == value) continue;
        problem(
            b, ExitCode::data, a.source,
            fmt::format("{} is not the same on all lines of {} {}", a.name, outer, printable(entry_text(ids, line))))
            .notes = {fmt::format("it has one value for each {}", outer)};
        return;
      }
    }
  }
  a.values = std::move(once);
  a.shape[0] = static_cast<std::int64_t>(rows);
  a.has_missing = std::any_of(a.values.begin(), a.values.end(), [](double v) { return std::isnan(v); });
}

/// Returns which row each element of the outer plate has, or nothing after a problem. Elements are identified by
/// number, by a name that they have, or by the order of rows.
std::optional<ElementRows> match_element_rows(Binder& b, const Plate& outer, const DataArray& ids,
                                              const LineGroups& rows) {
  const bool numeric = ids.levels.empty();
  if (b.settings.subset_plate && b.model[*b.settings.subset_plate].set == outer.set)
    return elements_from_rows(b, outer, rows);
  if (numeric && outer.from > 0) return match_rows_by_number(b, outer, ids, rows);
  if (std::vector<std::string> names = user_labels(b, outer.set); !names.empty())
    return by_name(b, outer, ids, rows, std::move(names));
  if (arrays_referring_to(b, outer.set, false).empty()) return elements_from_rows(b, outer, rows);
  /// Other data refer to elements by position. So ids must be positions, too.
  std::vector<double> sorted = ids.values;
  std::ranges::sort(sorted);
  const auto again = std::ranges::unique(sorted);
  sorted.erase(again.begin(), again.end());
  const bool positions = numeric && sorted.front() == 0 && sorted.back() == static_cast<double>(sorted.size()) - 1;
  if (positions) return match_rows_by_number(b, outer, ids, rows);
  const bool whole = numeric && sorted.front() > 0 && sorted.front() == std::floor(sorted.front());
  problem(b, ExitCode::data, ids.source,
          fmt::format("the rows of plate '{}' are called '{}', ... here, and {} has numbers of its elements",
                      outer.name, printable(rows.names.front()), arrays_referring_to(b, outer.set, false)[0]->name))
      .notes = {whole ? fmt::format("if both are numbered from {:.10g} declare it: `{}`", sorted.front(),
                                    plate_text_from(b.model, outer, std::llround(sorted.front())))
                      : "call them by the same words in both"};
  return std::nullopt;
}

/// Sorts the lines of an array by the elements that their rows belong to.
void sort_rows_by_element(DataArray& a, const LineGroups& rows, const ElementRows& element_rows) {
  const std::size_t width = a.values.size() / static_cast<std::size_t>(rows.offsets.back());
  std::vector<double> out;
  for (const std::optional<std::size_t>& row : element_rows.row) {
    if (!row) continue;
    const auto at = [&](std::int64_t line) {
      return a.values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(line) * width);
    };
    out.insert(out.end(), at(rows.offsets[*row]), at(rows.offsets[*row + 1]));
  }
  a.values = std::move(out);
}

/// Sorts the arrays of a table by element and returns the starts of the rows in that order.
std::vector<std::int64_t> order_lines(Binder& b, PlateId outer, PlateId nested, const LineGroups& rows,
                                      const ElementRows& element_rows, DataArray& ids) {
  std::vector<std::int64_t> lengths;
  for (const std::optional<std::size_t>& row : element_rows.row)
    lengths.push_back(row ? rows.offsets[*row + 1] - rows.offsets[*row] : 0);
  std::vector<std::int64_t> out = offsets_of(lengths);
  if (out == rows.offsets && std::ranges::is_sorted(element_rows.row)) return out;
  for (const Slot& slot : b.slots) {
    const auto it = b.arrays.find(slot.name);
    if (it == b.arrays.end() || it->second.ragged() || it->second.shape.empty() || slot.axes.empty()) continue;
    const auto of_table = [&](PlateId p) { return b.model[p].set == outer || b.model[p].set == nested; };
    if (of_table(slot.axes[0]) && it->second.shape[0] == rows.offsets.back() && !has_ids(b, outer, it->second))
      sort_rows_by_element(it->second, rows, element_rows);
  }
  sort_rows_by_element(ids, rows, element_rows);
  return out;
}

}  // namespace

void match_table_rows(Binder& b) {
  for (std::size_t i = 0; i < b.model.plates.size(); ++i) {
    const Plate& outer = b.model.plates[i];
    const auto entry = b.data->find(outer.name);
    const auto nested = nested_in(b.model, PlateId(i));
    if (entry == b.data->end() || !nested || outer.parent || outer.stick || entry->second.shape.size() != 1 ||
        entry->second.values.empty())
      continue;
    // Several tables may have this column; take the one beside arrays over the nested plate.
    DataArray ids = take(*b.data, entry, matching_id_column(b.model, b.slots, b.arrays, entry->second, *nested));
    if (outer.from > 0) parse_numeric_levels(ids);
    LineGroups rows;
    std::map<std::string, std::size_t> seen;
    for (std::size_t line = 0; line < ids.values.size(); ++line) {
      if (std::isnan(ids.values[line])) {
        problem(b, ExitCode::data, ids.source, fmt::format("record {} has no {}", line + 1, outer.name));
        return;
      }
      if (ids.levels.empty() && std::abs(ids.values[line]) >= kMaxExactInteger) {
        problem(b, ExitCode::data, ids.source,
                fmt::format("{:.0f} is not told apart from its neighbours", ids.values[line]))
            .notes = {"names of that many digits are written as text: with a letter before them"};
        return;
      }
      // A row is a group of consecutive lines with one id.
      if (line > 0 && ids.values[line] == ids.values[line - 1]) continue;
      const std::string name = entry_text(ids, line);
      if (!seen.emplace(name, line).second) {
        problem(b, ExitCode::data, ids.source,
                fmt::format("the lines of {} {} do not stand together", outer.name, printable(name)))
            .notes = {fmt::format("sort the table by {}", outer.name)};
        return;
      }
      if (line > 0) rows.offsets.push_back(static_cast<std::int64_t>(line));
      rows.names.push_back(name);
    }
    rows.offsets.push_back(static_cast<std::int64_t>(ids.values.size()));
    if (const auto steps = b.data->find(b.model[*nested].name);
        steps != b.data->end() && steps->second.shape == ids.shape) {
      if (b.model[*nested].ordered) check_steps(b, steps->second, ids, rows.offsets, outer.name);
      else if (!arrays_referring_to(b, *nested, false).empty())
        check_numbers(b, b.model[*nested], steps->second, ids, rows.offsets, outer.name);
      b.data->erase(steps);
    }
    std::optional<ElementRows> element_rows = match_element_rows(b, outer, ids, rows);
    if (!element_rows) return;
    std::vector<std::int64_t> offsets = order_lines(b, PlateId(i), *nested, rows, *element_rows, ids);
    for (const Slot& slot : b.slots) {
      const auto it = b.arrays.find(slot.name);
      if (it == b.arrays.end()) continue;
      if (repeats_on_lines(b, slot, it->second, PlateId(i), ids.values.size()))
        collapse_repeated_lines(b, it->second, ids, offsets, outer.name);
      else if (slot.axes.size() == 1 && b.model[slot.axes[0]].set == PlateId(i) && it->second.row_labels.empty() &&
               !has_ids(b, PlateId(i), it->second))
        warn(b, fmt::format("the values of {} are taken in the order in which {} has its names: '{}', ...", slot.name,
                            ids.source, printable(rows.names.front())));
    }
    const std::string source = fmt::format("{} ({})", outer.name, ids.source);
    b.claims[PlateId(i)].push_back({std::ssize(element_rows->row), source});
    b.offset_claims[*nested].push_back({std::move(offsets), source});
    set_labels_from_lines(b, PlateId(i), std::move(element_rows->names));
  }
}

}  // namespace lehr::model
