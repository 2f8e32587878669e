// Computes importance ratios. The joint density is evaluated element by element from the statements of the model, that
// of q from the rows of the families. Neither uses the ELBO or the generated code, so errors there do not cancel.
#include "compiler/diagnose/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <span>

#include "compiler/evaluate/marginal.h"
#include "compiler/evaluate/observation.h"
#include "compiler/instance/members.h"
#include "compiler/math/factor_draw.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/saved_factor.h"

namespace lehr {
namespace {

using namespace model;
using conditionals::Block;

/// Log ratios that differ by less than this, in nats, have equal weights whatever the shape of their distribution.
constexpr double kSame = 1e-6;

/// Returns the error for a model without importance ratios.
Error no_ratio(std::string text) { return {ExitCode::model, "", std::move(text), {}}; }

/// The factor of one block, prepared for draws and densities.
struct DrawnFactor {
  std::vector<VariableId> members;            // in the order of a draw's numbers: the mean before its precision
  const math::FamilyRow* family;              // of the factor
  bool point = false;                         // true for a point factor, whose draws are constant
  std::vector<math::Environment> parameters;  // by element: canonical parameters, or those of a category
  std::vector<math::Draw> draws;              // by element: a function that draws it
  std::vector<MemberLayout> layouts = {};     // of a joint variable: which numbers of all elements each member has
};

/// Returns the log density of q at a draw `x` of one element.
double log_q(const DrawnFactor& d, std::size_t element, const ModelEvaluator& f, const std::vector<double>& x) {
  math::Environment at = d.parameters[element];
  if (d.family->support == math::Support::category) {
    const auto& parameters = d.family->factor->parameters;
    const auto probabilities =
        std::ranges::find(parameters, math::ParameterRole::probabilities, &math::FactorParameter::role);
    return std::log(at.symbols.at(probabilities->name).values[static_cast<std::size_t>(x[0])]);
  }
  if (!d.layouts.empty()) {
    at.symbols["x"] = {1, x};
    return math::log_density(*d.family, at);
  }
  const auto first = x.begin() + static_cast<std::ptrdiff_t>(f.width(d.members[0]));
  const auto rank = [&](VariableId v) { return static_cast<int>(f.model()[v].event.size()); };
  at.symbols["x"] = {rank(d.members[0]), {x.begin(), first}};
  if (d.members.size() > 1) at.symbols["x_precision"] = {rank(d.members[1]), {first, x.end()}};
  return math::log_density(*d.family, at);
}

/// Returns true if the parameters of the factor are among those by which the density of its family can be written.
bool has_density(const Block& b) {
  return std::ranges::all_of(b.factor->parameters, [&](const math::FactorParameter& p) {
    return !p.exported ||
           std::ranges::find(b.family->spellings, p.name, &math::Spelling::name) != b.family->spellings.end();
  });
}

/// Returns how much wider each number of a variable is by linear response than its factor, at least 1; empty if the
/// response has no such variable.
std::vector<double> widths_of(const LinearResponse& response, const std::string& name) {
  std::vector<double> out;
  const auto r = std::ranges::find(response.variables, name, &Response::name);
  for (std::size_t k = 0; r != response.variables.end() && k < r->sd.size(); ++k) {
    const double ratio = r->response[k] / r->sd[k];
    out.push_back(std::isfinite(ratio) ? std::max(1.0, ratio) : 1.0);
  }
  return out;
}

/// Returns the widths of the numbers of a block, one element after another; empty if the response has none.
std::vector<double> widths_of_block(const RestoredFit& s, const LinearResponse& response, const Block& b) {
  const Variable& v = s.model()[b.variable];
  if (b.mean) return {};
  if (!is_joint(v)) return widths_of(response, v.name);
  std::vector<double> out;
  for (const MemberLayout& x :
       members_of(s.model(), b.variable, sizes_of_members(s.model(), b.variable, s.variables))) {
    const std::vector<double> of_member = widths_of(response, x.name);
    for (std::size_t k = 0; k < std::min(of_member.size(), x.at.size()); ++k) {
      if (out.size() <= x.at[k]) out.resize(x.at[k] + 1, 1.0);
      out[x.at[k]] = of_member[k];
    }
  }
  return out;
}

/// Prepares the factor of a block, made wider by linear response, or returns the reason why it has no density.
Result<DrawnFactor> drawn_block(const RestoredFit& s, const LinearResponse& response, const Block& b) {
  const Model& m = s.model();
  DrawnFactor out{{}, b.family, b.point, {}, {}};
  if (b.mean) out.members.push_back(*b.mean);
  out.members.push_back(b.variable);
  const std::string& name = m[out.members[0]].name;
  if (b.chain) return no_ratio(fmt::format("the factor of the chain '{}' has no draws with a density", name));
  if (!b.point && b.family->support != math::Support::category && !has_density(b))
    return no_ratio(fmt::format("draws of '{}' have no density in closed form", name));
  const auto v = s.variables.find(name), precision = s.variables.find(m[b.variable].name);
  const auto of = v == s.variables.end() || precision == s.variables.end()
                      ? std::nullopt
                      : saved_factor(*b.family, v->second, b.mean ? &precision->second : nullptr);
  const std::optional<FactorLayout> layout = of ? layout_of(*of) : std::nullopt;
  if (!layout) return no_ratio(fmt::format("the factor of '{}' is not known", name));
  const std::vector<double> widths = widths_of_block(s, response, b);
  const std::size_t of_one = widths.size() / std::max<std::size_t>(1, layout->count);
  for (std::size_t e = 0; e < layout->count; ++e) {
    math::Environment parameters = parameters_of(*of, *layout, e);
    if (of_one > 0 && of_one * layout->count == widths.size())
      math::widen(*b.family, std::span(widths).subspan(e * of_one, of_one), parameters);
    const bool category = b.family->support == math::Support::category;
    if (category) out.parameters.push_back(parameters);
    else if (!b.point) out.parameters.push_back({parameters.extent, math::canonical_parameters(*b.family, parameters)});
    out.draws.push_back(math::factor_draw(of->row, of->factor, parameters));
    if (!out.draws.back()) return no_ratio(fmt::format("there are no draws of '{}'", name));
  }
  if (!is_joint(m[b.variable])) return out;
  out.layouts = members_of(m, b.variable, sizes_of_members(m, b.variable, s.variables));
  out.members.clear();
  for (const Member& member : m[b.variable].auxiliary->members)
    out.members.push_back(member.variable);
  return out;
}

/// Returns true if the variable lies on a plate with multiplicities.
bool has_copies(const Model& m, const Variable& v) {
  return std::ranges::any_of(v.axes, [&](PlateId p) { return m[m[p].set].times.has_value(); });
}

/// Returns true if no data depend on any part of the element: it is integrated out and not drawn.
bool is_barren(const RestoredFit& s, const DrawnFactor& d, std::size_t element) {
  const auto mask = d.members.size() == 1 ? mask_of(s.model(), s.model()[d.members[0]]) : std::nullopt;
  if (!mask) return false;
  const std::vector<double>& d_connected = s.data().givens[mask->index()].values;
  const std::size_t width = d_connected.size() / d.draws.size();
  const auto begin = d_connected.begin() + static_cast<std::ptrdiff_t>(element * width);
  return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(width), [](double x) { return x == 0; });
}

/// Returns true if the data have the value of the element, which is then neither drawn nor summed out.
bool has_value(const RestoredFit& s, VariableId v, std::size_t element, std::size_t width) {
  const std::vector<double>& x = s.data().observed[v.index()].values;
  return s.model()[v].clamped && element * width < x.size() && !std::isnan(x[element * width]);
}

/// The log joint density of the data and the drawn variables, the others summed out.
class Joint {
 public:
  Joint(const RestoredFit& s, const std::vector<bool>& is_summed) : forward_(s.model(), s.data()), summed_(is_summed) {
    for (std::size_t k = 0; k < s.model().variables.size(); ++k)
      if (s.model().variables[k].clamped)
        std::ranges::copy(s.data().observed[k].values, forward_.values(VariableId(k)).begin());
  }

  /// Returns the values at which the density is evaluated.
  ModelEvaluator& forward() { return forward_; }

  /// Returns the log density at the current values, in nats.
  double log_density() {
    const Model& m = forward_.model();
    std::vector<SummedVariable> rules(m.variables.size());
    for (std::size_t k = 0; k < rules.size(); ++k)
      if (summed_[k]) rules[k].by = has_copies(m, m.variables[k]) ? Summation::per_observation : Summation::joint;
    if (all_.empty()) list();
    double potentials = 0;
    IndexValues at = forward_.origin();
    for (const Potential& p : m.potentials)
      forward_.each(p.index_vars, at, [&] { potentials += forward_.value(p.value, at).values[0]; });
    MarginalDensity marginal(forward_, std::move(rules));
    const double out = potentials + marginal.log_density(all_);
    too_large_ = marginal.too_large();
    return out;
  }

  /// Returns the sum that had too many terms in the last evaluation, if any.
  const std::optional<SumTooLarge>& too_large() const { return too_large_; }

 private:
  /// Lists the elements that have values; those that are summed out have none. The list is the same for all draws.
  void list() {
    const Model& m = forward_.model();
    for (std::size_t k = 0; k < m.statements.size(); ++k) {
      const Statement& s = m.statements[k];
      IndexValues at = forward_.origin();
      forward_.each(s.index_vars, at, [&] {
        const Element e = forward_.element(s, at);
        const bool given = m[s.variable].observed || m[s.variable].clamped;
        const double n = given ? multiplicity_of(m, forward_.data(), s, at) : 1;
        if (n > 0 && !std::isnan(forward_.values(e)[0])) all_.push_back({StatementId(k), e, n});
      });
    }
  }

  ModelEvaluator forward_;
  std::optional<SumTooLarge> too_large_;
  std::vector<bool> summed_;
  std::vector<Observation> all_;
};

/// The latent variables, divided into those that are summed out and those that are drawn.
struct SummedAndDrawn {
  std::vector<bool> summed;         // by VariableId: true if summed out
  std::vector<DrawnFactor> blocks;  // the factors of the others
};

/// Divides the latent variables. Discrete ones whose elements do not interact are summed out, unless they are in
/// `not_summed`. Fills in the names.
Result<SummedAndDrawn> parts_of(const RestoredFit& s, const LinearResponse& response,
                                const std::set<VariableId>& not_summed, ImportanceRatios& names) {
  const Model& m = s.model();
  SummedAndDrawn out{std::vector<bool>(m.variables.size(), false), {}};
  names.drawn.clear();
  names.summed.clear();
  for (const Block& b : s.analysed().schedule.conditionals.blocks) {
    const Variable& v = m[b.variable];
    if (is_joint(v) && v.support != math::Support::vector)
      return no_ratio(fmt::format("'{}' has no draws with a density of their own here", v.name));
    if (v.auxiliary && !is_joint(v)) continue;
    if (is_discrete(v.support) && !b.coupled() && !b.chain && m.potentials.empty() &&
        !not_summed.contains(b.variable)) {
      out.summed[b.variable.index()] = true;
      names.summed.push_back(v.name);
      continue;
    }
    if (has_copies(m, v)) return no_ratio(fmt::format("elements of '{}' have copies", v.name));
    Result<DrawnFactor> d = drawn_block(s, response, b);
    if (!d) return d.error();
    for (const VariableId id : d->members)
      names.drawn.push_back(m[id].name);
    out.blocks.push_back(std::move(*d));
  }
  return out;
}

/// Draws a joint variable, stores the values of its members, and returns the log q of the draw.
double set_members(const DrawnFactor& d, ModelEvaluator& f, Rng& rng) {
  double density = 0;
  std::vector<double> all;
  for (std::size_t e = 0; e < d.draws.size(); ++e) {
    const std::vector<double> x = d.draws[e](rng);
    density += log_q(d, e, f, x);
    all.insert(all.end(), x.begin(), x.end());
  }
  for (std::size_t k = 0; k < d.members.size(); ++k) {
    const MemberLayout& layout = d.layouts[k];
    for (std::size_t at = 0; at < layout.at.size(); ++at)
      f.values(Element{d.members[k], at / layout.width})[at % layout.width] = all[layout.at[at]];
  }
  return density;
}

/// Draws all factors, stores the values, and returns their log q.
double set_draw(const RestoredFit& s, const SummedAndDrawn& parts, ModelEvaluator& f, Rng& rng) {
  double density = 0;
  for (const DrawnFactor& d : parts.blocks) {
    if (!d.layouts.empty()) {
      density += set_members(d, f, rng);
      continue;
    }
    for (std::size_t e = 0; e < d.draws.size(); ++e) {
      if (is_barren(s, d, e)) continue;
      if (d.members.size() == 1 && has_value(s, d.members[0], e, f.width(d.members[0]))) continue;
      const std::vector<double> x = d.draws[e](rng);
      if (!d.point) density += log_q(d, e, f, x);
      auto from = x.begin();
      for (const VariableId v : d.members) {
        const auto end = from + static_cast<std::ptrdiff_t>(f.width(v));
        std::copy(from, end, f.values(Element{v, e}).begin());
        from = end;
      }
    }
  }
  return density;
}

}  // namespace

Result<ImportanceRatios> importance_ratios(const RestoredFit& s, const LinearResponse& response, std::int64_t draws,
                                           std::uint64_t seed,
                                           const std::function<void(std::int64_t, std::int64_t)>& on_draw) {
  ImportanceRatios out;
  std::set<VariableId> not_summed;
  Result<SummedAndDrawn> parts = parts_of(s, response, not_summed, out);
  if (!parts) return parts.error();
  auto joint = std::make_unique<Joint>(s, parts->summed);
  Rng rng(seed);
  double largest = 0;
  for (std::int64_t k = 0; k < draws; ++k) {
    const double density = set_draw(s, *parts, joint->forward(), rng);
    const double together = joint->log_density();
    // The variable whose sum is too large is drawn, too. This breaks up the sum, and the draws begin again.
    if (const auto& sum = joint->too_large()) {
      if (!not_summed.insert(sum->variable).second || !parts->summed[sum->variable.index()])
        return no_ratio(fmt::format("the sum over what '{}' depends on has too many terms ({:.2g})",
                                    s.model()[sum->variable].name, sum->terms));
      parts = parts_of(s, response, not_summed, out);
      if (!parts) return parts.error();
      joint = std::make_unique<Joint>(s, parts->summed);
      rng = Rng(seed);
      out.log_ratios.clear();
      largest = 0;
      k = -1;
      continue;
    }
    if (!std::isfinite(together - density))
      return Error{ExitCode::numerical, "", "the joint density of a draw is not a finite number", {}};
    out.log_ratios.push_back(together - density);
    largest = std::max({largest, std::abs(together), std::abs(density)});
    if (on_draw) on_draw(k + 1, draws);
  }
  out.noise = std::max(kSame, 1e4 * std::numeric_limits<double>::epsilon() * (1 + largest));
  return out;
}

}  // namespace lehr
