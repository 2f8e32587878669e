#include "compiler/fitting/factor_draws.h"

#include <algorithm>

#include "compiler/math/evaluate.h"

namespace lehr {
namespace {

using conditionals::Block;
using math::FactorParameter;

struct Part {
  const NamedArray* array;
  const FactorParameter* parameter;
  std::size_t width;  // numbers of an element
};

/// The factor's arrays; empty where it is no distribution that a model could write.
std::vector<Part> parts_of(const model::Model& m, const Block& b, const std::vector<NamedArray>& posterior) {
  std::vector<Part> out;
  if (b.chain || b.point || !b.family->draw) return out;
  for (const FactorParameter& p : b.factor->parameters) {
    if (!p.exported) continue;
    const model::Variable& v = m[p.of_mean ? *b.mean : b.variable];
    const auto array = std::ranges::find(posterior, v.name + "." + p.name, &NamedArray::name);
    if (array == posterior.end() ||
        std::ranges::find(b.family->spellings, p.name, &math::Spelling::name) == b.family->spellings.end())
      return {};
    std::size_t width = 1;
    for (auto d = array->shape.end() - p.event_rank; d != array->shape.end(); ++d)
      width *= static_cast<std::size_t>(*d);
    out.push_back({&*array, &p, width});
  }
  return out;
}

/// The array that draws of a variable go to, without any.
NamedArray empty(const model::Model& m, model::VariableId id, const Part& part, std::size_t extent) {
  const NamedArray& a = *part.array;
  NamedArray out{m[id].name, {0}, {}, false};
  out.shape.insert(out.shape.end(), a.shape.begin(), a.shape.end() - part.parameter->event_rank);
  out.shape.insert(out.shape.end(), m[id].event.size(), static_cast<std::int64_t>(extent));
  return out;
}

std::size_t numbers_of(const model::Variable& v, std::size_t extent) {
  return v.event.empty() ? 1 : v.event.size() == 1 ? extent : extent * extent;
}

}  // namespace

std::vector<NamedArray> draws_from_factors(const Analysed& a, const std::vector<NamedArray>& posterior,
                                           std::int64_t draws, Rng rng) {
  std::vector<NamedArray> out;
  const model::Model& m = a.model;
  for (const Block& b : a.schedule.conditionals.blocks) {
    const std::vector<Part> parts = m[b.variable].auxiliary ? std::vector<Part>() : parts_of(m, b, posterior);
    if (parts.empty()) continue;
    std::size_t extent = 1;
    for (const Part& p : parts)
      if (p.parameter->event_rank > 0) extent = static_cast<std::size_t>(p.array->shape.back());
    std::vector<NamedArray> to;  // as FamilyRow::draw has the members
    if (b.mean) to.push_back(empty(m, *b.mean, parts[0], extent));
    to.push_back(empty(m, b.variable, parts[0], extent));
    for (std::int64_t d = 0; d < draws; ++d) {
      for (std::size_t e = 0; e < parts[0].array->values.size() / parts[0].width; ++e) {
        math::Environment spelled{extent, {}};
        for (const Part& p : parts) {
          const auto begin = p.array->values.begin() + static_cast<std::ptrdiff_t>(e * p.width);
          spelled.symbols[p.parameter->name] = {p.parameter->event_rank,
                                                {begin, begin + static_cast<std::ptrdiff_t>(p.width)}};
        }
        const math::Environment canonical{extent, math::canonical_parameters(*b.family, spelled)};
        const std::vector<double> x = b.family->draw(math::flatten_parameters(*b.family, canonical), extent, rng);
        std::size_t first = 0;
        for (NamedArray& member : to) {
          const model::Variable& v = m[member.name == m[b.variable].name ? b.variable : *b.mean];
          const std::size_t n = numbers_of(v, extent);
          member.values.insert(member.values.end(), x.begin() + static_cast<std::ptrdiff_t>(first),
                               x.begin() + static_cast<std::ptrdiff_t>(first + n));
          first += n;
        }
      }
    }
    for (NamedArray& member : to) {
      member.shape[0] = draws;
      out.push_back(std::move(member));
    }
  }
  return out;
}

}  // namespace lehr
