// "No closed form, because ...": the first-class explanation of a conditional that does not exist.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/conditionals/conditionals.h"
#include "compiler/density/print_density.h"

namespace lehr::conditionals {
namespace {

using math::Stat;

std::string statistics_of(const math::FamilyRow& f) {
  std::vector<std::string> names;
  for (const math::StatisticRow& s : f.factor->statistics)
    names.emplace_back(math::name_of(s.stat));
  return fmt::format("{} {{{}}}", f.name, fmt::join(names, ", "));
}

/// What to write instead of a statistic that no family has; empty where nothing better is known.
std::string cure(const model::Model& m, const density::Density& d, const density::Term& t, const density::Atom& a) {
  using density::IndexLookup;
  const std::string& name = m[a.variable].name;
  for (const density::Guard& g : t.guards) {
    if (g.present || g.relation != density::Relation::equal) continue;
    if (!std::holds_alternative<IndexLookup>(d.algebra[g.left]) ||
        !std::holds_alternative<IndexLookup>(d.algebra[g.right]))
      continue;
    density::Names names(m, d.algebra);
    const std::string left = print(names, g.left), right = print(names, g.right);
    return fmt::format(
        "{0} and {1} may be the same element, where '{2}' is multiplied by itself; whether the data have such "
        "pairs is not known here: draw a variable for each side, {2}1[{0}] and {2}2[{1}]",
        left, right, name);
  }
  if (a.opaque.empty()) return "";
  using math::Function;
  const std::vector<Function>& functions = a.opaque.functions;
  if (a.opaque.product || functions.empty()) {
    return fmt::format(
        "'{0}' is multiplied by itself, and only products of different variables have closed forms: draw "
        "the second factor as a variable of its own, or the whole product as one",
        name);
  }
  const math::Support support = m[a.variable].support;
  if (functions == std::vector{Function::log} && a.opaque.power == 0 &&
      (support == math::Support::real || support == math::Support::vector)) {
    return fmt::format(
        "'{}' can be negative, but what stands here must be positive: draw it from Gamma, or "
        "from Beta if it is a probability",
        name);
  }
  if (functions.front() == Function::exp || functions == std::vector{Function::log, Function::exp})
    return "draw what exp(...) stands for as a positive variable, from Gamma";
  return "";
}

}  // namespace

void explain(const model::Model& m, const density::Density& d, model::VariableId v, const math::FamilyRow& prior,
             const std::vector<Use>& uses, Diagnostics& diagnostics) {
  const std::string& name = m[v].name;
  std::set<Stat> prior_stats;
  const bool joint =
      !m.guide.joint.empty() && std::any_of(m.guide.joint.begin(), m.guide.joint.end(),
                                            [&](const auto& j) { return std::find(j.begin(), j.end(), v) != j.end(); });
  if (prior.factor) {
    for (const math::StatisticRow& s : prior.factor->statistics)
      prior_stats.insert(s.stat);
  }
  // The offender: a statistic that the prior's family does not have, preferably from another statement.
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
  std::vector<std::string> rows;
  for (const math::FamilyRow* f : math::factors_for(m[v].support, {}))
    rows.push_back(statistics_of(*f));
  diag.note(
      fmt::format("the prior {} was declared here; families on its support: {}", prior.name, fmt::join(rows, ", ")),
      m[v].span);
  if (const std::string how = cure(m, d, t, a); !how.empty()) diag.note(how);
  if (!any_opaque) {
    for (const math::FamilyRow* f : math::factors_for(m[v].support, likelihood)) {
      if (f != &prior) diag.note(fmt::format("{} would be conjugate: declare {} ~ {}(...)", f->name, name, f->name));
    }
  }
}

}  // namespace lehr::conditionals
