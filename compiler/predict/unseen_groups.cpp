// Enlarges plates and the data along them; enlarge_factors.cpp has the factors. A plate grows if sizes, labels, numbers
// or longer arrays in the data ask for it. Observations of new elements are missing, so they are predicted.
#include "compiler/predict/unseen_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "compiler/binding/numeric_names.h"
#include "compiler/binding/table_rows.h"
#include "compiler/model/walk.h"
#include "compiler/score/held_out.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

using namespace model;

/// Larger element numbers in data count as mistakes; bind() reports them.
constexpr double kMaxElementNumber = 1e7;

/// An array that the model reads.
struct Slot {
  std::string name;               // of the array
  std::vector<PlateId> axes;      // its plates, event axes last
  std::optional<PlateId> values;  // of a category: the plate of its values
  bool observed = false;          // true for an observed variable
};

/// Returns all givens and observed variables of a model.
std::vector<Slot> slots_of(const Model& m) {
  std::vector<Slot> out;
  const auto add = [&](const auto& of, bool observed) {
    out.push_back({of.name, of.axes, of.value_plate, observed});
    out.back().axes.insert(out.back().axes.end(), of.event.begin(), of.event.end());
  };
  for (const Given& g : m.givens)
    add(g, false);
  for (const Variable& v : m.variables)
    if (v.observed && !v.auxiliary) add(v, true);
  return out;
}

/// Returns the plate of that name, or nullopt. The implicit plates of sticks do not count.
std::optional<PlateId> plate_of(const Model& m, const std::string& name) {
  for (std::size_t k = 0; k < m.plates.size(); ++k)
    if (m.plates[k].name == name && !m.plates[k].stick) return m.plates[k].set;
  return std::nullopt;
}

/// Returns the axis of an array that runs over the plate; nullopt if there is none, or if the array is packed
/// otherwise.
std::optional<std::size_t> axis_of(const Slot& slot, const DataArray& a, PlateId plate) {
  const auto it = std::ranges::find(slot.axes, plate);
  if (it == slot.axes.end() || a.shape.size() != slot.axes.size()) return std::nullopt;
  return static_cast<std::size_t>(it - slot.axes.begin());
}

/// Returns a latent variable that has the elements of the plate as its values or components, or null. Such a plate
/// cannot grow.
const Variable* built_on(const Model& m, PlateId plate) {
  for (const Variable& v : m.variables) {
    const bool event = std::ranges::find(v.event, plate) != v.event.end();
    if (is_latent(v) && (event || v.value_plate == plate)) return &v;
  }
  return nullptr;
}

/// Appends `more` missing observations along an axis. Rows of different lengths get `more` each.
void pad(DataArray& a, std::size_t axis, std::int64_t more) {
  if (more <= 0) return;
  const double missing = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> out;
  if (a.ragged()) {
    std::vector<std::int64_t> offsets = {0};
    for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
      out.insert(out.end(), a.values.begin() + a.row_offsets[row], a.values.begin() + a.row_offsets[row + 1]);
      out.insert(out.end(), static_cast<std::size_t>(more), missing);
      offsets.push_back(static_cast<std::int64_t>(out.size()));
    }
    a.row_offsets = std::move(offsets);
  } else {
    const auto size = [](auto begin, auto end) {
      return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
    };
    // Copies block by block: everything inside the axis is contiguous.
    const auto here = a.shape.begin() + static_cast<std::ptrdiff_t>(axis);
    const std::int64_t inner = size(here + 1, a.shape.end()), length = *here * inner;
    for (std::int64_t k = 0; k < size(a.shape.begin(), here); ++k) {
      out.insert(out.end(), a.values.begin() + k * length, a.values.begin() + (k + 1) * length);
      out.insert(out.end(), static_cast<std::size_t>(more * inner), missing);
    }
  }
  a.shape[axis] += more;
  a.values = std::move(out);
  a.has_missing = true;
}

/// Appends `more` lines to each run of lines with the same id, in an array that is a column of a table. Ids are
/// repeated, step numbers continue, all else is missing.
void lengthen(DataArray& a, const DataArray& ids, std::int64_t more, bool is_id, bool is_step) {
  const std::size_t lines = ids.values.size(), width = a.values.size() / lines;
  std::vector<double> out;
  for (std::size_t line = 0; line < lines; ++line) {
    const auto here = a.values.begin() + static_cast<std::ptrdiff_t>(line * width);
    out.insert(out.end(), here, here + static_cast<std::ptrdiff_t>(width));
    if (line + 1 < lines && ids.values[line + 1] == ids.values[line]) continue;
    for (std::int64_t k = 1; k <= more; ++k) {
      for (std::size_t j = 0; j < width; ++j)
        out.push_back(is_id     ? here[static_cast<std::ptrdiff_t>(j)]
                      : is_step ? here[static_cast<std::ptrdiff_t>(j)] + static_cast<double>(k)
                                : std::numeric_limits<double>::quiet_NaN());
    }
  }
  a.values = std::move(out);
  a.shape[0] = static_cast<std::int64_t>(a.values.size() / width);
  a.has_missing = a.has_missing || !(is_id || is_step);
}

/// Returns the labels in a column of ids. The column identifies rows that are lines of a table
/// (binding/bind_table_rows.cpp), or the plate's own elements (binding/bind_table_lines.cpp).
std::vector<std::string> labels_of_ids(const Model& m, const Dataset& data, const SavedFit& fit, PlateId plate) {
  const auto ids = data.find(m[plate].name);
  std::vector<std::string> out;
  if (ids == data.end() || ids->second.shape.size() != 1) return out;
  const auto labels = fit.labels.find(m[plate].name);
  const bool is_parent = std::ranges::any_of(m.plates, [&](const Plate& p) { return p.parent == plate; });
  const auto is_label = [&](const std::string& name) {
    return labels != fit.labels.end() && std::ranges::find(labels->second, name) != labels->second.end();
  };
  for (const DataArray* table : all_of(ids->second)) {
    // A column of plain line numbers has no labels.
    const bool names = !table->levels.empty() || m[plate].from > 0 || is_parent ||
                       (!table->values.empty() && is_label(entry_text(*table, 0)));
    for (std::size_t line = 0; names && line < table->values.size(); ++line)
      if (!std::isnan(table->values[line])) out.push_back(entry_text(*table, line));
  }
  return out;
}

/// Enlarges the plates of one prediction.
class PlateEnlarger {
 public:
  PlateEnlarger(const Analysed& analysed, Dataset data, const PlateSizes& given, const SavedFit& fit)
      : model_(analysed.model), given_(given), fit_(fit), slots_(slots_of(model_)) {
    out_.data = std::move(data);
    out_.settings = fitted_settings(analysed, fit);
    for (const auto& [name, size] : out_.settings.sizes)
      fitted_.insert(name);
    std::vector<DataReference> references;
    for (const Slot& slot : slots_)
      references.push_back({slot.name, slot.axes, slot.values, slot.observed});
    name_numbers(model_, references, out_.settings.labels, out_.settings.sizes, false, out_.data);
  }

  /// Enlarges every plate, or returns the reason why one cannot grow.
  Result<EnlargedData> run() {
    for (const auto& [name, size] : given_.sizes)
      out_.settings.sizes.try_emplace(name, size);
    for (const auto& [name, more] : given_.more)
      if (!plate_of(model_, name))
        return Error{ExitCode::usage, option("sizes " + name), fmt::format("the model has no plate '{}'", name), {}};
    for (std::size_t k = 0; k < model_.plates.size(); ++k) {
      if (model_.plates[k].set != PlateId(k) || model_.plates[k].stick) continue;
      if (std::optional<Error> e = grow_plate(PlateId(k))) return *e;
    }
    return std::move(out_);
  }

 private:
  /// Returns what a map by plate name has for the plate, or null.
  const std::int64_t* find(const std::map<std::string, std::int64_t>& in, PlateId plate) const {
    const auto it = in.find(model_[plate].name);
    return it == in.end() ? nullptr : &it->second;
  }

  /// Enlarges one plate: determines its new size from sizes, labels and data, and pads the arrays along it.
  std::optional<Error> grow_plate(PlateId plate) {
    const std::string& name = model_[plate].name;
    const auto fitted = fit_.sizes.find(name);
    const std::int64_t *more = find(given_.more, plate), *size = find(given_.sizes, plate);
    // A plate without global parameters has the size of the data; only `more` elements on top are asked for.
    if (!fitted_.contains(name) || fitted == fit_.sizes.end()) {
      take_item_labels(plate, more ? *more : 0, size ? *size : 0);
      if (more && !lengthen_table(plate, *more)) pad_all(plate, [&](std::int64_t n) { return n + *more; });
      return std::nullopt;
    }
    const std::int64_t before = fitted->second;
    if (size && *size < before)
      return Error{ExitCode::data,
                   option("sizes"),
                   fmt::format("'{}' has {} elements in the fit, and parameters of their own", name, before),
                   {"it can have more, which are predicted, but not fewer"}};
    // A plate of constant size, or one on which a latent variable is built, cannot grow.
    const bool fixed = model_[plate].size.has_value() || built_on(model_, plate);
    const std::int64_t called_for = model_[plate].from > 0 && !fixed ? numbered(plate) : 0;
    // Elements are counted by number, or identified by labels.
    std::vector<std::string> names = called_for > 0 ? std::vector<std::string>() : new_labels(plate);
    for (std::int64_t k = before; k < called_for; ++k)
      names.push_back(fmt::format("{}", model_[plate].from + k));
    if (std::optional<Error> e = size || more || fixed ? std::nullopt : beyond_the_end(plate, before)) return *e;
    if (std::optional<Error> e = size || more || fixed ? std::nullopt : unknown_column(plate)) return *e;
    std::int64_t after = std::max({before + std::ssize(names), size ? *size : 0, before + (more ? *more : 0)});
    if (!fixed) after = std::max(after, longest(plate));
    if (after == before) return std::nullopt;
    if (fixed) return cannot_grow(plate, before, names);
    add_labels(plate, names, after);
    out_.settings.sizes[name] = after;
    out_.notes.push_back(make_note(fmt::format(
        "'{}' has {} element{} that the fit has not seen{}: predicted from {}", name, after - before,
        after - before == 1 ? "" : "s",
        names.empty() ? ""
                      : fmt::format(" ('{}'{})", printable(names[0], names[0].size()), names.size() > 1 ? ", ..." : ""),
        has_chain(plate)      ? "the elements before"
        : after - before == 1 ? "its prior"
                              : "their prior")));
    pad_all(plate, [&](std::int64_t n) { return n == before ? after : n; });
    return std::nullopt;
  }

  /// Gives the elements of a plate that the data size the names that the data have for them, if the fit knows any.
  void take_item_labels(PlateId plate, std::int64_t more, std::int64_t size) {
    const ItemLabels found = item_labels(model_, out_.data, fit_, plate);
    if (found.labels.empty()) return;
    const std::int64_t after = std::max(std::ssize(found.labels) + more, size);
    out_.settings.labels[model_[plate].name] = found.labels;
    add_labels(plate, {}, after);
    out_.named_items[plate] = found;
  }

  /// Returns true if a latent chain runs along the plate: new elements then continue it.
  bool has_chain(PlateId plate) const {
    return std::ranges::any_of(model_.statements, [&](const Statement& s) {
      return s.lagged && model_[model_[*s.lagged].plate].set == plate;
    });
  }

  /// Returns an error if the data name an element after the last one by number: bind() would not know whether it is a
  /// mistake.
  std::optional<Error> beyond_the_end(PlateId plate, std::int64_t before) const {
    const std::int64_t most = model_[plate].from > 0 ? 0 : numbered(plate);
    if (most <= before || fit_.labels.contains(model_[plate].name)) return std::nullopt;
    const std::string& name = model_[plate].name;
    return Error{ExitCode::data,
                 option("data"),
                 fmt::format("the data have element {} of '{}', which has {} elements in the fit, 0 to {}", most - 1,
                             name, before, before - 1),
                 {fmt::format("{} {}=+{} predicts {} more", option("sizes"), name, most - before, most - before)}};
  }

  /// Returns an error if columns of covariates are named by elements of the fit, and others are not: they may be
  /// columns of something else.
  std::optional<Error> unknown_column(PlateId plate) const {
    const std::string& name = model_[plate].name;
    const auto fitted = fit_.labels.find(name);
    if (fitted == fit_.labels.end()) return std::nullopt;
    const std::set<std::string> labels(fitted->second.begin(), fitted->second.end());
    const auto is_new = [&](const std::string& label) { return !labels.contains(label); };
    for (const Slot& slot : slots_) {
      const auto a = out_.data.find(slot.name);
      if (a == out_.data.end() || slot.observed || slot.values == plate) continue;
      const std::vector<std::string> columns = labels_in(slot, a->second, plate, labels);
      const auto found = std::ranges::find_if(columns, is_new);
      if (found == columns.end()) continue;
      const auto more = std::ranges::count_if(columns, is_new);
      return Error{ExitCode::data,
                   a->second.source,
                   fmt::format("'{}' is no element of plate '{}', and others of the columns are",
                               printable(*found, found->size()), name),
                   {fmt::format("{} {}=+{} predicts {} more", option("sizes"), name, more, more)}};
    }
    return std::nullopt;
  }

  /// Returns the error for a plate that cannot grow: it names the first of the labels that the fit does not have.
  Error cannot_grow(PlateId plate, std::int64_t before, const std::vector<std::string>& names) const {
    const Variable* v = built_on(model_, plate);
    const std::string& name = model_[plate].name;
    const std::string instead =
        v ? "fit the model again"
          : fmt::format("fit the model again: new elements are predicted of a `plate {}` without a size", name);
    for (const Slot& slot : slots_) {
      const auto a = out_.data.find(slot.name);
      const auto fitted = fit_.labels.find(name);
      if (names.empty() || a == out_.data.end() || slot.values != plate || fitted == fit_.labels.end()) continue;
      for (std::size_t k = 0; k < a->second.values.size(); ++k) {
        if (std::isnan(a->second.values[k]) || entry_text(a->second, k) != names[0]) continue;
        return Error{ExitCode::data,
                     a->second.source,
                     fmt::format("{}[{}] is '{}', and '{}' has {} elements in the fit: {}", slot.name, k,
                                 printable(names[0], names[0].size()), name, before, first_of(fitted->second)),
                     {"a misspelt name makes a new element", instead}};
      }
    }
    return Error{ExitCode::data,
                 option("sizes"),
                 fmt::format("'{}' has {} elements in the fit, and {} has no place for more", name, before,
                             v ? "'" + v->name + "'" : "the model"),
                 {instead}};
  }

  /// Lists the first labels of a plate.
  static std::string first_of(const std::vector<std::string>& labels) {
    constexpr std::size_t kShown = 8;
    std::vector<std::string> out;
    for (std::size_t k = 0; k < std::min(kShown, labels.size()); ++k)
      out.push_back(printable(labels[k], labels[k].size()));
    return fmt::format("{}{}", fmt::join(out, ", "), labels.size() > kShown ? ", ..." : "");
  }

  /// Returns the labels in the data that the fit does not have, in the order of the data. Returns none for plates that
  /// cannot grow: bind() reports their unknown labels.
  std::vector<std::string> new_labels(PlateId plate) const {
    std::vector<std::string> out;
    const auto fit_labels = fit_.labels.find(model_[plate].name);
    if (fit_labels == fit_.labels.end() || built_on(model_, plate)) return out;
    std::set<std::string> seen(fit_labels->second.begin(), fit_labels->second.end());
    for (const Slot& slot : slots_) {
      const auto a = out_.data.find(slot.name);
      if (a == out_.data.end()) continue;
      for (const std::string& label : labels_in(slot, a->second, plate, seen))
        if (seen.insert(label).second) out.push_back(label);
    }
    for (const std::string& label : labels_of_ids(model_, out_.data, fit_, plate))
      if (seen.insert(label).second) out.push_back(label);
    return out;
  }

  /// Returns the size that the plate needs for the largest element number in the data, where elements are counted from
  /// more than 0.
  std::int64_t numbered(PlateId plate) const {
    const std::int64_t from = model_[plate].from;
    double last = -1;
    const auto look = [&](DataArray a) {
      parse_numeric_levels(a);
      if (!a.levels.empty() || a.of_columns) return;
      for (const double v : a.values)
        if (v > last && v < kMaxElementNumber) last = v;
    };
    for (const Slot& slot : slots_)
      if (const auto a = out_.data.find(slot.name); a != out_.data.end() && slot.values == plate) look(a->second);
    if (!labels_of_ids(model_, out_.data, fit_, plate).empty()) {
      for (const DataArray* ids : all_of(out_.data.at(model_[plate].name)))
        look(*ids);
    }
    return static_cast<std::int64_t>(last) + 1 - from;
  }

  /// Returns the labels that an array has for elements of the plate: its own values, or its columns if any of them is
  /// in `seen`.
  static std::vector<std::string> labels_in(const Slot& slot, const DataArray& a, PlateId plate,
                                            const std::set<std::string>& seen) {
    if (slot.values == plate) return a.levels;
    const auto is_seen = [&](const std::string& name) { return seen.contains(name); };
    const bool columns = a.shape.size() > 1 && axis_of(slot, a, plate) == a.shape.size() - 1 &&
                         std::ranges::any_of(a.axis_labels, is_seen);
    return columns ? a.axis_labels : std::vector<std::string>();
  }

  /// Returns the length of the longest array along the plate.
  std::int64_t longest(PlateId plate) const {
    std::int64_t out = 0;
    for (const Slot& slot : slots_) {
      const auto a = out_.data.find(slot.name);
      if (a == out_.data.end() || a->second.ragged()) continue;
      if (const auto axis = axis_of(slot, a->second, plate)) out = std::max(out, a->second.shape[*axis]);
    }
    return out;
  }

  /// Appends labels for new elements; elements without one are labelled by number.
  void add_labels(PlateId plate, const std::vector<std::string>& names, std::int64_t size) {
    const auto labels = out_.settings.labels.find(model_[plate].name);
    if (labels == out_.settings.labels.end()) return;
    labels->second.insert(labels->second.end(), names.begin(), names.end());
    while (std::ssize(labels->second) < size)
      labels->second.push_back(fmt::format("{}", model_[plate].from + std::ssize(labels->second)));
  }

  /// Appends `more` lines to each row of a nested plate if its rows are lines of a table (binding/bind_table_rows.cpp).
  /// Returns false if they are not.
  bool lengthen_table(PlateId plate, std::int64_t more) {
    if (!model_[plate].parent) return false;
    auto found = out_.data.find(model_[*model_[plate].parent].name);
    if (found == out_.data.end() || found->second.shape.size() != 1 || found->second.values.empty()) return false;
    const bool alone = found->second.duplicates.empty();
    found = put_first(out_.data, found, matching_id_column(model_, slots_, out_.data, found->second, plate));
    const DataArray ids = found->second;
    for (auto& [name, a] : out_.data) {
      const bool of_lines =
          !a.ragged() && !a.shape.empty() && a.shape[0] == ids.shape[0] && (alone || of_one_file(a, ids));
      if (of_lines) lengthen(a, ids, more, name == ids.name || name == found->first, name == model_[plate].name);
    }
    return true;
  }

  /// Returns true if a column of ids orders the lines of this array (binding/bind_table_lines.cpp). Binding then fills
  /// its gaps.
  bool has_ids(const DataArray& a, PlateId plate) const {
    const auto found = out_.data.find(model_[plate].name);
    if (found == out_.data.end() || a.shape.empty()) return false;
    return std::ranges::any_of(all_of(found->second), [&](const DataArray* ids) {
      return ids->shape == std::vector{a.shape[0]} && of_one_file(a, *ids);
    });
  }

  /// Pads all observations along the plate to the length that `length` returns for theirs.
  template <class F>
  void pad_all(PlateId plate, const F& length) {
    for (const Slot& slot : slots_) {
      const auto a = out_.data.find(slot.name);
      if (!slot.observed || a == out_.data.end() || !a->second.multiplicity.empty()) continue;
      const auto axis = axis_of(slot, a->second, plate);
      if (axis && !(*axis == 0 && has_ids(a->second, plate)))
        pad(a->second, *axis, length(a->second.shape[*axis]) - a->second.shape[*axis]);
    }
  }

  const Model& model_;
  const PlateSizes& given_;
  const SavedFit& fit_;
  std::vector<Slot> slots_;
  EnlargedData out_;
  std::set<std::string> fitted_;  // plates of global parameters
};

}  // namespace

ItemLabels item_labels(const Model& m, const Dataset& data, const SavedFit& fit, PlateId plate) {
  const auto fitted = fit.labels.find(m[plate].name);
  ItemLabels out;
  if (fitted == fit.labels.end() || m[plate].parent || m[plate].stick || m[plate].from > 0) return out;
  // Rows that a table numbers have their numbers as labels.
  std::size_t numbered = 0;
  while (numbered < fitted->second.size() && fitted->second[numbered] == fmt::format("{}", numbered))
    ++numbered;
  if (numbered == fitted->second.size()) return out;
  const std::vector<std::string> names = labels_of_ids(m, data, fit, plate);
  std::set<std::string> left(names.begin(), names.end());
  for (const std::string& label : fitted->second) {
    if (left.erase(label) > 0) out.labels.push_back(label);
    else if (out.absent.empty()) out.absent = label;
  }
  out.of_fit = out.labels.size();
  if (out.of_fit == 0) return {};
  for (const std::string& name : names)
    if (left.erase(name) > 0) out.labels.push_back(name);
  return out;
}

Result<EnlargedData> enlarge_plates(const Analysed& analysed, Dataset data, const PlateSizes& given,
                                    const SavedFit& fit) {
  return PlateEnlarger(analysed, std::move(data), given, fit).run();
}

}  // namespace lehr
