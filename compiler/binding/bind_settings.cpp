// Reads the options that give constants, sizes and labels, and evaluates constants. Sizes and labels become claims,
// which are compared with those of the data later.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_map>

#include "compiler/binding/binder.h"
#include "compiler/model/resolver.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// Returns the plate with this name, aliases resolved.
std::optional<PlateId> plate_of(const Model& m, const std::string& name) {
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    if (m.plates[i].name == name && !m.plates[i].stick) return m.plates[i].set;
  }
  return std::nullopt;
}

/// Adds a note with the name that was probably meant, or with all names.
void add_nearest(Error& e, const std::string& name, const std::vector<std::string>& candidates) {
  if (const auto near = nearest(name, candidates)) {
    e.notes.push_back(fmt::format("did you mean '{}'?", *near));
  } else if (!candidates.empty()) {
    std::string all;
    for (const std::string& c : candidates)
      all += (all.empty() ? "" : ", ") + c;
    e.notes.push_back("the model has: " + all);
  }
}

/// Returns why labels cannot name elements, or an empty string if they can. Labels from files were checked when they
/// were read.
std::string label_error(const std::vector<std::string>& labels) {
  std::unordered_map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (find_invalid_utf8(labels[i])) return fmt::format("label {} is not UTF-8: '{}'", i, printable(labels[i]));
    const auto [first, is_new] = positions.emplace(labels[i], i);
    if (!is_new) return fmt::format("labels {} and {} are both '{}'", first->second, i, printable(labels[i]));
  }
  return "";
}

}  // namespace

void read_settings(Binder& b) {
  const Model& m = b.model;
  std::vector<std::string> constants, plates;
  for (const Constant& c : m.constants)
    constants.push_back(c.name);
  for (const Plate& p : m.plates) {
    if (!p.stick) plates.push_back(p.name);
  }
  for (const auto& [name, value] : b.settings.constants) {
    bool is_declared = false;
    for (std::size_t i = 0; i < m.constants.size(); ++i) {
      if (m.constants[i].name != name) continue;
      is_declared = true;
      b.constants[i] = value;
      b.constants_done[i] = true;
      if (!std::isfinite(value)) problem(b, ExitCode::usage, option("set " + name), "the value is not a finite number");
    }
    if (is_declared) continue;
    Error& e = problem(b, ExitCode::usage, option("set " + name), fmt::format("the model has no constant '{}'", name));
    if (plate_of(m, name)) {
      e.notes.push_back(fmt::format("'{0}' is a plate: give its size with {1} {0}=...", name, option("sizes")));
    } else {
      add_nearest(e, name, constants);
    }
  }
  for (const auto& [name, size] : b.settings.sizes) {
    const auto plate = plate_of(m, name);
    if (!plate) {
      add_nearest(
          problem(b, ExitCode::usage, option("sizes " + name), fmt::format("the model has no plate '{}'", name)), name,
          plates);
    } else if (size < 1 || size > kMostElements) {
      problem(b, ExitCode::usage, option("sizes " + name),
              size < 1 ? fmt::format("plate '{}' needs at least one element", name)
                       : fmt::format("plate '{}' has {} elements at most", name, kMostElements));
      /// For a nested plate, --sizes is the length of every row; see fixed_row_length() in bind_sizes.cpp.
    } else if (!m[*plate].parent) {  // of a nested plate: the length of every row
      b.claims[*plate].push_back({size, option("sizes " + name)});
    }
  }
  for (const auto& [name, lengths] : b.settings.rows) {
    const auto plate = plate_of(m, name);
    if (!plate || !m[*plate].parent) continue;
    b.offset_claims[m[*plate].set].push_back({offsets_of(lengths), "the fit", true});
  }
  for (const auto& [name, labels] : b.settings.labels) {
    const auto plate = plate_of(m, name);
    if (!plate) {
      add_nearest(
          problem(b, ExitCode::usage, option("labels " + name), fmt::format("the model has no plate '{}'", name)), name,
          plates);
    } else if (m[*plate].parent) {
      problem(b, ExitCode::usage, option("labels " + name),
              fmt::format("plate '{}' is nested: its elements cannot have labels", name));
    } else if (const std::string why = label_error(labels); !why.empty()) {
      problem(b, ExitCode::usage, option("labels " + name), why);
    } else {
      b.claims[*plate].push_back({static_cast<std::int64_t>(labels.size()), option("labels " + name)});
    }
  }
}

namespace {

/// Returns the message for a constant that is NaN or infinite.
std::string not_finite(const std::string& constant) {
  return fmt::format("the value of constant '{}' is not a finite number", constant);
}

}  // namespace

/// Adds a warning if the data have another number of the name of a constant that the model or an option sets.
static void warn_of_ignored_constant(Binder& b, const Constant& c, std::optional<double> value) {
  const auto it = b.data && value ? b.data->find(c.name) : Dataset::iterator();
  if (!b.data || !value || it == b.data->end()) return;
  const DataArray& a = it->second;
  if (a.values.size() != 1 || !a.levels.empty() || a.values.front() == *value) return;
  warn(b, fmt::format("'{0}' of {1} is not read: the constant is {2}; {3} {0}={4} sets another one", c.name, a.source,
                      *value, option("set"), a.values.front()));
}

std::optional<double> evaluate_constant(Binder& b, ConstantId id) {
  if (b.constants_done[id.index()]) return b.constants[id.index()];
  // Marked before the evaluation, which ends a cycle of constants.
  b.constants_done[id.index()] = true;
  const Constant& c = b.model[id];
  if (c.value) {
    b.constants[id.index()] = evaluate(b, *c.value);
    const auto& value = b.constants[id.index()];
    if (value && !std::isfinite(*value)) problem(b, ExitCode::usage, option("set"), not_finite(c.name));
    warn_of_ignored_constant(b, c, value);
    return value;
  }
  if (b.data) {
    const auto it = b.data->find(c.name);
    if (it != b.data->end() && it->second.values.size() == 1 && it->second.levels.empty()) {
      const double value = it->second.values.front();
      if (!std::isfinite(value)) problem(b, ExitCode::data, it->second.source, not_finite(c.name));
      b.constants[id.index()] = value;
      return value;
    }
  }
  if (!b.data) return std::nullopt;
  problem(b, ExitCode::usage, option("set"), fmt::format("constant '{}' has no value", c.name))
      .notes.push_back(fmt::format("give it with {} {}=...", option("set"), c.name));
  return std::nullopt;
}

}  // namespace lehr::model
