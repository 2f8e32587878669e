// Draws from the factors of a fit in memory, by FamilyRow::draw. Joint factors are drawn as a whole, and the draw is
// distributed over their variables.
#include "compiler/posterior/factor_draws.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/instance/members.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/saved_factor.h"

namespace lehr {
namespace {

using conditionals::Block;

/// Returns the factor of a block with its parameters, if a model could write this distribution; otherwise nullopt.
std::optional<SavedFactor> written(const model::Model& m, const Block& b,
                                   const std::map<std::string, SavedVariable>& posterior) {
  if ((m[b.variable].auxiliary && !is_joint(m[b.variable])) || b.chain || b.point || !b.family->draw)
    return std::nullopt;
  const auto variable = posterior.find(m[b.mean.value_or(b.variable)].name),
             precision = posterior.find(m[b.variable].name);
  if (variable == posterior.end() || precision == posterior.end()) return std::nullopt;
  // Each parameter of the factor must be one by which the family can be written.
  const bool spelled = std::ranges::all_of(b.factor->parameters, [&](const math::FactorParameter& p) {
    return !p.exported ||
           std::ranges::find(b.family->spellings, p.name, &math::Spelling::name) != b.family->spellings.end();
  });
  return spelled ? saved_factor(*b.family, variable->second, &precision->second) : std::nullopt;
}

/// Draws a joint variable, and returns one array for each member.
std::vector<NamedArray> draws_of_members(const model::Model& m, model::VariableId joint, const SavedFactor& source,
                                         const FactorLayout& layout, const std::map<std::string, SavedVariable>& saved,
                                         std::int64_t draws, Rng& rng) {
  const std::vector<MemberLayout> members = members_of(m, joint, sizes_of_members(m, joint, saved));
  std::vector<NamedArray> out;
  for (const MemberLayout& x : members) {
    NamedArray& to = out.emplace_back(NamedArray{x.name, {draws}, {}, false});
    to.shape.insert(to.shape.end(), x.shape.begin(), x.shape.end());
  }
  std::vector<math::Draw> elements;
  for (std::size_t e = 0; e < layout.count; ++e)
    elements.push_back(element_draw(source, layout, e));
  for (std::int64_t d = 0; d < draws; ++d) {
    std::vector<double> all;
    for (const math::Draw& draw : elements)
      std::ranges::copy(draw(rng), std::back_inserter(all));
    for (std::size_t k = 0; k < out.size(); ++k)
      for (const std::size_t at : members[k].at)
        out[k].values.push_back(all[at]);
  }
  return out;
}

}  // namespace

std::vector<NamedArray> draws_from_factors(const Analysed& a, const std::vector<NamedArray>& posterior,
                                           std::int64_t draws, Rng rng) {
  std::vector<NamedArray> out;
  const model::Model& m = a.model;
  const std::map<std::string, SavedVariable> saved = by_variable(posterior);
  for (const Block& b : a.schedule.conditionals.blocks) {
    const std::optional<SavedFactor> source = written(m, b, saved);
    const std::optional<FactorLayout> layout = source ? layout_of(*source) : std::nullopt;
    if (!layout) continue;
    if (is_joint(m[b.variable])) {
      std::ranges::move(draws_of_members(m, b.variable, *source, *layout, saved, draws, rng), std::back_inserter(out));
      continue;
    }
    // A draw of a joint factor has the numbers of the mean, then those of its precision.
    std::vector<model::VariableId> members;
    if (b.mean) members.push_back(*b.mean);
    members.push_back(b.variable);
    std::vector<NamedArray> to;
    std::vector<std::size_t> widths;
    for (const model::VariableId v : members) {
      NamedArray& member = to.emplace_back(NamedArray{m[v].name, {draws}, {}, false});
      member.shape.insert(member.shape.end(), layout->elements.begin(), layout->elements.end());
      member.shape.insert(member.shape.end(), m[v].event.size(), static_cast<std::int64_t>(layout->extent));
      widths.push_back(scalars_per_element(static_cast<int>(m[v].event.size()), layout->extent));
    }
    std::vector<math::Draw> elements;
    for (std::size_t e = 0; e < layout->count; ++e)
      elements.push_back(element_draw(*source, *layout, e));
    for (std::int64_t d = 0; d < draws; ++d) {
      for (const math::Draw& draw : elements) {
        const std::vector<double> x = draw(rng);
        auto from = x.begin();
        for (std::size_t k = 0; k < to.size(); ++k) {
          const auto end = from + static_cast<std::ptrdiff_t>(widths[k]);
          to[k].values.insert(to[k].values.end(), from, end);
          from = end;
        }
      }
    }
    std::ranges::move(to, std::back_inserter(out));
  }
  return out;
}

}  // namespace lehr
