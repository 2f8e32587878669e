// The error "no closed form": which term prevents a conjugate conditional, which statistics the families have, and what
// to write instead. This is the most frequent answer to a new model, so it names lines and complete statements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/conditionals/conditionals.h"
#include "compiler/conditionals/conjugacy_advice.h"
#include "compiler/density/print_density.h"

namespace lehr::conditionals {
namespace {

using math::Stat;

/// Returns a family with its sufficient statistics in words: `Gamma {x, log x}`.
std::string statistics_of(const math::FamilyRow& f) {
  std::vector<std::string> names;
  for (const math::StatisticRow& s : f.factor->statistics)
    names.emplace_back(math::name_of(s.stat));
  return fmt::format("{} {{{}}}", f.name, fmt::join(names, ", "));
}

/// Returns true if the density of a point may grow without end where an element goes to 0. Terms in log x with a
/// negative coefficient drive it there. Terms in 1/x prevent it, but they are multiplied by a sum of squares that may
/// vanish with other variables if the element has one observation only.
bool may_be_unbounded_at_zero(const model::Model& m, const density::Density& d, model::VariableId v,
                              const std::vector<Use>& uses) {
  bool pulled = false, alone = false, held = false, shared = false;
  for (const Use& u : uses) {
    const density::Term& t = d.terms[u.term];
    const density::Atom& a = t.atoms[u.atom];
    if (!a.opaque.empty()) continue;
    if (a.stat == Stat::log && d.algebra.literal(t.coef).value_or(0) < 0) {
      pulled = true;
      alone = alone || (d.origins[t.origin].statement != m[v].statement && t.index_vars.size() == a.axes.size());
    }
    if (a.stat != Stat::inverse && a.stat != Stat::inverse_square) continue;
    if (t.atoms.size() > 1) shared = true;
    else if (d.origins[t.origin].statement == m[v].statement) return false;
    else held = true;
  }
  return pulled && (!held || (shared && alone));
}

/// Returns true if `guide point` would give the variable an update: a family of points has its statistics, where gamma
/// functions count as available, and its density has a maximum above 0.
bool may_be_point(const model::Model& m, const density::Density& d, model::VariableId v, const std::vector<Use>& uses) {
  if (m[v].support != math::Support::positive || std::ranges::find(m.guide.point, v) != m.guide.point.end())
    return false;
  std::vector<Stat> needed;
  bool gamma_functions = false;
  for (const Use& u : uses) {
    const density::Atom& a = d.terms[u.term].atoms[u.atom];
    if (a.opaque.empty()) needed.push_back(a.stat);
    else if (std::ranges::find(a.opaque.functions, math::Function::lgamma) != a.opaque.functions.end())
      gamma_functions = true;
    else if (!a.opaque.product) return false;
  }
  if (gamma_functions) needed.push_back(Stat::log_gamma);
  return math::point_family(m[v].support, needed) != nullptr && !may_be_unbounded_at_zero(m, d, v, uses);
}

}  // namespace

void report_not_conjugate(const model::Model& m, const density::Density& d, model::VariableId v,
                          const math::FamilyRow& prior, const std::vector<Use>& uses, Diagnostics& diagnostics) {
  const std::string& name = m[v].name;
  std::set<Stat> prior_stats;
  const bool joint = std::ranges::any_of(m.guide.joint, [&](const model::JointGuide& j) { return j.has(v); });
  if (prior.factor) {
    for (const math::StatisticRow& s : prior.factor->statistics)
      prior_stats.insert(s.stat);
  }
  // The term to blame has a statistic that the prior's family does not have. A term of another statement is better than
  // one of the prior.
  std::vector<math::Stat> likelihood;
  const Use* offender = nullptr;
  bool any_opaque = false;
  for (const Use& u : uses) {
    const density::Term& t = d.terms[u.term];
    const density::Atom& a = t.atoms[u.atom];
    const bool own = d.origins[t.origin].statement == m[v].statement;
    if (!own && a.opaque.empty()) likelihood.push_back(a.stat);
    any_opaque = any_opaque || !a.opaque.empty();
    const bool bad = !a.opaque.empty() || !prior_stats.contains(a.stat) || joint;
    if (!bad) continue;
    const bool better = !offender || (d.origins[d.terms[offender->term].origin].statement == m[v].statement && !own);
    if (better) offender = &u;
  }
  if (!offender) offender = uses.empty() ? nullptr : &uses.front();
  if (!offender) return;
  const density::Term& t = d.terms[offender->term];
  const density::Atom& a = t.atoms[offender->atom];
  Diagnostic& diag = diagnostics.add(
      DiagnosticKind::not_conjugate, d.origins[t.origin].span, "'" + name + "'",
      fmt::format("the term {} needs {}", density::print(m, d.algebra, t), density::print_statistic(m, a)));
  if (joint) {
    diag.note(
        "a joint block needs the mean's precision to be a known multiple of the block's own precision, "
        "as in mean ~ Normal(mean = m0, precision = k0 * tau)");
    return;
  }
  std::vector<std::string> families;
  for (const math::FamilyRow* f : math::factors_for(m[v].support, {}))
    families.push_back(statistics_of(*f));
  diag.note(
      fmt::format("the prior {} was declared here; families on its support: {}", prior.name, fmt::join(families, ", ")),
      m[v].span);
  if (may_be_point(m, d, v, uses)) {
    diag.note(fmt::format("`guide point({});` takes the value at which the posterior is largest", name));
  } else if (const std::string how = advice_for(m, d, t, a); !how.empty()) {
    diag.note(how);
  }
  if (!any_opaque) propose_conjugate(m, v, likelihood, diag);
}

}  // namespace lehr::conditionals
