// Prepares one function for each element that draws it, once, and calls these for every draw. Draws go to the variables
// of a ModelEvaluator, where elements that are not drawn retain their values.
#include "compiler/posterior/factor_sampler.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/model/walk.h"
#include "compiler/posterior/saved_factor.h"
#include "runtime/output/fit_files.h"

namespace lehr {

std::optional<Error> FactorSampler::add_joint(const model::Model& m, const conditionals::Block& b,
                                              const std::map<std::string, SavedVariable>& posterior,
                                              const std::vector<bool>& wanted, conditionals::BlockId id,
                                              PosteriorMoments& posterior_moments) {
  Source source;
  for (const model::Member& member : m[b.variable].auxiliary->members)
    source.members.push_back(member.variable);
  if (std::ranges::none_of(source.members, [&](model::VariableId v) { return wanted[v.index()]; })) return std::nullopt;
  source.steps = posterior_moments.steps_of(id);
  const std::string& name = m[b.variable].name;
  const auto saved = posterior.find(name);
  const std::optional<SavedFactor> of =
      saved == posterior.end() ? std::nullopt : saved_factor(*b.family, saved->second, nullptr);
  const std::optional<FactorLayout> layout = of ? layout_of(*of) : std::nullopt;
  if (!layout) return Error{ExitCode::data, kPosteriorFile, fmt::format("the factor of '{}' is not in it", name), {}};
  for (std::size_t e = 0; e < layout->count; ++e)
    source.elements.push_back(element_draw(*of, *layout, e));
  source.layouts = members_of(m, b.variable, sizes_of_members(m, b.variable, posterior));
  source.switched = m[b.variable].support == math::Support::switched;
  sources_.push_back(std::move(source));
  return std::nullopt;
}

Result<FactorSampler> FactorSampler::make(const Analysed& analysed,
                                          const std::map<std::string, SavedVariable>& posterior,
                                          const std::vector<bool>& wanted, PosteriorMoments& posterior_moments) {
  const model::Model& m = analysed.model;
  FactorSampler out;
  const std::vector<conditionals::Block>& blocks = analysed.schedule.conditionals.blocks;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const conditionals::Block& b = blocks[k];
    if (is_joint(m[b.variable])) {
      if (std::optional<Error> e = out.add_joint(m, b, posterior, wanted, conditionals::BlockId(k), posterior_moments))
        return *e;
      continue;
    }
    // Auxiliary variables are never named by expressions. The mean and precision of a joint factor are drawn together.
    if (m[b.variable].auxiliary || !(wanted[b.variable.index()] || (b.mean && wanted[b.mean->index()]))) continue;
    Source source;
    source.steps = posterior_moments.steps_of(conditionals::BlockId(k));
    if (b.mean) source.members.push_back(*b.mean);
    source.members.push_back(b.variable);
    const std::string& name = m[source.members[0]].name;
    // The factor must be complete: silently skipping it would leave the variable without values.
    const Error missing{ExitCode::data, kPosteriorFile, fmt::format("the factor of '{}' is not in it", name), {}};
    const auto v = posterior.find(name), precision = posterior.find(m[b.variable].name);
    if (v == posterior.end() || precision == posterior.end()) return missing;
    const std::optional<SavedFactor> of = saved_factor(*b.family, v->second, b.mean ? &precision->second : nullptr);
    const std::optional<FactorLayout> layout = of ? layout_of(*of) : std::nullopt;
    if (!layout) return missing;
    for (std::size_t e = 0; e < layout->count; ++e) {
      source.elements.push_back(element_draw(*of, *layout, e));
      if (!source.elements.back())
        return Error{ExitCode::data, "", fmt::format("there are no draws of '{}' ({})", name, of->row.name), {}};
    }
    out.sources_.push_back(std::move(source));
  }
  return out;
}

/// A draw of the joint variable is a list of all its numbers; each member picks its own.
void FactorSampler::draw_members(const Source& s, const std::vector<std::vector<bool>>& d_connected, ModelEvaluator& to,
                                 const RngOf& rng_of) {
  std::vector<double> all;
  Rng& rng = rng_of({s.members[0], 0});
  if (s.steps) {
    for (const std::vector<double>& step : s.steps->draw([&](std::size_t) -> Rng& { return rng; }))
      std::ranges::copy(step, std::back_inserter(all));
  } else {
    for (const math::Draw& element : s.elements)
      std::ranges::copy(by_coordinate(s.switched, element(rng)), std::back_inserter(all));
  }
  for (std::size_t k = 0; k < s.members.size(); ++k) {
    const MemberLayout& x = s.layouts[k];
    for (std::size_t i = 0; i < x.at.size(); ++i)
      if (d_connected[s.members[k].index()][i / x.width]) to.values(s.members[k])[i] = all[x.at[i]];
  }
}

void FactorSampler::draw(const std::vector<std::vector<bool>>& d_connected, ModelEvaluator& to,
                         const RngOf& rng_of) const {
  for (const Source& s : sources_) {
    if (!s.layouts.empty()) {
      draw_members(s, d_connected, to, rng_of);
      continue;
    }
    std::vector<std::vector<double>> steps;
    if (s.steps) steps = s.steps->draw([&](std::size_t e) -> Rng& { return rng_of({s.members[0], e}); });
    for (std::size_t e = 0; e < s.elements.size(); ++e) {
      const auto is_d_connected = [&](model::VariableId v) { return d_connected[v.index()][e]; };
      if (std::ranges::none_of(s.members, is_d_connected)) continue;
      // Chains with covariances were drawn as a whole.
      const std::vector<double> x = s.steps ? steps[e] : s.elements[e](rng_of({s.members[0], e}));
      auto from = x.begin();
      for (const model::VariableId v : s.members) {
        const auto end = from + static_cast<std::ptrdiff_t>(to.width(v));
        if (is_d_connected(v)) std::copy(from, end, to.values(Element{v, e}).begin());
        from = end;
      }
    }
  }
}

void FactorSampler::draw(const std::vector<std::vector<bool>>& d_connected, ModelEvaluator& to, Rng& rng) const {
  draw(d_connected, to, [&rng](Element) -> Rng& { return rng; });
}

}  // namespace lehr
