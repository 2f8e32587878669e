#include "compiler/fitting/element_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/fitting/moments.h"
#include "runtime/terminal/printable.h"

namespace lehr {

const std::string* find_label(const SavedFit& fit, const std::string& plate, std::size_t index) {
  const auto it = fit.labels.find(plate);
  return it != fit.labels.end() && index < it->second.size() ? &it->second[index] : nullptr;
}

std::string element(const SavedFit& fit, const std::string& plate, std::size_t index) {
  if (const std::string* label = find_label(fit, plate, index)) return printable(*label);
  return plate.empty() ? fmt::format("{}", index) : fmt::format("{} {}", plate, index);
}

std::string element(const SavedFit& fit, const std::vector<std::string>& plates,
                    const std::vector<std::int64_t>& extents, std::size_t position) {
  std::vector<std::string> names;
  for (const std::size_t k : unravel(extents, position))
    names.push_back(element(fit, plates[names.size()], k));
  return fmt::format("{}", fmt::join(names, ", "));
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
    out[i % k] += m->mean[i] * static_cast<double>(k) / static_cast<double>(m->mean.size());
  return out;
}

}  // namespace lehr
