// Matches saved arrays with the parameters of a factor by their names. The family's own factor is tried before its
// point factor.
#include "compiler/posterior/saved_factor.h"

#include <algorithm>

#include "compiler/evaluate/packed.h"
#include "compiler/math/member_families.h"

namespace lehr {

using math::Factor;
using math::FactorParameter;
using Shape = std::vector<std::int64_t>;

/// In a joint factor, parameters of the mean are saved with the mean, and the others with the precision.
const NamedArray* SavedFactor::array(const FactorParameter& p) const {
  const SavedVariable* of = precision && !p.of_mean ? precision : &variable;
  return of->find(p.name);
}

std::size_t scalars_per_element(int rank, std::size_t extent) {
  return rank == 0 ? 1 : rank == 1 ? extent : extent * extent;
}

std::optional<SavedFactor> saved_factor(const math::FamilyRow& row, const SavedVariable& v,
                                        const SavedVariable* partner) {
  for (const Factor* f : {row.factor ? &*row.factor : nullptr, math::point_factor(row)}) {
    if (!f || std::ranges::none_of(f->parameters, &FactorParameter::exported)) continue;
    const SavedFactor s{row, *f, v, row.joint_precision ? partner : nullptr};
    const auto is_present = [&](const FactorParameter& p) { return !p.exported || s.array(p) != nullptr; };
    if (std::ranges::all_of(f->parameters, is_present)) return s;
  }
  return std::nullopt;
}

std::shared_ptr<const SavedSparse> SavedSparse::read(const SavedVariable& v) {
  const Factor& factor = *math::joint_family(math::Support::sparse).factor;
  const NamedArray *mean = v.find(math::find_role(factor, math::ParameterRole::location)->name),
                   *precision = v.find(math::find_role(factor, math::ParameterRole::precision)->name),
                   *rows = v.find("row"), *columns = v.find("column");
  if (!mean || !precision || !rows || !columns) return nullptr;
  const std::optional<std::vector<math::SparsePattern::Pair>> pairs =
      math::SparsePattern::pairs_of(rows->values, columns->values, mean->values.size());
  if (!pairs || pairs->size() != precision->values.size()) return nullptr;
  const auto out = std::make_shared<SavedSparse>();
  out->mean_ = mean->values;
  out->pattern_ = math::SparsePattern::make(std::ssize(mean->values), *pairs);
  std::vector<double> entries(out->pattern_.entries.size());
  for (std::size_t k = 0; k < pairs->size(); ++k)
    entries[*out->pattern_.find((*pairs)[k].first, (*pairs)[k].second)] = precision->values[k];
  out->normal_.emplace(out->pattern_, entries);
  return out->normal_->is_proper() ? out : nullptr;
}

math::Draw element_draw(const SavedFactor& s, const FactorLayout& layout, std::size_t element) {
  if (s.row.support != math::Support::sparse)
    return math::factor_draw(s.row, s.factor, parameters_of(s, layout, element));
  return [saved = SavedSparse::read(s.variable)](Rng& rng) {
    std::vector<double> out = saved->normal().draw(rng);
    for (std::size_t c = 0; c < out.size(); ++c)
      out[c] += saved->mean()[c];
    return out;
  };
}

/// Every parameter must have the same elements, and as many numbers as its shape says.
std::optional<FactorLayout> layout_of(const SavedFactor& s) {
  FactorLayout out;
  if (s.row.support == math::Support::sparse && &s.factor == &*s.row.factor) {
    const std::shared_ptr<const SavedSparse> saved = SavedSparse::read(s.variable);
    if (!saved) return std::nullopt;
    out.extent = saved->mean().size();
    return out;
  }
  bool first = true;
  for (const FactorParameter& p : s.factor.parameters) {
    if (!p.exported) continue;
    const NamedArray& a = *s.array(p);
    if (std::ssize(a.shape) < p.event_rank) return std::nullopt;
    const Shape elements(a.shape.begin(), a.shape.end() - p.event_rank);
    if (!first && elements != out.elements) return std::nullopt;
    first = false;
    out.elements = elements;
    if (p.event_rank > 0) out.extent = static_cast<std::size_t>(a.shape.back());
  }
  for (const std::int64_t n : out.elements)
    out.count *= static_cast<std::size_t>(n);
  for (const FactorParameter& p : s.factor.parameters)
    if (p.exported && s.array(p)->values.size() != out.count * scalars_per_element(p.event_rank, out.extent))
      return std::nullopt;
  return out;
}

math::Environment parameters_of(const SavedFactor& s, const FactorLayout& layout, std::size_t element) {
  math::Environment out{layout.extent, {}};
  for (const FactorParameter& p : s.factor.parameters) {
    if (!p.exported) continue;
    const std::size_t n = scalars_per_element(p.event_rank, layout.extent);
    const auto begin = s.array(p)->values.begin() + static_cast<std::ptrdiff_t>(element * n);
    out.symbols[p.name] = {p.event_rank, {begin, begin + static_cast<std::ptrdiff_t>(n)}};
  }
  return out;
}

std::vector<std::int64_t> sizes_of_members(const model::Model& m, model::VariableId joint,
                                           const std::map<std::string, SavedVariable>& posterior) {
  std::vector<std::int64_t> out(m.plates.size(), -1);
  // The location or the probabilities of a variable have its full shape.
  const auto read = [&](const model::Variable& v, const math::FamilyRow& family) {
    const math::RoleNames names = math::role_names(family);
    const auto saved = posterior.find(v.name);
    const NamedArray* a = saved == posterior.end()
                              ? nullptr
                              : saved->second.find(names.location.empty() ? names.probabilities : names.location);
    const std::vector<model::PlateId> axes = stored_axes(m, v.axes, v.event);
    for (std::size_t k = 0; a && k < axes.size() && k < a->shape.size(); ++k)
      out[m[axes[k]].set.index()] = a->shape[k];
  };
  for (const model::Member& member : m[joint].auxiliary->members)
    read(m[member.variable], math::marginal_family(m[member.variable].support, m[joint].support));
  read(m[joint], math::joint_family(m[joint].support));
  return out;
}

}  // namespace lehr
