// Replaces each statement of a compound distribution by two (math::Compound): one for a hidden variable, one for the
// value given it. The typed distribution is retained for messages, and for checks of its parameters.
//
//   y[n] ~ StudentT(df = 4, mean = mu, sd = s)     becomes     y.weight[n] ~ Gamma(shape = 0.5 * 4, rate = 0.5 * 4)
//                                                              y[n] ~ Normal(mean = mu, precision = y.weight[n] * ...)
#include <algorithm>
#include <map>
#include <stdexcept>

#include "compiler/model/resolver.h"
#include "compiler/model/walk.h"
#include "compiler/support/overloaded.h"

namespace lehr::model {
namespace {

using Symbols = std::map<std::string, ExprId>;  // expressions of the model, by name in a formula

/// Writes formulas of the family table as expressions of the model.
class Writer {
 public:
  Writer(Model& m, Span span) : m_(m), span_(span) {}

  /// Returns the expression for a formula. Returns nothing if the formula is an optional parameter that was left out.
  std::optional<ExprId> write(const math::Expr& e, const Symbols& symbols) {
    if (const auto* s = std::get_if<math::Symbol>(&e->form)) {
      const auto found = symbols.find(s->name);
      return found == symbols.end() ? std::nullopt : std::optional(found->second);
    }
    return node(e, symbols);
  }

  /// Adds an expression to the model and returns its id.
  ExprId add(decltype(Expr::node) node, std::vector<PlateId> shape = {}) {
    m_.exprs.push_back({std::move(node), std::move(shape), std::nullopt, span_});
    return ExprId(m_.exprs.size() - 1);
  }

 private:
  // Writes a formula that is not a plain symbol.
  ExprId node(const math::Expr& e, const Symbols& symbols) {
    const auto rec = [&](const math::Expr& x) { return write(x, symbols).value(); };
    return std::visit(Overloaded{[&](const math::Number& n) { return add(Number{n.value}); },
                                 [&](const math::Add& x) {
                                   return add(Binary{BinaryOp::add, rec(x.left), rec(x.right)});
                                 },
                                 [&](const math::Multiply& x) {
                                   return add(Binary{BinaryOp::multiply, rec(x.left), rec(x.right)});
                                 },
                                 [&](const math::Apply& f) {
                                   const ExprId argument = rec(f.argument);
                                   if (f.function == Function::reciprocal)
                                     return add(Binary{BinaryOp::divide, add(Number{1}), argument});
                                   return add(Apply{f.function, argument});
                                 },
                                 [](const auto&) -> ExprId {
                                   throw std::logic_error("a part of a compound is not a plain formula");
                                 }},
                      e->form);
  }

  Model& m_;
  Span span_;
};

/// Makes a part of a compound distribution, with its parameters written as expressions.
Distribution part(Writer& writer, const math::Compound::Part& part, const Symbols& symbols, Span span) {
  Distribution out{math::find_family(part.family), {}, span};
  for (const math::DensityParameter& p : math::density_parameters(*out.family)) {
    const auto formula = std::ranges::find(part.parameters, p.name, &std::pair<std::string, math::Expr>::first);
    const auto spelling = std::ranges::find(out.family->spellings, p.name, &math::Spelling::name);
    if (const auto value = writer.write(formula->second, symbols)) out.parameters.push_back({&*spelling, *value});
  }
  return out;
}

/// Returns true if one of the expressions mentions an earlier element of a chain.
bool is_lagged(const Model& m, const std::vector<ExprId>& roots) {
  return std::ranges::any_of(references_under(m, roots), [](const VariableRef* ref) { return is_lagged(*ref); });
}

/// Makes a reference to the element of a variable that belongs to the current element of the statement.
ExprId element(Writer& writer, const Model& m, VariableId variable, const std::vector<IndexVarId>& bounds, Span span) {
  VariableRef ref{variable, {}};
  for (const IndexVarId b : bounds)
    ref.indices.push_back({Index::Shifted{b, 0}, m[b].plate, span});
  return writer.add(std::move(ref), m[variable].event);
}

/// Warns if a count has a hidden variable and a latent category among its parameters. Both explain how large it is, and
/// separate factors make the posterior of the category too certain.
void warn_of_choice(Resolver& r, const Statement& s) {
  const math::Support support = s.main.family->support;
  if (support != math::Support::count && support != math::Support::counts) return;
  for (const VariableRef* ref : references_under(r.model, roots_of(s))) {
    if (!r.model[ref->variable].value_plate || r.model[ref->variable].observed) continue;
    r.diagnostics.add(DiagnosticKind::chosen_compound, s.main.span, r.model[ref->variable].name, s.main.family->name,
                      r.model[s.variable].name + "." + s.main.family->compound->variable);
    return;
  }
}

/// Expands one statement.
void expand_statement(Resolver& r, StatementId id) {
  Model& m = r.model;
  const Statement s = m[id];
  warn_of_choice(r, s);
  const math::Compound& compound = *s.main.family->compound;
  const Span span = s.main.span;
  Writer writer(m, span);
  Symbols symbols;
  for (const Parameter& p : s.main.parameters) {
    const math::Spelling& typed = *p.spelling;
    symbols[typed.canonical] = typed.convert ? writer.write(*typed.convert, {{typed.name, p.value}}).value() : p.value;
  }
  Distribution prior = part(writer, compound.prior, symbols, span);
  prior.written = {{s.main.family, {}, span}};

  const VariableId variable(m.variables.size());
  Variable v;
  v.name = m[s.variable].name + "." + compound.variable;
  v.span = m[s.variable].span;
  v.axes = m[s.variable].axes;
  v.support = prior.family->support;
  if (math::event_rank(v.support) > 0) v.event = m[s.variable].event;
  v.statement = StatementId(m.statements.size());
  m.variables.push_back(std::move(v));
  const Statement added{variable, s.index_vars, std::move(prior), std::nullopt, std::nullopt, s.span};
  if (s.lagged && is_lagged(m, roots_of(added)))
    r.diagnostics.add(DiagnosticKind::compound_of_previous, span, s.main.family->name, m[variable].name);
  m.statements.push_back(added);

  symbols[compound.variable] = element(writer, m, variable, s.index_vars, span);
  Distribution value = part(writer, compound.value, symbols, span);
  value.written = {s.main};
  m.statements[id.index()].main = std::move(value);
}

}  // namespace

void expand_compounds(Resolver& r) {
  const std::size_t count = r.model.statements.size();
  for (std::size_t k = 0; k < count; ++k) {
    const Statement& s = r.model.statements[k];
    if (s.start && s.start->family->compound) {
      r.diagnostics.add(DiagnosticKind::compound_start, s.start->span, s.start->family->name,
                        s.start->family->compound->value.family);
      continue;
    }
    if (s.main.family->compound) expand_statement(r, StatementId(k));
  }
}

}  // namespace lehr::model
