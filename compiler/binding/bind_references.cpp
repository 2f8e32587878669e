// Handles data that refer to elements of nested plates by their number within a row: `c[n]` in the row `of[n]`. They
// imply how long rows are at least, and must lie inside them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "compiler/binding/binder.h"

namespace lehr {
namespace model {
namespace {

using RowOf = std::function<double(std::size_t)>;  // maps an element to its row; NaN if it has none

/// Calls body(element, row, value) for each value of a given that is an element number and has a valid row.
void each_named(std::span<const double> values, const RowOf& row_of,
                const std::function<void(std::size_t, std::int64_t, std::int64_t)>& body) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double row = row_of(i);
    if (row >= 0 && row < static_cast<double>(kLargestImplied) && values[i] >= 0)
      body(i, static_cast<std::int64_t>(row), static_cast<std::int64_t>(values[i]));
  }
}

/// Returns the rows that another array gives, NaN for elements without one.
RowOf rows_from(const std::vector<double>& rows) {
  return [&rows](std::size_t i) { return i < rows.size() ? rows[i] : std::nan(""); };
}

}  // namespace

void claim_referenced_rows(Binder& b) {
  std::vector<const Slot*> of_rows;  // have one value for each row, and nothing else gives the row
  const auto claim = [&](const Slot& slot, const std::vector<double>& values, const RowOf& row_of) {
    each_named(values, row_of, [&](std::size_t, std::int64_t row, std::int64_t value) {
      std::vector<std::int64_t>& lengths = b.referenced_rows[*slot.value_plate];
      if (value >= kLargestImplied) return;
      // A row must be longer than the largest number that refers to it.
      if (row >= std::ssize(lengths)) lengths.resize(static_cast<std::size_t>(row) + 1, 0);
      std::int64_t& length = lengths[static_cast<std::size_t>(row)];
      length = std::max(length, value + 1);
    });
  };
  for (const Slot& slot : b.slots) {
    if (!slot.given || !slot.value_plate || !b.model[*slot.value_plate].parent) continue;
    const Given& given = b.model[*slot.given];
    const auto values = b.arrays.find(slot.name);
    if (values == b.arrays.end()) continue;
    if (!values->second.levels.empty()) {
      problem(b, ExitCode::data, values->second.source,
              fmt::format("{} is text: elements of '{}' have no names", slot.name, b.model[*slot.value_plate].name))
          .notes = {fmt::format("number them from {} within each {}", first_number_of(b, *slot.value_plate),
                                b.model[*b.model[*slot.value_plate].parent].name)};
      continue;
    }
    if (!given.row || b.settings.subset_plate) continue;
    if (!given.row->by && slot.axes.size() == 1) of_rows.push_back(&slot);
    const auto rows = given.row->by ? b.arrays.find(b.model[*given.row->by].name) : b.arrays.end();
    if (rows != b.arrays.end()) claim(slot, values->second.values, rows_from(rows->second.values));
  }
  // Without other data, the first axis is the row.
  for (const Slot* slot : of_rows)
    if (!b.referenced_rows.contains(*slot->value_plate))
      claim(*slot, b.arrays.at(slot->name).values, [](std::size_t i) { return static_cast<double>(i); });
}

void check_references(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.given || !b.model[*slot.given].row) continue;
    const Given& given = b.model[*slot.given];
    const PlateId plate = *slot.value_plate, outer = b.model[*b.model[plate].parent].set;
    const std::vector<std::int64_t>& offsets = b.out.offsets[plate.index()];
    const std::vector<double>& values = b.out.givens[slot.given->index()].values;
    const RowOf of_first_axis = [&](std::size_t i) { return static_cast<double>(element_indices(b, slot, i)[0]); };
    const RowOf row_of = given.row->by ? rows_from(b.out.givens[given.row->by->index()].values) : of_first_axis;
    std::optional<std::size_t> wrong;
    std::int64_t length = 0, of = 0;
    each_named(values, row_of, [&](std::size_t i, std::int64_t row, std::int64_t value) {
      if (wrong || row + 1 >= std::ssize(offsets)) return;
      const auto k = static_cast<std::size_t>(row);
      if (value < offsets[k + 1] - offsets[k]) return;
      wrong = i, of = row, length = offsets[k + 1] - offsets[k];
    });
    if (!wrong) continue;
    problem(b, ExitCode::data, option("data"),
            fmt::format("{} is {:.10g}, but {} {} has {} element{} of plate '{}'", element_name(b, slot, *wrong),
                        values[*wrong] + static_cast<double>(first_number_of(b, plate)), b.model[outer].name,
                        of + first_number_of(b, outer), length, length == 1 ? "" : "s", b.model[plate].name))
        .notes = {
        fmt::format("they are numbered from {} within each {}", first_number_of(b, plate), b.model[outer].name)};
  }
}

}  // namespace model

std::map<std::string, std::vector<std::int64_t>> referenced_rows(const model::Model& m, const BoundData& data) {
  std::map<std::string, std::vector<std::int64_t>> out;
  for (const model::Given& g : m.givens) {
    if (!g.row) continue;
    std::vector<std::int64_t> lengths;
    const std::vector<std::int64_t>& offsets = data.offsets[g.value_plate->index()];
    if (offsets.empty()) continue;  // of a built object, whose data have them
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
      lengths.push_back(offsets[row + 1] - offsets[row]);
    out[m[*g.value_plate].name] = std::move(lengths);
  }
  return out;
}

}  // namespace lehr
