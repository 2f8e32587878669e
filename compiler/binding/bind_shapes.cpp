// Finds the array of each name of the model, and derives claims about sizes from the shapes of arrays.
//
// Arrays come in several forms: dense with one axis per plate; ragged, with rows of different lengths; concatenated
// rows with separate lengths; sparse counts (LDA-C). Here they are brought to the forms that the axes of the slot
// demand.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/binding/binder.h"
#include "compiler/binding/numeric_names.h"
#include "compiler/model/resolver.h"
#include "runtime/host.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// Returns the shape of an array for messages: "3 x 4".
std::string shape_text(const DataArray& a) {
  if (a.ragged()) return fmt::format("{} rows of different lengths", a.shape.empty() ? 0 : a.shape[0]);
  std::string out;
  for (const std::int64_t n : a.shape)
    out += (out.empty() ? "" : " x ") + fmt::format("{}", n);
  return out.empty() ? "a single number" : out;
}

/// Returns a slot with the file of its array for messages: "x (points.npy)".
std::string source_of(const Slot& slot, const DataArray& a) { return fmt::format("{} ({})", slot.name, a.source); }

/// Returns the multiplicity that the counts of an LDA-C array of this slot belong to, or nothing if no plate has
/// `times`.
std::optional<GivenId> times_of(const Binder& b, const Slot& slot) {
  for (const PlateId p : slot.axes) {
    if (b.model[p].times) return b.model[p].times;
  }
  return std::nullopt;
}

/// Returns true if this many numbers fit into memory; reports a problem otherwise.
bool fits_in_memory(Binder& b, const DataArray& a, double count, const char* as) {
  const double available = static_cast<double>(available_memory());
  if (8 * count <= available) return true;
  problem(b, ExitCode::data, a.source,
          fmt::format("'{}' needs {} {}, and {} is available", a.name, format_bytes(8 * count), as,
                      format_bytes(available)));
  return false;
}

/// Expands sparse counts for a model without `times`: every copy becomes an element of its own.
void expand_copies(Binder& b, DataArray& a) {
  const double copies = std::accumulate(a.multiplicity.begin(), a.multiplicity.end(), 0.0);
  if (!fits_in_memory(b, a, copies, "as single copies")) return;
  std::vector<double> values;
  std::vector<std::int64_t> offsets = {0};
  std::int64_t longest = 0;
  for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
    for (auto i = static_cast<std::size_t>(a.row_offsets[row]); i < static_cast<std::size_t>(a.row_offsets[row + 1]);
         ++i) {
      values.insert(values.end(), static_cast<std::size_t>(a.multiplicity[i]), a.values[i]);
    }
    offsets.push_back(static_cast<std::int64_t>(values.size()));
    longest = std::max(longest, offsets.back() - offsets[row]);
  }
  a.values = std::move(values);
  a.row_offsets = std::move(offsets);
  a.shape = {static_cast<std::int64_t>(a.row_offsets.size()) - 1, longest};
  a.multiplicity.clear();
}

/// Makes a dense table of sparse counts: one row per document, one column per term.
void make_dense(Binder& b, DataArray& a, PlateId term) {
  double largest = a.largest;
  for (const double v : a.values)
    largest = std::max(largest, v);
  std::int64_t width = static_cast<std::int64_t>(largest) + 1;
  const auto& claims = b.claims[term];
  if (!claims.empty()) width = std::max(width, claims.front().size);
  const std::int64_t rows = static_cast<std::int64_t>(a.row_offsets.size()) - 1;
  if (!fits_in_memory(b, a, static_cast<double>(rows) * static_cast<double>(width), "as a table of counts")) return;
  std::vector<double> dense(static_cast<std::size_t>(rows * width), 0.0);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (auto i = a.row_offsets[static_cast<std::size_t>(row)]; i < a.row_offsets[static_cast<std::size_t>(row) + 1];
         ++i) {
      const auto at = static_cast<std::size_t>(i);
      dense[static_cast<std::size_t>(row * width) + static_cast<std::size_t>(a.values[at])] += a.multiplicity[at];
    }
  }
  a.values = std::move(dense);
  a.shape = {rows, width};
  a.row_offsets.clear();
  a.multiplicity.clear();
}

/// Returns true if a column named like a nested plate numbers the lines of a table, instead of giving lengths of rows.
/// Arrays over the plate then have as many values as the column. (If all rows had length 1, lengths would be as many,
/// too.)
bool enumerates_lines(const Binder& b, PlateId plate, const DataArray& a) {
  if (a.values.empty() || std::ranges::all_of(a.values, [](double v) { return v == 1; })) return false;
  return std::ranges::any_of(b.slots, [&](const Slot& slot) {
    const auto it = b.arrays.find(slot.name);
    if (it == b.arrays.end() || it->second.ragged() || it->second.shape.empty()) return false;
    const auto within = [&](PlateId p) { return b.model[p].set == plate; };
    /// The array is not a table of sequences of equal length.
    return std::ranges::any_of(slot.axes, within) && it->second.shape[0] == std::ssize(a.values) &&
           (it->second.shape.size() == 1 || slot.event_rank > 0);
  });
}

/// Adds a warning if a column of texts that begin with a digit, such as dates, is named like an ordered plate and does
/// not ascend. It is not read, and lines are elements one after another.
void warn_of_ignored_dates(Binder& b, const Plate& plate, const DataArray& a) {
  const auto is_date = [](const std::string& text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; };
  if (!plate.ordered || !std::ranges::all_of(a.levels, is_date)) return;
  const auto fall = std::ranges::adjacent_find(a.values, std::greater());
  if (fall == a.values.end()) return;
  const auto line = static_cast<std::size_t>(fall - a.values.begin());
  warn(b,
       fmt::format("{} is not read: its lines are elements of plate '{}' one after another, and line {} is '{}' after "
                   "'{}'; sort the lines",
                   a.source, plate.name, line + 2, printable(entry_text(a, line + 1)), printable(entry_text(a, line))));
}

/// Adds a warning if a column named like a plate contains other numbers than those of the lines. It is not read, so
/// steps that it leaves out are not noticed.
void warn_of_ignored_column(Binder& b, const Plate& plate, const DataArray& a) {
  if (a.shape.size() != 1 || a.values.empty() || (plate.from == 0 && !plate.ordered)) return;
  if (!a.levels.empty()) return warn_of_ignored_dates(b, plate, a);
  const double first = plate.from > 0 ? static_cast<double>(plate.from) : a.values[0];
  std::size_t line = 0;
  while (line < a.values.size() && a.values[line] == first + static_cast<double>(line))
    ++line;
  if (line == a.values.size()) return;
  warn(b, fmt::format("{} is not read: its lines are elements of plate '{}' one after another, and line "
                      "{} is {:.10g} where that would be {:.10g}",
                      a.source, plate.name, line + 1, a.values[line], first + static_cast<double>(line)));
}

/// Adds claims from arrays that are named like nested plates: they are the lengths of their rows.
void claim_lengths(Binder& b) {
  for (std::size_t i = 0; i < b.model.plates.size(); ++i) {
    const Plate& p = b.model.plates[i];
    const auto it = b.data->find(p.name);
    if (it == b.data->end() || p.stick) continue;
    const DataArray& a = it->second;
    if (!b.model[p.set].parent &&
        !a.named_by_binding) {  // such an array is one of those in a file that the model does not need
      warn_of_ignored_column(b, p, a);
      continue;
    }
    if (!b.model[p.set].parent) {
      problem(b, ExitCode::data, a.source,
              fmt::format("'{}' is a plate: only lengths of the rows of a nested plate can be bound", p.name))
          .notes.push_back(fmt::format("its size is given by {} {}=..., or by data over it", option("sizes"), p.name));
      continue;
    }
    if (enumerates_lines(b, p.set, a)) {
      const std::string& outer = b.model[*b.model[p.set].parent].name;
      problem(b, ExitCode::data, a.source, fmt::format("nothing says which {} each line belongs to", outer)).notes = {
          fmt::format("a column '{}' does, or one of another name: {} {}=FILE:COLUMN", outer, option("data"), outer),
          fmt::format("'{}' has as many numbers as there are lines: lengths would be one for each {}", p.name, outer)};
      return;
    }
    std::vector<std::int64_t> offsets = {0};
    for (const double v : a.values) {
      if (!(v >= 0) || v != std::floor(v) || v > 1e15) {
        problem(b, ExitCode::data, a.source, fmt::format("the lengths of '{}' must be whole numbers from 0", p.name));
        return;
      }
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(v));
    }
    const std::string source = fmt::format("{} ({})", p.name, a.source);
    const PlateId parent = *b.model[p.set].parent;
    if (!b.model[parent].parent) b.claims[parent].push_back({static_cast<std::int64_t>(a.values.size()), source});
    b.offset_claims[p.set].push_back({std::move(offsets), source});
  }
}

/// Axes of a slot that are packed into one: a plate with all plates nested in it, one after another.
struct Group {
  std::size_t first, count;
};

/// Returns the groups of a slot's axes in order.
std::vector<Group> groups_of(const Binder& b, const Slot& slot) {
  std::vector<Group> out;
  for (std::size_t i = 0; i < slot.axes.size(); ++i) {
    if (b.model[slot.axes[i]].parent && !out.empty()) {
      ++out.back().count;
    } else {
      out.push_back({i, 1});
    }
  }
  return out;
}

/// Reports an array whose number of axes does not match that of its slot.
void wrong_axes(Binder& b, const Slot& slot, const DataArray& a) {
  Error& e =
      problem(b, ExitCode::data, a.source,
              fmt::format("'{}' has {} {} here ({}), but {} has {}", slot.name, a.shape.size(),
                          a.shape.size() == 1 ? "axis" : "axes", shape_text(a), signature(b, slot), slot.axes.size()));
  for (const PlateId p : slot.axes) {
    if (b.model[p].parent && a.shape.size() + 1 == slot.axes.size()) {
      e.notes.push_back(
          fmt::format("for rows joined end to end bind the lengths of the rows too: {}=lengths.npy", b.model[p].name));
    }
  }
}

/// Adds an axis of one element to a single column that is bound to a name with columns as an axis.
void as_columns(const Binder& b, const Slot& slot, DataArray& a) {
  const std::vector<Group> groups = groups_of(b, slot);
  if (a.axis_labels.size() == 1 && a.shape.size() == 1 && groups.size() == 2 && groups.back().count == 1)
    a.shape.push_back(1);
}

/// Returns the number of values in a row of a ragged array.
std::int64_t row_length(const DataArray& a, std::int64_t row) {
  const auto at = static_cast<std::size_t>(row);
  return a.row_offsets[at + 1] - a.row_offsets[at];
}

/// Reports a ragged array whose slot needs rows of one length.
void unequal_rows(Binder& b, const Slot& slot, const DataArray& a) {
  std::int64_t row = 1;
  while (row + 2 < std::ssize(a.row_offsets) && row_length(a, row) == row_length(a, 0))
    ++row;
  const std::string &outer = b.model[slot.axes[0]].name, &inner = b.model[slot.axes[1]].name;
  problem(b, ExitCode::data, a.source,
          fmt::format("the rows of '{}' differ in length: row 0 has {} elements, row {} has {}; {} needs one size "
                      "of '{}' for every '{}'",
                      slot.name, row_length(a, 0), row, row_length(a, row), signature(b, slot), inner, outer))
      .notes.push_back(
          fmt::format("rows whose length varies are numbers over a nested plate: `plate {1} in {2}`, {0}[{2}, {1}]",
                      slot.name, inner, outer));
}

/// Adds a claim about the rows of a nested plate.
void claim_rows(Binder& b, PlateId plate, std::vector<std::int64_t> offsets, const std::string& source) {
  b.offset_claims[plate].push_back({std::move(offsets), source});
}

/// Pads ragged rows of concentrations with zeros: an element that a row does not have never occurs in it.
void pad_with_zeros(Binder& b, DataArray& a, PlateId values) {
  const std::int64_t rows = std::ssize(a.row_offsets) - 1;
  std::int64_t width = 0;
  for (const Claim& c : b.claims[values])
    width = std::max(width, c.size);
  if (const auto size = b.model[values].size ? evaluate(b, *b.model[values].size) : std::nullopt)
    width = std::max(width, static_cast<std::int64_t>(*size));
  for (std::int64_t row = 0; row < rows; ++row)
    width = std::max(width, row_length(a, row));
  if (!fits_in_memory(b, a, static_cast<double>(rows) * static_cast<double>(width), "as rows of one length")) return;
  std::vector<double> padded;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto begin = a.values.begin() + a.row_offsets[static_cast<std::size_t>(row)];
    padded.insert(padded.end(), begin, begin + row_length(a, row));
    padded.resize(static_cast<std::size_t>((row + 1) * width), 0.0);
  }
  a.values = std::move(padded);
  a.shape = {rows, width};
  a.row_offsets.clear();
}

/// Returns the offsets of `rows` rows of equal length.
std::vector<std::int64_t> equal_rows(std::int64_t rows, std::int64_t length) {
  std::vector<std::int64_t> out = {0};
  for (std::int64_t i = 0; i < rows; ++i)
    out.push_back(out.back() + length);
  return out;
}

/// Adds claims about the plates of a slot from the shape of its array.
void claim_shape(Binder& b, const Slot& slot, DataArray& a) {
  const std::string source = source_of(slot, a);
  const std::vector<Group> groups = groups_of(b, slot);
  const bool unequal = a.ragged() && slot.axes.size() == 2 && groups.size() == 2;
  if (unequal && is_concentration(b, slot)) pad_with_zeros(b, a, slot.axes[1]);
  if (slot.axes.empty()) {
    if (a.values.size() != 1) wrong_axes(b, slot, a);
    return;
  }
  // A ragged array has one row for each element of the outer plate.
  if (a.ragged()) {
    if (unequal) {
      unequal_rows(b, slot, a);
      return;
    }
    if (slot.axes.size() != 2 || groups.size() != 1) {
      wrong_axes(b, slot, a);
      return;
    }
    b.claims[slot.axes[0]].push_back({static_cast<std::int64_t>(a.row_offsets.size()) - 1, source});
    claim_rows(b, slot.axes[1], a.row_offsets, source);
    return;
  }
  if (a.values.empty() &&
      std::any_of(a.shape.begin(), a.shape.end(), [](std::int64_t n) { return n > kMostElements; })) {
    problem(b, ExitCode::data, a.source, fmt::format("'{}' has no elements here ({})", slot.name, shape_text(a)));
    return;
  }
  std::vector<std::int64_t> shape = a.shape;
  if (shape == std::vector<std::int64_t>{0} && slot.axes.size() > 1) {  // an empty list has lost its further axes
    b.claims[slot.axes[0]].push_back({0, source});
    for (std::size_t j = 1; j < groups[0].count; ++j)
      claim_rows(b, slot.axes[j], {0}, source);
    return;
  }
  if (shape.size() == slot.axes.size() + 1 && shape.back() == 1) shape.pop_back();  // a column of a table
  // One axis for each plate. Rows of nested plates then have one length.
  if (shape.size() == slot.axes.size()) {
    std::size_t at = 0;
    for (const Group& g : groups) {
      b.claims[slot.axes[g.first]].push_back({shape[at], source});
      std::int64_t rows = shape[at++];
      for (std::size_t j = 1; j < g.count; ++j, ++at) {
        claim_rows(b, slot.axes[g.first + j], equal_rows(rows, shape[at]), source);
        rows *= shape[at];
      }
    }
    return;
  }
  /// The rows of nested plates are concatenated: claims about their lengths must be there already.
  if (shape.size() == groups.size()) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const PlateId leaf = slot.axes[groups[i].first + groups[i].count - 1];
      if (groups[i].count == 1) {
        b.claims[leaf].push_back({shape[i], source});
      } else if (b.offset_claims[leaf].empty()) {
        wrong_axes(b, slot, a);
        return;
      } else if (b.offset_claims[leaf].front().offsets.back() != shape[i]) {
        problem(b, ExitCode::data, a.source,
                fmt::format("'{}' has {} elements here, but the lengths of '{}' add up to {}", slot.name, shape[i],
                            b.model[leaf].name, b.offset_claims[leaf].front().offsets.back()));
        return;
      }
    }
    return;
  }
  wrong_axes(b, slot, a);
}

/// Handles the counts of a sparse array: as a dense table, as single copies, or as the array of the plate's
/// multiplicity.
void convert_multiplicity(Binder& b, const Slot& slot, DataArray& a) {
  const bool no_elements = a.ragged() && a.values.empty();
  if (a.multiplicity.empty() && !no_elements) return;
  if (slot.axes.size() == 2 && !b.model[slot.axes[1]].parent && !slot.value_plate) {
    make_dense(b, a, slot.axes[1]);
    return;
  }
  const auto times = times_of(b, slot);
  if (!times || !b.observed_needed) {  // simulation draws each copy by itself
    expand_copies(b, a);
    return;
  }
  const std::string& name = b.model[*times].name;
  if (b.data->contains(name)) {
    a.multiplicity.clear();
    return;
  }
  DataArray counts;
  counts.name = name;
  counts.shape = a.shape;
  counts.values = std::move(a.multiplicity);
  counts.row_offsets = a.row_offsets;
  counts.integral = true;
  counts.source = a.source;
  b.arrays.insert_or_assign(name, std::move(counts));
  a.multiplicity.clear();
}

/// Returns the plate whose elements the values of an array are. For sparse counts of a row, the values are positions in
/// the row.
std::optional<PlateId> numbered(const Slot& slot, const DataArray& a) {
  if (slot.value_plate || a.multiplicity.empty() || slot.axes.size() != 2) return slot.value_plate;
  return slot.axes[1];
}

/// Subtracts Plate::from from values that are numbers of elements, so that they count from 0. Text that consists of
/// numbers is converted first.
void count_from_zero(Binder& b, const Slot& slot, DataArray& a) {
  const std::optional<PlateId> values = numbered(slot, a);
  const Plate* plate = values ? &b.model[b.model[*values].set] : nullptr;
  if (!plate || plate->from == 0 || a.of_columns) return;
  parse_numeric_levels(a);
  if (!a.levels.empty()) return;
  const auto from = static_cast<double>(plate->from);
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    double& v = a.values[k];
    if (std::isnan(v)) continue;
    if (v < from || v != std::floor(v)) {
      problem(b, ExitCode::data, a.source,
              fmt::format("{}{} is {:.10g}, but it must be the number of an element of plate '{}' ({}, {}, ...)",
                          slot.name, a.shape.size() == 1 ? fmt::format("[{}]", k) : " somewhere", v, plate->name,
                          plate->from, plate->from + 1));
      return;
    }
    v -= from;
  }
  if (a.largest >= 0) a.largest -= from;
}

/// Returns the name of the plate that the slot's values are elements of, if the data have an array of that name; else
/// an empty string.
std::string named_as_its_plate(const Binder& b, const Slot& slot) {
  for (const Plate& p : b.model.plates)
    if (slot.value_plate && p.set == b.model[*slot.value_plate].set && b.data->contains(p.name)) return p.name;
  return "";
}

/// Makes numbers that are names text (numeric_names.h).
void name_numbers_in_data(Binder& b) {
  std::vector<DataReference> references;
  for (const Slot& slot : b.slots)
    references.push_back({slot.name, slot.axes, slot.value_plate, slot.variable.has_value()});
  name_numbers(b.model, references, b.settings.labels, b.settings.sizes, b.settings.subset_plate.has_value(), *b.data);
}

}  // namespace

void match_arrays(Binder& b) {
  name_numbers_in_data(b);
  for (const Slot& slot : b.slots) {
    const auto it = b.data->find(slot.name);
    if (it == b.data->end()) continue;
    DataArray array = std::move(it->second);
    if (!array.duplicates.empty())
      b.problems.push_back(duplicate_name_error(option("data"), array, array.duplicates.front()));
    count_from_zero(b, slot, array);
    convert_multiplicity(b, slot, array);
    b.arrays.insert_or_assign(slot.name, std::move(array));
  }
  std::vector<std::string> bound;
  for (const auto& [name, array] : *b.data)
    bound.push_back(name);
  for (const Slot& slot : b.slots) {
    if (b.arrays.contains(slot.name)) continue;
    const bool multiplicity = is_multiplicity(b, slot);
    if (!b.observed_needed && (slot.variable || multiplicity)) continue;
    Error& e = problem(b, ExitCode::data, option("data"), fmt::format("nothing is bound to {}", signature(b, slot)));
    if (multiplicity) {
      e.notes.push_back(
          fmt::format("it is the number of copies of each element: bind {}=..., or bind the data over it "
                      "to an LDA-C file, or delete `times {}` from the model",
                      slot.name, slot.name));
    } else if (const std::string plate = named_as_its_plate(b, slot); !plate.empty()) {
      e.notes.push_back(
          fmt::format("the data have '{0}', which is the name of the plate whose elements {1} names: bind "
                      "the column by {2} {1}=FILE.csv:{0}",
                      plate, slot.name, option("data")));
    } else if (const auto near = nearest(slot.name, bound)) {
      e.notes.push_back(fmt::format("the data have '{}'", printable(*near)));
    } else if (bound.empty()) {
      e.notes.push_back(fmt::format("bind it with {} {}=FILE", option("data"), slot.name));
    } else {
      std::string all;
      for (std::size_t i = 0; i < bound.size() && i < 12; ++i)
        all += (all.empty() ? "" : ", ") + printable(bound[i]);
      e.notes.push_back("the data have: " + all + (bound.size() > 12 ? ", ..." : ""));
      e.notes.push_back(fmt::format("columns of a table are bound by {} {}=FILE.csv:{}", option("data"), slot.name,
                                    slot.axes.size() > 1 ? "COLUMN,COLUMN" : "COLUMN"));
    }
  }
}

void claim_shapes(Binder& b) {
  match_table_rows(b);
  match_table_lines(b);
  claim_lengths(b);
  for (const Slot& slot : b.slots) {
    const auto it = b.arrays.find(slot.name);
    if (it == b.arrays.end()) continue;
    as_columns(b, slot, it->second);
    claim_shape(b, slot, it->second);
  }
}

}  // namespace lehr::model
