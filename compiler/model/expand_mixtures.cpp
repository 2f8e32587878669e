// Adds to each mixture a variable that selects the part: a category with the weights as probabilities, or a bit for two
// parts.
//
//   x[n] ~ mixture(w, Normal(a, 1), Normal(b, 1))     adds     x.part[n] ~ Categorical(w)
//
// A latent category or bit in place of the weights selects the part itself: mixture(z[n], ...). Products in the
// parameters of observed counts and bits, such as Bernoulli(z[n] * p), are such mixtures.
#include <algorithm>
#include <utility>

#include "compiler/math/evaluate.h"
#include "compiler/model/resolver.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

/// Returns true if the model says that the plate has as many elements as the mixture has parts: `= K` leads to that
/// number.
bool has_size(const Model& m, PlateId plate, std::size_t parts) {
  const Plate& p = m[m[plate].set];
  if (!p.size) return false;
  ExprId size = *p.size;
  while (const auto* c = std::get_if<ConstantRef>(&m[size].node)) {
    if (!m[c->constant].value) return false;
    size = *m[c->constant].value;
  }
  const auto* n = std::get_if<Number>(&m[size].node);
  return n && n->value == static_cast<double>(parts);
}

/// Warns if a latent category chooses parameters of the parts. Category and part explain a value together, and separate
/// factors cannot say that one is likely only with the other.
void warn_of_chosen_part(Resolver& r, const Statement& s, const std::string& selector) {
  std::vector<ExprId> roots;
  for (const Parameter& p : s.main.parameters)
    roots.push_back(p.value);
  for (const Distribution& d : s.others)
    for (const Parameter& p : d.parameters)
      roots.push_back(p.value);
  for (const VariableRef* ref : references_under(r.model, roots)) {
    const Variable& v = r.model[ref->variable];
    if (!v.value_plate || v.observed || v.name == selector) continue;
    r.diagnostics.add(DiagnosticKind::chosen_part, s.main.span, v.name, r.model[s.variable].name, selector)
        .note("Gibbs sampling draws both; a category with a value for each combination has one factor");
    return;
  }
}

/// Reports that the weights of a mixture do not match its parts.
void report_weights(Resolver& r, const Statement& s, Span span, std::size_t parts, std::string note) {
  r.diagnostics.add(DiagnosticKind::mixture_weights, span, r.model[s.variable].name, parts).note(std::move(note));
}

/// Returns true if the expression is an element of a latent category or bit.
bool is_switch(const Model& m, ExprId id) {
  const auto* v = std::get_if<VariableRef>(&m[id].node);
  return v && m[id].shape.empty() && !m[v->variable].observed &&
         (m[id].value_plate || m[v->variable].support == math::Support::bit);
}

/// Makes a latent category or bit select the part, or reports that it has not as many values as there are parts.
void switch_by(Resolver& r, StatementId id, ExprId selector) {
  const Model& m = r.model;
  const std::optional<PlateId>& plate = m[selector].value_plate;
  const std::size_t parts = 1 + m[id].others.size();
  if (plate ? has_size(m, *plate, parts) : parts == 2) {
    warn_of_chosen_part(r, m[id], m[std::get<VariableRef>(m[selector].node).variable].name);
    r.model.statements[id.index()].part = selector;
    return;
  }
  report_weights(r, m[id], m[selector].span, parts,
                 plate ? fmt::format("write `plate {} = {};`: its elements are the parts in their order",
                                     m[m[*plate].set].name, parts)
                       : "a bit selects one of two parts: the first if it is 1");
}

/// Adds the selecting variable of one mixture, or reports that the weights do not match the parts.
void expand_statement(Resolver& r, StatementId id, ExprId weights) {
  Model& m = r.model;
  if (is_switch(m, weights)) return switch_by(r, id, weights);
  const Statement s = m[id];
  const std::vector<PlateId> shape = m[weights].shape;
  const std::size_t parts = 1 + s.others.size();
  const Span span = m[weights].span;
  if (m[weights].value_plate)
    return report_weights(r, s, span, parts,
                          "what selects the part is latent; data that do are an index: a parameter with an element for "
                          "each part, as in mu[kind[n]]");
  if (shape.empty() ? parts != 2 : !has_size(m, shape[0], parts)) {
    report_weights(
        r, s, span, parts,
        shape.empty()
            ? "one number is the probability of the first of two parts; more have a vector of weights over a plate"
            : fmt::format("write `plate {} = {};`: its elements are the parts in their order", m[m[shape[0]].set].name,
                          parts));
    return;
  }
  warn_of_chosen_part(r, s, m[s.variable].name + ".part");
  const math::FamilyRow& family = math::mixture_selector_family(!shape.empty());
  Variable v;
  v.name = m[s.variable].name + ".part";
  v.span = m[s.variable].span;
  v.axes = m[s.variable].axes;
  v.support = family.support;
  if (!shape.empty()) v.value_plate = shape[0];
  v.statement = StatementId(m.statements.size());
  const VariableId variable(m.variables.size());
  m.variables.push_back(std::move(v));
  m.statements.push_back({variable, s.index_vars, {&family, {{&family.spellings[0], weights}}, span}, {}, {}, s.span});
  VariableRef ref{variable, {}};
  for (const IndexVarId b : s.index_vars)
    ref.indices.push_back({Index::Shifted{b, 0}, m[b].plate, span});
  m.exprs.push_back({std::move(ref), {}, shape.empty() ? std::nullopt : std::optional(shape[0]), span});
  m.statements[id.index()].part = ExprId(m.exprs.size() - 1);
}

/// Returns true if the expression is a latent probability.
bool is_random_probability(const Model& m, ExprId id) {
  const auto* v = std::get_if<VariableRef>(&m[id].node);
  return v && m[id].shape.empty() && !m[v->variable].observed && m[v->variable].support == math::Support::unit;
}

/// Returns true if the expression is an element of a latent bit.
bool is_random_bit(const Model& m, ExprId id) { return is_switch(m, id) && !m[id].value_plate; }

/// Returns the bit z of an expression `1 - z`, or nothing.
std::optional<ExprId> complemented_bit(const Model& m, ExprId id) {
  const auto* difference = std::get_if<Binary>(&m[id].node);
  if (!difference || difference->op != BinaryOp::subtract || !is_random_bit(m, difference->right)) return std::nullopt;
  const auto* one = std::get_if<Number>(&m[difference->left].node);
  return one && one->value == 1 ? std::optional(difference->right) : std::nullopt;
}

/// Returns true if the expression is a number of data or constants, other than the number 1.
bool is_given_share(const Model& m, ExprId id) {
  const auto* n = std::get_if<Number>(&m[id].node);
  return m[id].shape.empty() && references_under(m, {id}).empty() && !(n && n->value == 1);
}

/// Returns true if the distribution surely gives 0 where its parameter is 0: the p of a Bernoulli or Binomial, the rate
/// of a Poisson.
bool is_zero_at_zero(const math::FamilyRow& family, const Parameter& p) {
  const bool counts = family.support == math::Support::bit || family.support == math::Support::count;
  if (!counts || !family.mean || p.spelling->convert || family.compound) return false;
  math::Environment at;
  for (const math::Spelling& each : family.spellings)
    at.symbols[each.canonical] = {0, {each.canonical == p.spelling->canonical ? 0.0 : 1.0}};
  return math::evaluate(*family.mean, at) == 0;
}

/// Returns the row of counts that are always 0: the one without parameters.
const math::FamilyRow& constant_count() {
  const auto is_it = [](const math::FamilyRow& row) {
    return row.support == math::Support::count && row.spellings.empty();
  };
  return *std::ranges::find_if(math::families(), is_it);
}

/// A product in a parameter as a choice of two distributions: the one with `rest` in the place of the product, and 0.
struct Choice {
  ExprId weight;          // a latent bit, or the probability of the first
  ExprId rest;            // the other factor of the product
  bool inverted = false;  // `weight` is a bit that is 0 where the distribution with `rest` is chosen
};

/// Returns the choice that a product means, if it has one factor that is a latent bit, or its complement; in the
/// probability of a Bernoulli also a known number or a latent probability beside something random.
std::optional<Choice> choice_of(const Model& m, const Binary& product, bool bernoulli) {
  const std::pair<ExprId, ExprId> orders[] = {{product.left, product.right}, {product.right, product.left}};
  for (const auto& [weight, rest] : orders) {
    if (is_random_bit(m, weight)) return Choice{weight, rest};
    if (const auto bit = complemented_bit(m, weight)) return Choice{*bit, rest, true};
  }
  const auto is_random = [&](ExprId id) { return !references_under(m, {id}).empty(); };
  for (const auto& [weight, rest] : orders)
    if (bernoulli && is_given_share(m, weight) && is_random(rest)) return Choice{weight, rest};
  for (const auto& [weight, rest] : orders)
    if (bernoulli && is_random_probability(m, weight) && is_random(rest)) return Choice{weight, rest};
  return std::nullopt;
}

/// Rewrites distributions of observed counts and bits whose parameter is a product as a mixture:
///
///   Bernoulli(a * b)     of two latent probabilities     mixture(a, Bernoulli(b), Bernoulli(0))
///   Poisson(z * rate)    of a latent bit z               mixture(z, Poisson(rate), Zero())
///
/// A bit of probability a * b is 1 if a bit of probability a and one of probability b both are. Each factor then has
/// conjugate terms.
void expand_products(Resolver& r) {
  Model& m = r.model;
  for (std::size_t k = 0; k < m.statements.size(); ++k) {
    Statement& s = m.statements[k];
    if (!m[s.variable].observed || s.start || s.limits.any() || !s.others.empty()) continue;
    for (Parameter& p : s.main.parameters) {
      const auto* product = std::get_if<Binary>(&m[p.value].node);
      if (!product || product->op != BinaryOp::multiply || !m[product->left].shape.empty() ||
          !m[product->right].shape.empty() || !is_zero_at_zero(*s.main.family, p))
        continue;
      const bool bit = s.main.family->support == math::Support::bit;
      const std::optional<Choice> choice = choice_of(m, *product, bit);
      if (!choice) continue;
      Distribution never = s.main;
      p.value = choice->rest;
      if (bit) never.parameters[0].value = ExprId(m.exprs.size());
      else never = {&constant_count(), {}, s.main.span};
      s.others.push_back(std::move(never));
      if (choice->inverted) std::swap(s.main, s.others[0]);
      if (bit) m.exprs.push_back({Number{0}, {}, std::nullopt, s.span});
      r.mixtures.emplace(StatementId(k), choice->weight);
      break;
    }
  }
}

}  // namespace

void expand_mixtures(Resolver& r) {
  expand_products(r);
  for (const auto& [id, weights] : r.mixtures)
    expand_statement(r, id, weights);
}

}  // namespace lehr::model
