// Drops items with missing values. It finds for each plate the arrays that it is the first axis of, collects their
// gaps, and removes these elements from all of them.
#include "compiler/binding/drop_missing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lehr::model {
namespace {

/// An array whose first axis is the plate. `complete` says that its gaps remove elements; gaps of latent variables do
/// not.
struct PlateArray {
  DataArray* array;
  bool complete;

  std::size_t count() const { return static_cast<std::size_t>(array->shape.front()); }
  std::size_t width() const { return count() == 0 ? 0 : array->values.size() / count(); }
};

/// Returns all arrays whose first axis is the plate.
std::vector<PlateArray> arrays_over(const Model& m, PlateId plate, Dataset& data) {
  std::vector<PlateArray> out;
  const auto add = [&](const std::string& name, const std::vector<PlateId>& axes, bool complete) {
    const auto it = data.find(name);
    if (it == data.end() || axes.empty() || m[axes.front()].set != plate || it->second.shape.empty()) return;
    out.push_back({&it->second, complete});
  };
  for (const Given& g : m.givens)
    add(g.name, g.axes, true);
  for (const Variable& v : m.variables)
    if (!v.auxiliary) add(v.name, v.axes, v.observed);
  return out;
}

/// Returns why elements of the plate cannot be removed; an empty string if they can.
std::string why_not(const Model& m, PlateId plate) {
  if (m[plate].ordered) return "it is ordered: a series goes on through its gaps";
  for (const Plate& p : m.plates)
    if (p.parent && m[*p.parent].set == plate) return fmt::format("'{}' is nested in it", p.name);
  const auto refers = [&](const auto& declared) {
    return declared.value_plate && m[*declared.value_plate].set == plate;
  };
  if (std::any_of(m.givens.begin(), m.givens.end(), refers) ||
      std::any_of(m.variables.begin(), m.variables.end(), refers))
    return "other data refer to its elements by their numbers";
  return "";
}

/// Returns true if the arrays have equally many rows. If not, bind() reports it.
bool agree(const std::vector<PlateArray>& all) {
  return std::all_of(all.begin(), all.end(),
                     [&](const PlateArray& r) { return !r.array->ragged() && r.count() == all.front().count(); });
}

/// Which elements lack a value, and the first array in which one is missing (null if none is).
struct Gaps {
  std::vector<bool> missing;
  const DataArray* first = nullptr;
};

/// Returns the gaps of these arrays.
Gaps gaps_in(const std::vector<PlateArray>& all) {
  Gaps out{std::vector<bool>(all.front().count(), false)};
  for (const PlateArray& a : all) {
    if (!a.complete) continue;
    for (std::size_t k = 0; k < a.array->values.size(); ++k) {
      if (!std::isnan(a.array->values[k])) continue;
      out.missing[k / a.width()] = true;
      if (!out.first) out.first = a.array;
    }
  }
  return out;
}

/// Removes the rows that are marked as missing; a row has `width` values.
template <class T>
void keep(std::vector<T>& values, std::size_t width, const std::vector<bool>& missing) {
  if (values.empty()) return;
  std::size_t to = 0;
  for (std::size_t row = 0; row < missing.size(); ++row)
    for (std::size_t k = 0; k < width && !missing[row]; ++k)
      values[to++] = std::move(values[row * width + k]);
  values.resize(to);
}

}  // namespace

Result<std::vector<std::string>> drop_missing(const Model& model, Dataset& data) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < model.plates.size(); ++i) {
    const PlateId plate(i);
    const std::vector<PlateArray> all =
        model[plate].set == plate ? arrays_over(model, plate, data) : std::vector<PlateArray>();
    if (all.empty() || !agree(all)) continue;
    const Gaps gaps = gaps_in(all);
    if (!gaps.first) continue;
    const std::string& name = model[plate].name;
    if (const std::string why = why_not(model, plate); !why.empty())
      return Error{ExitCode::data,
                   gaps.first->source,
                   fmt::format("elements of '{}' with missing values cannot be left out: {}", name, why),
                   {}};
    const auto left_out = std::count(gaps.missing.begin(), gaps.missing.end(), true);
    if (left_out == std::ssize(gaps.missing))
      return Error{
          ExitCode::data, gaps.first->source, fmt::format("every element of '{}' has missing values", name), {}};
    for (const PlateArray& a : all) {
      keep(a.array->values, a.width(), gaps.missing);
      keep(a.array->row_labels, 1, gaps.missing);
      a.array->shape.front() -= left_out;
      if (a.complete) a.array->has_missing = false;
    }
    out.push_back(
        fmt::format("{} of {} elements of '{}' are left out: values are missing", left_out, gaps.missing.size(), name));
  }
  return out;
}

}  // namespace lehr::model
