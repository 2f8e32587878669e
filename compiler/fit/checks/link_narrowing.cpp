// Looks for terms of the log joint that contain both an auxiliary variable of a link and a global number. The
// independent factor of the auxiliary variable is what narrows the factor of the number.
#include "compiler/fit/checks/link_narrowing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/model/expectations.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// Returns true for the point of a local bound, and for the auxiliary variable of a probit link or a limit. Points of
/// expectations narrow nothing.
bool is_of_link(const Variable& v) {
  return v.auxiliary && !has_expectation(v) &&
         (v.auxiliary->kind == Auxiliary::Kind::bound || v.auxiliary->kind == Auxiliary::Kind::value);
}

/// Returns true for a latent number of an item that lies between limits, which the model has in the place of a link.
bool is_cut_item(const Analysed& a, VariableId id) {
  const Variable& v = a.model[id];
  const conditionals::BlockId b = a.schedule.conditionals.block_of[id.index()];
  return is_latent(v) && !v.auxiliary && a.model[v.statement].limits.any() && b.valid() &&
         a.schedule.stage_of[b.index()].has_value();
}

/// Returns true for the point of a logistic bound, and for the auxiliary variable of a probit link.
bool may_take_expectation(const Model& m, const Variable& v) {
  if (!is_of_link(v)) return false;
  const bool probit = v.auxiliary->kind == Auxiliary::Kind::value && m[v.auxiliary->host].support == math::Support::bit;
  return probit || v.auxiliary->bound == &math::logistic_bound();
}

/// Returns true if the prior of the variable depends on a latent positive number or matrix.
bool has_latent_scale(const Model& m, const Variable& v) {
  return std::ranges::any_of(references_under(m, roots_of(m[v.statement])), [&](const VariableRef* r) {
    const math::Support support = m[r->variable].support;
    return !m[r->variable].observed && (support == math::Support::positive || support == math::Support::spd_matrix);
  });
}

/// Returns the variables of the term but that of the link, or nothing if they are no number, square or product of two
/// numbers of real variables.
std::optional<std::vector<VariableId>> predictor_in(const Model& m, const density::Term& t) {
  std::vector<VariableId> out;
  std::size_t degree = 0;
  for (const density::Atom& x : t.atoms) {
    if (is_of_link(m[x.variable])) continue;
    const bool real = m[x.variable].support == math::Support::real || m[x.variable].support == math::Support::vector ||
                      m[x.variable].support == math::Support::sparse;
    if (!real || !x.opaque.empty()) return std::nullopt;
    degree += x.stat == math::Stat::square || x.stat == math::Stat::comp2 ? 2 : 1;
    out.push_back(x.variable);
  }
  return degree <= 2 ? std::optional(std::move(out)) : std::nullopt;
}

/// Returns true if the block has continuous global numbers with standard deviations.
bool is_global_number(const Analysed& a, conditionals::BlockId b) {
  const conditionals::Block& block = a.schedule.conditionals[b];
  const Variable& v = a.model[block.variable];
  const bool continuous = !math::is_discrete(v.support) && (!v.auxiliary || is_joint(v));
  return continuous && !block.point && !block.drawn && !a.schedule.stage_of[b.index()];
}

/// Returns the names of the global numbers that links narrow. Point factors are left out, and members of a joint factor
/// have their own names.
std::vector<std::string> narrowed_by_links(const Analysed& a) {
  std::vector<bool> narrow(a.schedule.conditionals.blocks.size(), false);
  for (const density::Term& t : a.schedule.conditionals.density.terms) {
    const auto narrows = [&](const density::Atom& x) {
      return is_of_link(a.model[x.variable]) || is_cut_item(a, x.variable);
    };
    if (std::ranges::none_of(t.atoms, narrows)) continue;
    for (const density::Atom& x : t.atoms) {
      const conditionals::BlockId b = a.schedule.conditionals.block_of[x.variable.index()];
      if (b.valid() && is_global_number(a, b)) narrow[b.index()] = true;
    }
  }
  std::vector<std::string> out;
  for (std::size_t k = 0; k < narrow.size(); ++k) {
    const Variable& v = a.model[a.schedule.conditionals.blocks[k].variable];
    if (!narrow[k]) continue;
    if (!is_joint(v)) out.push_back(v.name);
    else
      for (const Member& member : v.auxiliary->members)
        out.push_back(a.model[member.variable].name);
  }
  return out;
}

/// Returns the names of the variables in logistic and probit links whose prior has a latent scale, such as the effects
/// of a mixed model. Empty if some predictor is not a sum of real variables times data: the expectation of the link
/// cannot be taken then.
std::vector<std::string> effects_in_links(const Analysed& a) {
  std::set<VariableId> found;
  for (const density::Term& t : a.schedule.conditionals.density.terms) {
    const auto is_link = [&](const density::Atom& x) { return may_take_expectation(a.model, a.model[x.variable]); };
    if (std::ranges::none_of(t.atoms, is_link)) continue;
    const std::optional<std::vector<VariableId>> predictor = predictor_in(a.model, t);
    if (!predictor) return {};
    found.insert(predictor->begin(), predictor->end());
  }
  std::vector<std::string> out;
  const auto add = [&](const Variable& v) {
    if (!v.auxiliary && has_latent_scale(a.model, v)) out.push_back(v.name);
  };
  for (const VariableId id : found) {
    const conditionals::BlockId b = a.schedule.conditionals.block_of[id.index()];
    if (!b.valid() || a.schedule.conditionals[b].drawn) return {};
    add(a.model[id]);
    if (is_joint(a.model[id]))
      for (const Member& member : a.model[id].auxiliary->members)
        add(a.model[member.variable]);
  }
  return out;
}

/// Returns the names of two latent variables that are multiplied in a logistic or probit link, of which one has a
/// plate; nothing if there are none. The product is squared beside the point of a bound, and not beside an auxiliary
/// variable.
std::optional<std::pair<std::string, std::string>> product_in_link(const Analysed& a) {
  for (const density::Term& t : a.schedule.conditionals.density.terms) {
    const auto is_link = [&](const density::Atom& x) { return may_take_expectation(a.model, a.model[x.variable]); };
    const auto link = std::ranges::find_if(t.atoms, is_link);
    if (link == t.atoms.end() || t.atoms.size() != 3) continue;
    const bool bound = a.model[link->variable].auxiliary->kind == Auxiliary::Kind::bound;
    std::vector<const Variable*> multiplied;
    for (const density::Atom& x : t.atoms)
      if (!is_link(x) && x.stat == (bound ? math::Stat::square : math::Stat::value))
        multiplied.push_back(&a.model[x.variable]);
    const auto has_plate = [](const Variable* v) { return !v->axes.empty(); };
    if (multiplied.size() == 2 && multiplied[0] != multiplied[1] && std::ranges::any_of(multiplied, has_plate))
      return std::pair(multiplied[0]->name, multiplied[1]->name);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Diagnostic> link_warnings(const Analysed& a, bool corrected, bool correctable,
                                      const std::function<std::vector<std::string>()>& instead) {
  std::vector<Diagnostic> out;
  if (const std::vector<std::string> narrow = narrowed_by_links(a); !narrow.empty() && !corrected) {
    std::vector<std::string> cures;
    if (correctable) cures.push_back(option("sds") + " linear-response corrects them");
    out.push_back(make_warning(
        fmt::format("the standard deviations of {} are too small, because of links", fmt::join(narrow, ", ")), cures));
  }
  if (const std::vector<std::string> effects = effects_in_links(a); !effects.empty())
    out.push_back(make_warning(
        fmt::format("with few observations for each {}, the precision is too large", fmt::join(effects, ", ")),
        {option("links") + " gaussian takes the expectation of the link, and no bound"}));
  if (const auto product = product_in_link(a))
    out.push_back(make_warning(
        fmt::format("with few observations for each element, the product of {} and {} in the link is too small",
                    product->first, product->second),
        instead()));
  return out;
}

}  // namespace lehr
