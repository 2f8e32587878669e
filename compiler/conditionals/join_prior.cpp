// A posterior of earlier data as the prior of a joint variable. Its natural parameters are given as data, and each
// becomes one term: natural * statistic, summed over the elements. A last term has the constant that normalises the
// density.
#include <algorithm>

#include "compiler/conditionals/join.h"
#include "compiler/math/member_families.h"

namespace lehr::conditionals {
namespace {

using density::CoefData;
using density::IndexId;
using density::IndexVarId;
using density::IndexVarRef;
using density::Term;
using model::Model;
using model::PlateId;

/// A term that is summed over the elements of the joint variable.
struct OverElements {
  Term term;                  // the term, so far its index variables alone
  std::vector<IndexId> axes;  // the element: one index for each axis
};

/// Returns an empty term that is summed over the elements of `v`.
OverElements over_elements(density::Algebra& a, const Model& m, const model::Variable& v) {
  OverElements out;
  for (const PlateId p : v.axes) {
    const model::Plate& plate = m[m[p].set];
    const bool nested = plate.parent && !out.axes.empty();
    const IndexVarId b = a.bound({plate.name, m[p].set, nested ? std::optional(out.axes.back()) : std::nullopt, false});
    out.term.index_vars.push_back(b);
    out.axes.push_back(a.index(IndexVarRef{b}));
  }
  return out;
}

/// Sets the axes of the given: those of the joint variable, then `rank` event axes over its coordinates.
void set_axes(Model& m, model::GivenId given, const model::Variable& v, int rank) {
  m.givens[given.index()].axes = v.axes;
  m.givens[given.index()].event.assign(static_cast<std::size_t>(rank), rank > 0 ? v.event.at(0) : PlateId());
}

}  // namespace

void replace_prior(Model& m, density::Density& d, model::VariableId joint, const model::JointPrior& prior) {
  std::vector<model::StatementId> own;
  for (const model::Member& member : m[joint].auxiliary->members)
    own.push_back(m[member.variable].statement);
  std::erase_if(d.terms, [&](const Term& t) {
    const auto& statement = d.origins[t.origin].statement;
    return statement && std::ranges::find(own, *statement) != own.end();
  });
  const model::Variable v = m[joint];
  const std::size_t origin = d.origins.size();
  d.origins.push_back({v.statement, std::nullopt, m[v.statement].span, false, false});
  density::Algebra& a = d.algebra;
  // Adds the term of one statistic, or the constant if there is no statistic.
  const auto add = [&](model::GivenId given, std::optional<math::Stat> stat) {
    const int rank = stat ? math::event_rank(*stat) : 0;
    set_axes(m, given, v, rank);
    OverElements over = over_elements(a, m, v);
    std::vector<IndexId> event;
    for (int k = 0; k < rank; ++k) {
      const IndexVarId b = a.bound({m[v.event[0]].name, v.event[0], std::nullopt, false});
      over.term.index_vars.push_back(b);
      event.push_back(a.index(IndexVarRef{b}));
    }
    std::vector<IndexId> at = over.axes;
    at.insert(at.end(), event.begin(), event.end());
    over.term.coef = a.coef(CoefData{given, std::move(at)});
    over.term.origin = origin;
    if (stat) over.term.atoms.push_back({joint, over.axes, *stat, event, {}});
    d.terms.push_back(std::move(over.term));
  };
  for (const auto& [stat, given] : prior.naturals)
    add(given, stat);
  add(prior.constant, std::nullopt);
}

}  // namespace lehr::conditionals
