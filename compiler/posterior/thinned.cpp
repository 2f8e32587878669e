// Selects draws by their coordinate, so that groups with different draws stay aligned. Log likelihoods, for example,
// may exist for every tenth draw only.
#include "compiler/posterior/thinned.h"

#include <algorithm>
#include <set>

namespace lehr {
namespace {

/// Returns the coordinate of that name, or null.
const Coordinate* coordinate(const ArrayGroup& g, const std::string& name) {
  const auto found = std::ranges::find(g.coordinates, name, &Coordinate::name);
  return found == g.coordinates.end() ? nullptr : &*found;
}

/// Returns the draws to select from: those that all groups have, or those of the posterior if they are fewer than
/// `least`.
std::vector<double> candidates(const LabelledArrays& arrays, std::size_t least) {
  const ArrayGroup* posterior = find_group(arrays, "posterior");
  const Coordinate* draws = posterior ? coordinate(*posterior, kDrawAxis) : nullptr;
  if (!draws) return {};
  std::vector<double> common = draws->values;
  for (const ArrayGroup& g : arrays.groups) {
    const Coordinate* own = coordinate(g, kDrawAxis);
    if (!own) continue;
    const std::set<double> has(own->values.begin(), own->values.end());
    std::erase_if(common, [&](double d) { return !has.contains(d); });
  }
  return common.size() >= least ? common : draws->values;
}

/// Returns the array with the positions `selected` along one axis.
LabelledArray sliced(const LabelledArray& a, std::size_t axis, const std::vector<std::size_t>& selected) {
  LabelledArray out = a;
  out.values.clear();
  out.shape[axis] = std::ssize(selected);
  std::size_t outer = 1, inner = 1;
  for (std::size_t k = 0; k < a.shape.size(); ++k) {
    if (k != axis) (k < axis ? outer : inner) *= static_cast<std::size_t>(a.shape[k]);
  }
  const auto extent = static_cast<std::size_t>(a.shape[axis]);
  for (std::size_t i = 0; i < outer; ++i) {
    for (const std::size_t k : selected) {
      const auto begin = a.values.begin() + static_cast<std::ptrdiff_t>((i * extent + k) * inner);
      out.values.insert(out.values.end(), begin, begin + static_cast<std::ptrdiff_t>(inner));
    }
  }
  return out;
}

/// Returns the group with the chosen draws.
ArrayGroup sliced(const ArrayGroup& g, const std::set<double>& chosen) {
  ArrayGroup out{g.name, g.coordinates, {}};
  std::vector<std::size_t> selected;
  for (Coordinate& c : out.coordinates) {
    if (c.name != kDrawAxis) continue;
    for (std::size_t k = 0; k < c.values.size(); ++k)
      if (chosen.contains(c.values[k])) selected.push_back(k);
    std::erase_if(c.values, [&](double d) { return !chosen.contains(d); });
  }
  for (const LabelledArray& a : g.arrays) {
    const auto axis = std::ranges::find(a.axes, kDrawAxis);
    out.arrays.push_back(axis == a.axes.end() ? a
                                              : sliced(a, static_cast<std::size_t>(axis - a.axes.begin()), selected));
  }
  return out;
}

}  // namespace

LabelledArrays thinned(const LabelledArrays& draws, std::int64_t n) {
  std::size_t chains = 1;
  for (const ArrayGroup& g : draws.groups) {
    if (const Coordinate* c = coordinate(g, kChainAxis)) chains = std::max<std::size_t>(1, c->size());
  }
  const std::size_t each = std::max<std::size_t>(1, static_cast<std::size_t>(n) / chains);
  const std::vector<double> from = candidates(draws, each);
  const std::size_t count = std::min(each, from.size());
  std::set<double> chosen;
  for (std::size_t k = 0; k < count; ++k)
    chosen.insert(from[k * from.size() / count]);
  LabelledArrays out{draws.attributes, {}};
  for (const ArrayGroup& g : draws.groups)
    out.groups.push_back(sliced(g, chosen));
  // A group that has none of the chosen draws is left out.
  std::erase_if(out.groups, [](const ArrayGroup& g) {
    const Coordinate* c = coordinate(g, kDrawAxis);
    return c && c->values.empty();
  });
  return out;
}

}  // namespace lehr
