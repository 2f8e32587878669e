// Follows the path of an element through nested plates by their row offsets, and names each step of it. A labelled
// element is named by its label alone.
#include "compiler/posterior/element_names.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/terminal/printable.h"

namespace lehr {

const std::string* find_label(const SavedFit& fit, const std::string& plate, std::size_t index) {
  const auto it = fit.labels.find(plate);
  return it != fit.labels.end() && index < it->second.size() ? &it->second[index] : nullptr;
}

std::vector<PlatePosition> path_of(const SavedFit& fit, const std::string& plate, std::size_t index) {
  const auto it = fit.nested.find(plate);
  if (it == fit.nested.end() || find_label(fit, plate, index)) return {{plate, index}};
  const std::vector<std::int64_t>& offsets = it->second.offsets;
  // The row that contains the element is the last one that begins at or before it.
  const auto after = std::ranges::upper_bound(offsets, static_cast<std::int64_t>(index));
  if (after == offsets.begin() || after == offsets.end()) return {{plate, index}};
  std::vector<PlatePosition> out = path_of(fit, it->second.in, static_cast<std::size_t>(after - offsets.begin() - 1));
  out.push_back({plate, index - static_cast<std::size_t>(*(after - 1))});
  return out;
}

std::size_t first_number(const SavedFit& fit, const std::string& plate) {
  const auto it = fit.nested.find(plate);
  return it == fit.nested.end() ? 0 : static_cast<std::size_t>(it->second.from);
}

std::string element(const SavedFit& fit, const std::string& plate, std::size_t index) {
  std::vector<std::string> names;
  for (const auto& [of, number] : path_of(fit, plate, index)) {
    // A plate without a name is printed as the number alone.
    const std::string* label = find_label(fit, of, number);
    names.push_back(label        ? printable(*label)
                    : of.empty() ? fmt::format("{}", number)
                                 : fmt::format("{} {}", of, first_number(fit, of) + number));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string element(const SavedFit& fit, const std::vector<std::string>& plates,
                    const std::vector<std::int64_t>& extents, std::size_t position) {
  std::vector<std::string> names;
  for (const std::size_t k : unravel(extents, position))
    names.push_back(element(fit, plates[names.size()], k));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> stored_axes(const SavedFit& fit, std::vector<std::string> plates, std::size_t count) {
  for (std::size_t k = plates.size(); k-- > 1 && plates.size() > count;) {
    const auto it = fit.nested.find(plates[k]);
    if (it != fit.nested.end() && it->second.in == plates[k - 1])
      plates.erase(plates.begin() + static_cast<std::ptrdiff_t>(k - 1));
  }
  // Without the rows of nested plates, those that are left out are at the front.
  if (plates.size() > count) plates.erase(plates.begin(), plates.end() - static_cast<std::ptrdiff_t>(count));
  while (plates.size() < count)
    plates.insert(plates.begin(), fmt::format("axis_{}", count - plates.size() - 1));
  return plates;
}

std::vector<std::string> index_of(const SavedFit& fit, const SavedVariable& v, const Moments& m, std::size_t position) {
  std::vector<std::string> axes = stored_axes(fit, v.axes, m.elements.size());
  std::ranges::copy(stored_axes(fit, v.event, m.event.size()), std::back_inserter(axes));
  std::vector<std::int64_t> shape = m.elements;
  shape.insert(shape.end(), m.event.begin(), m.event.end());
  const std::vector<std::size_t> at = unravel(shape, position);
  std::vector<std::string> out;
  for (std::size_t k = 0; k < at.size(); ++k) {
    for (const auto& [plate, number] : path_of(fit, axes[k], at[k])) {
      const std::string* label = find_label(fit, plate, number);
      out.push_back(label ? *label : fmt::format("{}", first_number(fit, plate) + number));
    }
  }
  return out;
}

std::vector<double> weights_of(const SavedFit& fit, const std::string& plate) {
  const SavedVariable* found = nullptr;
  for (const SavedVariable& v : fit.variables) {
    const math::FamilyRow* family = math::find_factor_family(v.family);
    if (!family || !pseudo_counts(*family, v) || v.event != std::vector{plate}) continue;
    if (found) return {};
    found = &v;
  }
  if (!found) return {};
  const std::optional<Moments> m = moments_of(fit, *found);
  if (!m) return {};
  const auto k = static_cast<std::size_t>(m->event[0]);
  std::vector<double> out(k, 0.0);
  for (std::size_t i = 0; i < m->mean.size(); ++i)
    // Averages over the elements of the variable: mean.size() / k of them.
    out[i % k] += m->mean[i] * static_cast<double>(k) / static_cast<double>(m->mean.size());
  return out;
}

}  // namespace lehr
