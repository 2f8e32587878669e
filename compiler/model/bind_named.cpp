// Data whose values are elements of nested plates, as numbers within their rows: `c[n]` of the row `of[n]`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "compiler/model/binder.h"

namespace lehr {
namespace model {
namespace {

/// Calls body(element, row, value) with what is known of the values of a given, of which `rows` says the rows.
void each_named(std::span<const double> values, std::span<const double> rows,
                const std::function<void(std::size_t, std::int64_t, std::int64_t)>& body) {
  for (std::size_t i = 0; i < std::min(values.size(), rows.size()); ++i) {
    if (rows[i] >= 0 && rows[i] < static_cast<double>(kLargestImplied) && values[i] >= 0)
      body(i, static_cast<std::int64_t>(rows[i]), static_cast<std::int64_t>(values[i]));
  }
}

/// The element of the first axis that each of the `count` values belongs to; rows along others may differ in length.
std::vector<double> first_elements(const Binder& b, const Slot& slot, std::size_t count) {
  std::vector<double> out;
  const std::int64_t rows = b.out.sizes[b.model[slot.axes[0]].set.index()];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t end = row + 1;
    for (std::size_t x = 1; x < slot.axes.size(); ++x) {
      const PlateId set = b.model[slot.axes[x]].set;
      end = b.model[set].parent ? b.out.offsets[set.index()][static_cast<std::size_t>(end)]
                                : end * b.out.sizes[set.index()];
    }
    out.resize(std::min(count, static_cast<std::size_t>(end)), static_cast<double>(row));
  }
  return out;
}

/// 0, 1, 2 ...: each value is of a row of its own.
std::vector<double> own_rows(std::size_t count) {
  std::vector<double> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

void claim_named_rows(Binder& b) {
  std::vector<const Slot*> of_rows;  // one for each row, where nothing else says how long these are
  const auto claim = [&](const Slot& slot, const std::vector<double>& values, const std::vector<double>& rows) {
    each_named(values, rows, [&](std::size_t, std::int64_t row, std::int64_t value) {
      std::vector<std::int64_t>& lengths = b.named_rows[*slot.value_plate];
      if (value >= kLargestImplied) return;
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
          .notes = {fmt::format("number them from {} within each {}", from_of(b, *slot.value_plate),
                                b.model[*b.model[*slot.value_plate].parent].name)};
      continue;
    }
    if (!given.row || b.settings.part_of) continue;
    if (!given.row->by && slot.axes.size() == 1) of_rows.push_back(&slot);
    const auto rows = given.row->by ? b.arrays.find(b.model[*given.row->by].name) : b.arrays.end();
    if (rows != b.arrays.end()) claim(slot, values->second.values, rows->second.values);
  }
  for (const Slot* slot : of_rows)
    if (const auto& values = b.arrays.at(slot->name).values; !b.named_rows.contains(*slot->value_plate))
      claim(*slot, values, own_rows(values.size()));
}

void check_named_elements(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.given || !b.model[*slot.given].row) continue;
    const Given& given = b.model[*slot.given];
    const PlateId plate = *slot.value_plate, outer = b.model[*b.model[plate].parent].set;
    const std::vector<std::int64_t>& offsets = b.out.offsets[plate.index()];
    const std::vector<double>& values = b.out.givens[slot.given->index()].values;
    const std::vector<double> rows =
        given.row->by ? b.out.givens[given.row->by->index()].values : first_elements(b, slot, values.size());
    std::optional<std::size_t> wrong;
    std::int64_t length = 0, of = 0;
    each_named(values, rows, [&](std::size_t i, std::int64_t row, std::int64_t value) {
      if (wrong || row + 1 >= std::ssize(offsets)) return;
      const auto k = static_cast<std::size_t>(row);
      if (value < offsets[k + 1] - offsets[k]) return;
      wrong = i, of = row, length = offsets[k + 1] - offsets[k];
    });
    if (!wrong) continue;
    problem(b, ExitCode::data, option("data"),
            fmt::format("{} is {:.10g}, but {} {} has {} element{} of plate '{}'", element_name(b, slot, *wrong),
                        values[*wrong] + static_cast<double>(from_of(b, plate)), b.model[outer].name,
                        of + from_of(b, outer), length, length == 1 ? "" : "s", b.model[plate].name))
        .notes = {fmt::format("they are numbered from {} within each {}", from_of(b, plate), b.model[outer].name)};
  }
}

}  // namespace model

std::map<std::string, std::vector<std::int64_t>> named_rows(const model::Model& m, const BoundData& data) {
  std::map<std::string, std::vector<std::int64_t>> out;
  for (const model::Given& g : m.givens) {
    if (!g.row) continue;
    std::vector<std::int64_t> lengths;
    const std::vector<std::int64_t>& offsets = data.offsets[g.value_plate->index()];
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
      lengths.push_back(offsets[row + 1] - offsets[row]);
    out[m[*g.value_plate].name] = std::move(lengths);
  }
  return out;
}

}  // namespace lehr
