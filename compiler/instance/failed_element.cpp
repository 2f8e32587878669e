// Evaluates the conditions of the factor (math::Factor::valid) at each element.
#include "compiler/instance/failed_element.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/math/evaluate.h"

namespace lehr {

std::string failed_element(const model::Model& m, model::VariableId v, const math::Factor& factor,
                           const std::vector<NamedArray>& arrays) {
  if (m[v].axes.empty()) return "";
  std::vector<std::pair<const math::FactorParameter*, const NamedArray*>> parameters;
  for (const math::FactorParameter& p : factor.parameters) {
    if (!p.exported) continue;
    const auto a = std::ranges::find(arrays, m[v].name + "." + p.name, &NamedArray::name);
    if (a == arrays.end() || a->shape.size() < static_cast<std::size_t>(p.event_rank)) return "";
    parameters.emplace_back(&p, &*a);
  }
  if (parameters.empty()) return "";
  // The axes in front of the event axes number the elements.
  const auto& [first, of_first] = parameters[0];
  const std::vector<std::int64_t> shape(of_first->shape.begin(), of_first->shape.end() - first->event_rank);
  std::size_t count = 1;
  for (const std::int64_t n : shape)
    count *= static_cast<std::size_t>(n);
  for (std::size_t e = 0; e < count; ++e) {
    math::Environment at;
    for (const auto& [p, a] : parameters) {
      const std::size_t width = a->values.size() / count;
      const auto begin = a->values.begin() + static_cast<std::ptrdiff_t>(e * width);
      if (p->event_rank > 0) at.extent = static_cast<std::size_t>(a->shape.back());
      at.symbols[p->name] = {p->event_rank, {begin, begin + static_cast<std::ptrdiff_t>(width)}};
    }
    if (!math::is_proper(factor, at)) return fmt::format("[{}]", fmt::join(unravel(shape, e), ", "));
  }
  return "";
}

}  // namespace lehr
