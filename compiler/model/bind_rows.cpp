// Tables with one line for each element of a nested plate, as exports of measurements are (`id, t, y`): a column with
// the name of the outer plate says which row each line belongs to, one with the name of the nested plate orders it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/model/binder.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// The only plate that is nested in `outer`, if there is one.
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

std::string name_of(const DataArray& ids, std::size_t line) {
  const double v = ids.values[line];
  return ids.levels.empty() ? fmt::format("{:.10g}", v) : ids.levels[static_cast<std::size_t>(v)];
}

/// The number within its row must be a whole one, and grow by one from line to line: a gap would be taken for no time
/// at all.
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
                          steps.values[i], outer, printable(name_of(ids, i))))
          .notes = {
          "lines of one row stand in order, one step after another; for a step without observation give a "
          "line with an empty field"};
      return;
    }
  }
}

/// Whether a slot has one value, or one vector, for each row, while its array has one for each line of the table.
bool repeats_on_lines(const Binder& b, const Slot& slot, const DataArray& a, PlateId outer, std::size_t lines) {
  if (a.ragged() || a.shape.empty() || a.shape[0] != static_cast<std::int64_t>(lines)) return false;
  const auto within = [&](PlateId p) { return b.model[p].set == outer; };
  const auto nested = [&](PlateId p) { return b.model[b.model[p].set].parent.has_value(); };
  return !slot.axes.empty() && within(slot.axes[0]) && std::none_of(slot.axes.begin(), slot.axes.end(), nested);
}

/// What the lines say of their row, once: they must agree, and a line may leave it out.
void take_once(Binder& b, DataArray& a, const DataArray& ids, const std::vector<std::int64_t>& offsets,
               const std::string& outer) {
  const std::size_t width = a.values.size() / ids.values.size(), rows = offsets.size() - 1;
  std::vector<double> once(rows * width, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < rows; ++row) {
    for (auto line = static_cast<std::size_t>(offsets[row]); line < static_cast<std::size_t>(offsets[row + 1]);
         ++line) {
      for (std::size_t j = 0; j < width; ++j) {
        const double said = a.values[line * width + j];
        double& value = once[row * width + j];
        if (std::isnan(value)) value = said;
        if (std::isnan(said) || said == value) continue;
        problem(b, ExitCode::data, a.source,
                fmt::format("{} is not the same on all lines of {} {}", a.name, outer, printable(name_of(ids, line))))
            .notes = {fmt::format("it has one value for each {}", outer)};
        return;
      }
    }
  }
  a.values = std::move(once);
  a.shape[0] = static_cast<std::int64_t>(rows);
  a.has_missing = std::any_of(a.values.begin(), a.values.end(), [](double v) { return std::isnan(v); });
}

}  // namespace

void claim_rows_of_tables(Binder& b) {
  for (std::size_t i = 0; i < b.model.plates.size(); ++i) {
    const Plate& outer = b.model.plates[i];
    const auto found = b.data->find(outer.name);
    const auto nested = nested_in(b.model, PlateId(i));
    if (found == b.data->end() || !nested || outer.parent || outer.stick || found->second.shape.size() != 1) continue;
    const DataArray ids = std::move(found->second);
    b.data->erase(found);
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::string> names = {};
    std::map<std::string, std::size_t> seen;
    for (std::size_t line = 0; line < ids.values.size(); ++line) {
      if (std::isnan(ids.values[line])) {
        problem(b, ExitCode::data, ids.source, fmt::format("record {} has no {}", line + 1, outer.name));
        return;
      }
      if (ids.levels.empty() && std::abs(ids.values[line]) >= kToldApart) {
        problem(b, ExitCode::data, ids.source,
                fmt::format("{:.0f} is not told apart from its neighbours", ids.values[line]))
            .notes = {"names of that many digits are written as text: with a letter before them"};
        return;
      }
      if (line > 0 && ids.values[line] == ids.values[line - 1]) continue;
      const std::string name = name_of(ids, line);
      if (!seen.emplace(name, line).second) {
        problem(b, ExitCode::data, ids.source,
                fmt::format("the lines of {} {} do not stand together", outer.name, printable(name)))
            .notes = {fmt::format("sort the table by {}", outer.name)};
        return;
      }
      if (line > 0) offsets.push_back(static_cast<std::int64_t>(line));
      names.push_back(name);
    }
    offsets.push_back(static_cast<std::int64_t>(ids.values.size()));
    if (const auto steps = b.data->find(b.model[*nested].name);
        steps != b.data->end() && steps->second.shape == ids.shape) {
      if (b.model[*nested].ordered) check_steps(b, steps->second, ids, offsets, outer.name);
      b.data->erase(steps);
    }
    for (const Slot& slot : b.slots) {
      const auto it = b.arrays.find(slot.name);
      if (it == b.arrays.end()) continue;
      if (repeats_on_lines(b, slot, it->second, PlateId(i), ids.values.size()))
        take_once(b, it->second, ids, offsets, outer.name);
      else if (slot.axes.size() == 1 && b.model[slot.axes[0]].set == PlateId(i) && it->second.row_labels.empty())
        b.out.remarks.push_back(
            fmt::format("the values of {} are taken in the order in which {} has its names: '{}', ...", slot.name,
                        ids.source, printable(names.front())));
    }
    const std::string source = fmt::format("{} ({})", outer.name, ids.source);
    b.claims[PlateId(i)].push_back({std::ssize(names), source});
    b.offset_claims[*nested].push_back({std::move(offsets), source});
    b.out.labels.resize(b.model.plates.size());
    b.out.labels[i] = std::move(names);
  }
}

}  // namespace lehr::model
