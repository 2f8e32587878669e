// "No closed form, because ...": the first-class explanation of a conditional that does not exist.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/conditionals/conditionals.h"
#include "compiler/density/print_density.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"
#include "compiler/support/printing.h"

namespace lehr::conditionals {
namespace {

using math::Stat;

std::string statistics_of(const math::FamilyRow& f) {
  std::vector<std::string> names;
  for (const math::StatisticRow& s : f.factor->statistics)
    names.emplace_back(math::name_of(s.stat));
  return fmt::format("{} {{{}}}", f.name, fmt::join(names, ", "));
}

std::string element_of(const model::Model& m, model::VariableId v, const std::string& name) {
  return name + bracketed(listed(m[v].axes, [&](model::PlateId p) { return m[p].name; }));
}

/// The statement of a family with its parameters to be filled in.
std::string statement_of(const math::FamilyRow& row, const std::string& name) {
  const auto spelled = [](const math::DensityParameter& p) {
    return p.name + " = " + (p.event_rank == 0 ? "1" : "...");
  };
  return fmt::format("`{} ~ {}({});`", name, row.name, listed(math::density_parameters(row), spelled));
}

/// Where the variable is a parameter in another spelling than that of the density (sd), which has a conjugate prior.
std::string respelled(const model::Model& m, const model::Statement& s, model::VariableId v) {
  for (const model::Distribution* d : model::distributions_of(s)) {
    for (const model::Parameter& p : d->parameters) {
      const auto* ref = std::get_if<model::VariableRef>(&m[p.value].node);
      if (!p.spelling->convert || !ref || ref->variable != v) continue;
      const auto canonical = std::ranges::find(d->family->spellings, p.spelling->canonical, &math::Spelling::name);
      const auto families = math::factors_for(canonical->domain, {});
      if (families.empty()) return "";
      const std::string name = fmt::format("{}_{}", m[v].name, canonical->name);
      return fmt::format("the {0} has a conjugate prior: in the place of '{1}' draw {2}, and write `{0} = {3}`",
                         canonical->name, m[v].name, statement_of(*families.front(), element_of(m, v, name)), name);
    }
  }
  return "";
}

/// The argument of exp under which the variable stands.
std::optional<model::ExprId> exponent_of(const model::Model& m, const model::Statement& s, model::VariableId v) {
  for (const model::ExprId id : model::nodes_under(m, model::roots_of(s))) {
    const auto* f = std::get_if<model::Apply>(&m[id].node);
    if (!f || f->function != math::Function::exp) continue;
    for (const model::ExprId inner : model::nodes_under(m, {f->argument})) {
      const auto* ref = std::get_if<model::VariableRef>(&m[inner].node);
      if (ref && ref->variable == v) return f->argument;
    }
  }
  return std::nullopt;
}

/// A rate or precision that is exp of something random.
std::string without_exp(const model::Model& m, const model::Statement* s, model::VariableId v) {
  const std::optional<model::ExprId> e = s ? exponent_of(m, *s, v) : std::nullopt;
  if (e && m[s->variable].observed && m[s->variable].support == math::Support::count) {
    return fmt::format(
        "counts with a mean of exp(e) and hardly more spread than Poisson's have a bound: write "
        "`{} ~ NegativeBinomial(100, logistic(log(100) - ({})));` (variance mean + mean^2 / 100)",
        m[s->variable].name + bracketed(listed(s->bounds, [&](model::BoundId b) { return m[b].name; })), print(m, *e));
  }
  return "draw what exp(...) stands for as a positive variable: write `positive` in its place, and `positive ~ "
         "Gamma(shape = 1, rate = 1);`, one for each group of items or a product of several";
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
  const std::optional<model::StatementId> origin = d.origins[t.origin].statement;
  const model::Statement* statement = origin ? &m[*origin] : nullptr;
  if (statement) {
    if (std::string line = respelled(m, *statement, a.variable); !line.empty()) return line;
  }
  if (statement && m[statement->variable].observed && statement->limits.below && !statement->main.family->gaussian) {
    return fmt::format("{} values can be censored above where '{}' is random, and below only where it is known",
                       statement->main.family->name, name);
  }
  if (std::ranges::find(functions, Function::exp) != functions.end()) return without_exp(m, statement, a.variable);
  if (std::ranges::find(functions, Function::lgamma) != functions.end() &&
      m[a.variable].support == math::Support::simplex) {
    return fmt::format(
        "concentrations are positive points: draw `{} ~ Gamma(shape = 1, rate = 1) over {};`, write the name alone as "
        "the concentration, and `guide point({});`; its sum is the concentration, its shares of the sum are those of "
        "{}",
        element_of(m, a.variable, name), m[m[a.variable].event[0]].name, name, name);
  }
  if (std::ranges::find(functions, Function::lgamma) != functions.end()) {
    return fmt::format(
        "a concentration or a shape has no conjugate prior: give it a value, `const {0} = 1;`, and compare fits with "
        "other "
        "values by their ELBO",
        name);
  }
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
  return "";
}

/// Whether a point has an update: a family of points, or gamma functions of the variable that may be given one.
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
  return math::point_family(m[v].support, needed) != nullptr;
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
  if (may_be_point(m, d, v, uses)) {
    diag.note(fmt::format("`guide point({});` takes the value at which the posterior is largest", name));
  } else if (const std::string how = cure(m, d, t, a); !how.empty()) {
    diag.note(how);
  }
  if (!any_opaque) {
    for (const math::FamilyRow* f : math::factors_for(m[v].support, likelihood)) {
      if (f != &prior)
        diag.note(fmt::format("{} would be conjugate: declare {}", f->name, statement_of(*f, element_of(m, v, name))));
    }
  }
}

}  // namespace lehr::conditionals
