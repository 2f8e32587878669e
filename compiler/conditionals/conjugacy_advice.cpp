// Advice on what to write instead of a term without a closed form. Each function below recognises one pattern, and
// returns a sentence with complete statements or an empty text. advice_for() at the end tries one after the other.
#include "compiler/conditionals/conjugacy_advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/density/print_density.h"
#include "compiler/model/print_model.h"
#include "compiler/model/statement_text.h"
#include "compiler/model/walk.h"
#include "compiler/support/printing.h"

namespace lehr::conditionals {
namespace {

using math::Function;

/// Returns the name with the plates of `v` as its indices: `tau[k]`.
std::string element_of(const model::Model& m, model::VariableId v, const std::string& name) {
  return name + bracketed(listed(m[v].axes, [&](model::PlateId p) { return m[p].name; }));
}

/// Returns the text of a distribution with another text for the parameter `other`.
std::string with_parameter(const model::Model& m, const model::Distribution& d, const model::Parameter& other,
                           const std::string& text) {
  const auto spelled = [&](const model::Parameter& p) {
    return &p == &other ? text : p.spelling->name + " = " + print(m, p.value);
  };
  return fmt::format("{}({})", d.family->name, listed(d.parameters, spelled));
}

/// Returns the indices of a reference in brackets.
std::string indices_of(const model::Model& m, const model::VariableRef& ref) {
  return bracketed(listed(ref.indices, [&](const model::Index& i) { return print(m, i); }));
}

/// Returns true if the model has something of that name.
bool is_declared(const model::Model& m, const std::string& name) {
  const auto in = [&](const auto& all) {
    return std::ranges::any_of(all, [&](const auto& x) { return x.name == name; });
  };
  return in(m.variables) || in(m.givens) || in(m.plates) || in(m.constants);
}

/// Returns the advice to use the canonical parameter, which has a conjugate prior, where the variable is another
/// spelling of it: a precision in place of `sd`.
std::string respelled(const model::Model& m, const model::Statement& s, model::VariableId v) {
  for (const model::Distribution* d : model::distributions_of(s)) {
    for (const model::Parameter& p : d->parameters) {
      const auto* ref = std::get_if<model::VariableRef>(&m[p.value].node);
      if (!p.spelling->convert || !ref || ref->variable != v) continue;
      const auto canonical = std::ranges::find(d->family->spellings, p.spelling->canonical, &math::Spelling::name);
      if (canonical == d->family->spellings.end()) return "";
      const auto families = math::factors_for(canonical->domain, {});
      if (families.empty()) return "";
      const std::string name = fmt::format("{}_{}", m[v].name, canonical->name);
      if (is_declared(m, name)) return "";
      const std::string instead =
          with_parameter(m, *d, p, fmt::format("{} = {}{}", canonical->name, name, indices_of(m, *ref)));
      return fmt::format("the {} has a conjugate prior: in the place of '{}' draw `{}`, and write `{}`",
                         canonical->name, m[v].name, first_prior(m, v, *families.front(), name),
                         statement_text(m, s, d, instead));
    }
  }
  return "";
}

/// Returns true if the expression mentions the variable.
bool is_under(const model::Model& m, model::ExprId root, model::VariableId v) {
  return std::ranges::any_of(model::references_under(m, {root}),
                             [&](const model::VariableRef* ref) { return ref->variable == v; });
}

/// Returns true if the expression mentions no variable.
bool is_constant(const model::Model& m, model::ExprId root) { return model::references_under(m, {root}).empty(); }

/// Returns the text of the logarithm of a product of exponentials and of data, or nothing for other expressions.
std::optional<std::string> log_text(const model::Model& m, model::ExprId id) {
  if (is_constant(m, id)) return fmt::format("log({})", print(m, id));
  if (const auto* f = std::get_if<model::Apply>(&m[id].node); f && f->function == Function::exp)
    return print(m, f->argument);
  const auto* b = std::get_if<model::Binary>(&m[id].node);
  if (!b || (b->op != math::BinaryOp::multiply && b->op != math::BinaryOp::divide)) return std::nullopt;
  const auto left = log_text(m, b->left), right = log_text(m, b->right);
  if (!left || !right) return std::nullopt;
  return b->op == math::BinaryOp::multiply ? fmt::format("{} + {}", *left, *right)
                                           : fmt::format("{} - ({})", *left, *right);
}

/// Returns the statement of a Poisson count, whose mean contains exp(... v ...), as a NegativeBinomial with a logistic
/// link, which has a bound. Returns an empty text if the statement is no such count.
std::string negative_binomial(const model::Model& m, const model::Statement& s, model::VariableId v) {
  for (const model::Distribution* d : model::distributions_of(s)) {
    if (d->family->support != math::Support::count || !d->written.empty()) continue;
    for (const model::Parameter& p : d->parameters) {
      const std::optional<math::Expr> mean = math::symbol(p.spelling->canonical);
      if (p.spelling->convert || d->family->mean != mean || d->family->covariance != mean) continue;
      const auto log_mean = is_under(m, p.value, v) ? log_text(m, p.value) : std::nullopt;
      if (log_mean)
        return statement_text(m, s, d, fmt::format("NegativeBinomial(100, logistic(log(100) - ({})))", *log_mean));
    }
  }
  return "";
}

/// Returns the advice to write all Poisson counts that depend on exp(v) as NegativeBinomial. One alone would leave the
/// others without a closed form.
std::string negative_binomials(const model::Model& m, model::VariableId v) {
  std::vector<std::string> lines;
  for (const model::Statement& s : m.statements) {
    if (!m[s.variable].observed) continue;
    if (std::string line = negative_binomial(m, s, v); !line.empty()) lines.push_back("`" + line + "`");
  }
  if (lines.empty()) return "";
  return fmt::format(
      "counts with hardly more spread than Poisson's have a bound: write {} (variance mean + mean^2 / 100); its means "
      "are good where they are well below 100, its standard deviations too small: `lehr diagnose` says by how much",
      listed(lines, {}, " and "));
}

/// Returns the advice to draw exp(v) itself as a positive variable, if `v` occurs as exp(v) alone.
std::string without_exp(const model::Model& m, const model::Statement& s, model::VariableId v) {
  model::Model changed = m;
  bool any = false;
  for (const model::ExprId id : model::nodes_under(m, model::roots_of(s))) {
    const auto* f = std::get_if<model::Apply>(&m[id].node);
    if (!f || f->function != Function::exp || !is_under(m, f->argument, v)) continue;
    const auto* ref = std::get_if<model::VariableRef>(&m[f->argument].node);
    if (!ref || ref->variable != v) return "";
    changed.exprs[id.index()].node = *ref;
    any = true;
  }
  const auto families = math::factors_for(math::Support::positive, {});
  if (!any || math::event_rank(m[v].support) != 0 || families.empty()) return "";
  return fmt::format("draw what exp(...) stands for as a positive variable: `{}`, and write `{}`",
                     first_prior(m, v, *families.front(), m[v].name), statement_text(changed, s));
}

/// Returns the advice to draw concentrations as positive points, where a simplex stands in a gamma function.
std::string positive_points(const model::Model& m, const model::Statement& s, model::VariableId v) {
  const auto families = math::factors_for(math::Support::positive, {});
  if (families.empty() || m[v].event.empty()) return "";
  for (const model::Distribution* d : model::distributions_of(s)) {
    for (const model::Parameter& p : d->parameters) {
      if (!is_under(m, p.value, v)) continue;
      const std::string& name = m[v].name;
      const std::string line = first_prior(m, v, *families.front(), name);
      const std::string over = fmt::format(" over {};", m[m[v].event[0]].name);
      const auto refs = model::nodes_under(m, {p.value});
      const auto ref = std::ranges::find_if(
          refs, [&](model::ExprId id) { return std::holds_alternative<model::VariableRef>(m[id].node); });
      const std::string instead = with_parameter(m, *d, p, fmt::format("{} = {}", p.spelling->name, print(m, *ref)));
      return fmt::format(
          "concentrations are positive points: draw `{}`, write `{}` and `guide point({});`; its sum is the "
          "concentration, its shares of the sum are those of {}",
          line.ends_with(over) ? line : line.substr(0, line.size() - 1) + over, statement_text(m, s, d, instead), name,
          name);
    }
  }
  return "";
}

/// Returns the advice to use a variable for each side, where data may name one element twice in a term.
std::string two_sides(const model::Model& m, const density::Density& d, const density::Term& t,
                      const std::string& name) {
  using density::IndexLookup;
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
  return "";
}

}  // namespace

bool has_replaceable_prior(const model::Model& m, model::VariableId v) {
  const model::Statement& s = m[m[v].statement];
  return !s.start && model::references_under(m, model::roots_of(s)).empty();
}

std::string first_prior(const model::Model& m, model::VariableId v, const math::FamilyRow& row,
                        const std::string& name) {
  const bool event = math::event_rank(row.support) > 0 && !m[v].event.empty();
  const std::string plate = event ? m[m[v].event.front()].name : "";
  const auto role_of = [&](const std::string& parameter) {
    if (!row.factor) return math::ParameterRole::other;
    const auto& all = row.factor->parameters;
    const auto found = std::ranges::find(all, parameter, &math::FactorParameter::name);
    return found == all.end() ? math::ParameterRole::other : found->role;
  };
  const auto spelled = [&](const math::DensityParameter& p) {
    const math::ParameterRole role = role_of(p.name);
    return p.name + " = " +
           (role == math::ParameterRole::freedom    ? fmt::format("size({}) + 1", plate)
            : role == math::ParameterRole::location ? std::string("0")
                                                    : std::string("1"));
  };
  return fmt::format("{} ~ {}({}){};", element_of(m, v, name), row.name, listed(math::density_parameters(row), spelled),
                     event ? " over " + plate : "");
}

void propose_conjugate(const model::Model& m, model::VariableId v, const std::vector<math::Stat>& outside,
                       Diagnostic& diagnostic) {
  if (!has_replaceable_prior(m, v)) return;
  for (const math::FamilyRow* f : math::factors_for(m[v].support, outside)) {
    if (f == m[m[v].statement].main.family) continue;
    diagnostic.note(fmt::format("{} would be conjugate: declare `{}`", f->name, first_prior(m, v, *f, m[v].name)));
  }
}

std::string advice_for(const model::Model& m, const density::Density& d, const density::Term& t,
                       const density::Atom& a) {
  const std::string& name = m[a.variable].name;
  if (std::string sides = two_sides(m, d, t, name); !sides.empty()) return sides;
  const std::vector<Function>& functions = a.opaque.functions;
  const auto has = [&](Function f) { return std::ranges::find(functions, f) != functions.end(); };
  const std::optional<model::StatementId> origin = d.origins[t.origin].statement;
  const model::Statement* statement = origin ? &m[*origin] : nullptr;
  const math::Support support = m[a.variable].support;
  const bool free = has_replaceable_prior(m, a.variable);
  // A positive variable without an opaque function may have a conjugate prior as it is.
  if (statement && free && (!a.opaque.empty() || support != math::Support::positive)) {
    if (std::string line = respelled(m, *statement, a.variable); !line.empty()) return line;
  }
  if (a.opaque.empty()) return "";
  if (statement && m[statement->variable].observed && statement->limits.below && !statement->main.family->gaussian)
    return fmt::format("{} values can be censored above where '{}' is random, and below only where it is known",
                       statement->main.family->name, name);
  if (has(Function::exp)) {
    if (!statement) return "";
    const std::string line = m[statement->variable].observed ? negative_binomials(m, a.variable) : "";
    return line.empty() && free ? without_exp(m, *statement, a.variable) : line;
  }
  if (has(Function::lgamma) && support == math::Support::simplex)
    return statement && free ? positive_points(m, *statement, a.variable) : "";
  if (has(Function::lgamma)) {
    if (!free) return "";
    return fmt::format(
        "a concentration or a shape has no conjugate prior: give it a value, `const {0} = 1;`, and compare fits with "
        "other values by their ELBO",
        name);
  }
  if (a.opaque.product || functions.empty()) {
    return fmt::format(
        "'{0}' is multiplied by itself, and only products of different variables have closed forms: draw "
        "the second factor as a variable of its own, or the whole product as one",
        name);
  }
  if (functions == std::vector{Function::log} && a.opaque.power == 0 &&
      (support == math::Support::real || support == math::Support::vector)) {
    return fmt::format(
        "'{}' can be negative, but what stands here must be positive: draw it from Gamma, or "
        "from Beta if it is a probability",
        name);
  }
  return "";
}

}  // namespace lehr::conditionals
