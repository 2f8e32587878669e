// Which terms a temperature divides. Local variables must be such that they can be integrated out of the tempered
// density. So the prior of a local variable is tempered with the data, unless the integral depends on it (tempered.h).
#include "compiler/schedule/tempered.h"

#include <algorithm>

#include "compiler/model/roles.h"
#include "compiler/model/walk.h"

namespace lehr::schedule {
namespace {

using namespace model;

/// Appends the latent continuous variables that the expression mentions to `out`.
void collect_continuous(const Model& m, ExprId value, std::vector<VariableId>& out) {
  for (const VariableRef* v : references_under(m, {value})) {
    if (!m[v->variable].observed && !is_discrete(m[v->variable].support)) out.push_back(v->variable);
  }
}

/// Returns, by VariableId, true for variables that a density on the items depends on other than by its location. What
/// such variables depend on is true as well. Their priors are not part of the density of the data.
std::vector<bool> parents_of_data(const Model& m, const std::vector<bool>& on_item) {
  std::vector<bool> out(m.variables.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Statement& s : m.statements) {
      if (!on_item[s.variable.index()]) continue;
      std::vector<VariableId> parents;
      const auto visit = [&](const Distribution& d) {
        for (const Parameter& p : d.parameters) {
          const auto& location = d.family->location;
          // A location only shifts the density, and the integral of its power stays.
          const bool shifts = std::find(location.begin(), location.end(), p.spelling->canonical) != location.end();
          if (!shifts || out[s.variable.index()]) collect_continuous(m, p.value, parents);
        }
      };
      for (const Distribution* d : distributions_of(s))
        visit(*d);
      for (VariableId v : parents) {
        changed = changed || !out[v.index()];
        out[v.index()] = true;
      }
    }
  }
  return out;
}

}  // namespace

std::vector<bool> item_plates(const Model& m) {
  std::vector<bool> out(m.plates.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = is_item_plate(m, PlateId(k));
  return out;
}

std::vector<bool> tempered_origins(const Model& m, const Schedule& s) {
  const density::Density& d = s.conditionals.density;
  const std::vector<bool> item = item_plates(m);
  std::vector<bool> on_item;
  for (const Variable& v : m.variables)
    on_item.push_back(std::any_of(v.axes.begin(), v.axes.end(), [&](PlateId p) { return item[m[p].set.index()]; }));
  const std::vector<bool> parent = parents_of_data(m, on_item);
  const auto is_prior = [&](const density::Origin& o) {
    return !o.observed && o.statement && parent[m[*o.statement].variable.index()];
  };
  std::vector<bool> out;
  for (const density::Origin& o : d.origins) {
    const bool local = o.statement && on_item[m[*o.statement].variable.index()] && !is_prior(o);
    out.push_back(o.observed || o.potential || local);
  }
  for (const Term& t : d.terms) {
    for (const density::Atom& x : t.atoms) {
      // The tangent points of a global variable are updated with the items, but they bound its prior, not the data.
      if (is_tangent_point(m[x.variable]) && !on_item[x.variable.index()]) continue;
      if (s.local[s.conditionals.block_of[x.variable.index()].index()] && !is_prior(d.origins[t.origin]))
        out[t.origin] = true;
    }
  }
  return out;
}

std::vector<bool> likelihood_origins(const density::Density& d) {
  std::vector<bool> out;
  for (const density::Origin& o : d.origins)
    out.push_back(o.observed || o.potential);
  return out;
}

}  // namespace lehr::schedule
