// Writes out the derivation: from the natural parameters of each block to the ordinary parameters of its family, by the
// formulas of the family's row.
//
// A formula that is affine in the natural parameters becomes a sum of summands with their lines. A few other shapes
// occur: a quotient by an earlier parameter, a solution of a linear system, the inverse of a matrix, a softmax. Each
// contains one affine quantity, and the equation is written for that: `precision * mean = ...`, `log odds = ...`.
#include "compiler/conditionals/derivation.h"

#include <algorithm>
#include <set>

#include "compiler/conditionals/formula_writer.h"
#include "compiler/model/roles.h"
#include "compiler/support/overloaded.h"

namespace lehr::conditionals {
namespace {

using density::CoefId;

/// The line numbers of origins.
struct OriginLines {
  const density::Density& density;  // whose origins they are
  const Source& source;             // the model file

  /// Returns the line of an origin, counted from 1.
  int line(std::size_t origin) const { return position_of(source, density.origins[origin].span.begin).line; }
  /// Returns the origins of a statement.
  std::vector<std::size_t> of(model::StatementId statement) const {
    std::vector<std::size_t> out;
    for (std::size_t o = 0; o < density.origins.size(); ++o) {
      if (density.origins[o].statement == statement) out.push_back(o);
    }
    return out;
  }
  /// Returns the lines of several origins, ascending, each once.
  std::vector<int> lines(const std::vector<std::size_t>& origins) const {
    std::set<int> out;
    for (std::size_t o : origins)
      out.insert(line(o));
    return {out.begin(), out.end()};
  }
};

/// Appends the summands of a formula to `out`.
void flatten(const math::Expr& e, std::vector<math::Expr>& out) {
  if (const auto* a = std::get_if<math::Add>(&e->form)) {
    flatten(a->left, out);
    flatten(a->right, out);
  } else {
    out.push_back(e);
  }
}

/// Returns a number times a sum as a sum, so that 1 + D + 2 * 0.5 * (df - D - 1) simplifies to df.
CoefId multiplied_out(density::Algebra& a, CoefId c) {
  double scale = 1;
  std::vector<CoefId> rest;
  for (CoefId f : a.factors(c)) {
    if (const auto n = a.literal(f)) scale *= *n;
    else rest.push_back(f);
  }
  if (rest.size() != 1) return c;
  const density::CoefNode node = a[rest[0]];
  const auto* sum = std::get_if<density::CoefAdd>(&node);
  if (!sum) return c;
  CoefId out = a.number(0);
  for (CoefId part : sum->parts)
    out = a.add(out, multiplied_out(a, a.multiply(a.number(scale), part)));
  return out;
}

/// Writes the equations of one block in one mode (complete conditional or update).
class ParameterWriter {
 public:
  /// Names the element's index variables first, so that they have the plain names. `naturals` are the natural
  /// parameters at `e`; of a chain those of its elements alone. All references must outlive the writer.
  ParameterWriter(const model::Model& m, const Conditionals& c, density::Algebra& a, const Block& b, const Element& e,
                  const std::map<math::Stat, Affine>& naturals, FormulaMode mode, const OriginLines& origin_lines)
      : a_(a), b_(b), e_(e), naturals_(naturals), origin_lines_(origin_lines), m_(m), writer_(m, c, a, mode) {
    for (density::IndexVarId x : e.axes)
      writer_.bound(x);
    // The second event index gets a name only if something mentions it. Otherwise sums elsewhere can have the name.
    const auto& statistics = b.family->factor->statistics;
    const bool second = (b.chain && mode == FormulaMode::expected) ||
                        std::any_of(statistics.begin(), statistics.end(),
                                    [](const math::StatisticRow& s) { return math::event_rank(s.stat) == 2; });
    for (std::size_t k = 0; k < std::min<std::size_t>(e.event.size(), second ? e.event.size() : 1); ++k)
      writer_.bound(e.event[k]);
  }

  /// Returns the block's element of a variable: theta[doc].
  FormulaSymbol element(model::VariableId v) {
    FormulaSymbol out{m_[v].name, {}, {}};
    for (density::IndexVarId x : e_.axes)
      out.axes.push_back({writer_.bound(x)});
    return out;
  }

  /// Returns the equations of the log potentials of a chain.
  std::vector<Equation> potentials(const ChainPotentials& chain) {
    return b_.chain->factor == ChainFactor::gaussian ? gaussian_potentials(chain) : category_potentials(chain);
  }

  /// Returns an equation for each parameter of the family.
  std::vector<Equation> equations() {
    const math::Factor& f = *b_.family->factor;
    std::vector<Equation> out;
    if (std::ranges::none_of(f.parameters, &math::FactorParameter::exported)) {
      // The mode is found in many steps, so the natural parameters themselves are shown.
      for (const math::StatisticRow& s : f.statistics) {
        if (!naturals_.contains(s.stat)) continue;
        const math::Expr natural = math::natural_symbol(s.stat);
        out.push_back({false, {FormulaSymbol{math::natural_name(s.stat), {}, {}}}, parts(natural), std::nullopt});
      }
      return out;
    }
    std::map<std::string, std::string> inverse_of;  // by parameter, the one that is its inverse: rate -> scale
    for (const math::FactorParameter& p : f.parameters) {
      if (const auto* i = std::get_if<math::InverseEntry>(&p.from_natural->form)) inverse_of[i->matrix] = p.name;
    }
    for (const math::FactorParameter& p : f.parameters) {
      const math::Expr& from_natural = p.written ? *p.written : p.from_natural;
      if (std::holds_alternative<math::InverseEntry>(from_natural->form)) continue;
      std::vector<math::Index> indices{math::kFirst, math::kSecond};
      indices.resize(static_cast<std::size_t>(p.event_rank));
      FormulaSymbol left = parameter({p.name, std::move(indices)});
      // A parameter with the name of something in the model gets the variable in front: `p.a = a + ...`.
      if (is_name(p.name)) left.name = m_[b_.variable].name + "." + p.name;
      Equation q{inverse_of.contains(p.name), {left}, {}, std::nullopt};
      if (q.inverse) left.name = inverse_of[p.name];
      if (f.softmax) {
        left.name = "log odds";
        q.parts = parts(math::natural_symbol(math::Stat::indicator, math::kFirst));
      } else if (const auto odds = log_odds(from_natural)) {
        left.name = "log odds";
        q.parts = parts(*odds);
      }
      q.left = {left};
      if (!q.parts.empty()) {
        out.push_back(std::move(q));
        continue;
      }
      // The parameter is P^-1 n, so the equation is P * parameter = n.
      if (const auto linear = solved(from_natural)) {
        q.left = {FormulaQuadratic{
            {{FormulaSymbol{linear->first, {}, {}}}}, {{FormulaSymbol{left.name, {}, {}}}}, left.event}};
        q.parts = parts(linear->second);
      } else if (const auto* m = std::get_if<math::Multiply>(&from_natural->form);
                 m && !affine(from_natural) && divisor(m->right)) {
        q.divisor = formula(*divisor(m->right));
        if (const auto* none = std::get_if<FormulaAdd>(&q.divisor->form); none && none->parts.empty()) continue;
        if (const auto* one = std::get_if<FormulaNumber>(&q.divisor->form); one && one->value == 1) q.divisor.reset();
        q.parts = parts(m->left);
      } else {
        q.parts = parts(from_natural);
      }
      out.push_back(std::move(q));
    }
    return out;
  }

 private:
  /// Returns the log potentials of a chain of categories: of one element, and of each group of neighbours.
  std::vector<Equation> category_potentials(const ChainPotentials& chain) {
    const Formula now{writer_.bound(e_.event[0])};
    std::vector<Equation> out{{false,
                               {FormulaSymbol{"log potential", {}, {now}}},
                               parts(*affine(math::natural_symbol(math::Stat::indicator, math::kFirst))),
                               std::nullopt}};
    for (const auto& [lags, affine] : chain.joint) {
      Formulas values{now};
      for (const std::int64_t lag : lags)
        values.insert(values.begin(), Formula{writer_.bound(e_.event[event_of_lag(b_, lag)])});
      out.push_back({false, {FormulaSymbol{"log potential", {}, std::move(values)}}, parts(affine), std::nullopt});
    }
    return out;
  }

  /// Returns the blocks of the precision matrix of a whole Gaussian sequence, and its product with the mean.
  std::vector<Equation> gaussian_potentials(const ChainPotentials& chain) {
    const FormulaIndex now = writer_.bound(e_.axes.back());
    Formulas components, transposed;
    for (density::IndexVarId x : e_.event)
      components.push_back({writer_.bound(x)});
    transposed.assign(components.rbegin(), components.rend());
    const auto* precision = find_role(*b_.family->factor, math::ParameterRole::precision);
    const auto* mean = find_role(*b_.family->factor, math::ParameterRole::location);
    const math::Expr linear = components.empty() ? math::natural_symbol(math::Stat::value)
                                                 : math::natural_symbol(math::Stat::comp, math::kFirst);
    Formulas at{{now}};
    if (!components.empty()) at.push_back(components[0]);
    std::vector<Equation> out{{false,
                               {FormulaSymbol{precision->name, {{now}, {now}}, components}},
                               parts(precision->from_natural),
                               std::nullopt}};
    for (const auto& [lags, pair] : chain.joint)
      out.push_back({false,
                     {FormulaSymbol{precision->name, {{FormulaIndex{now.bound, -lags[0]}}, {now}}, transposed}},
                     parts(times({a_.number(-1), {}, {}}, pair)),
                     std::nullopt});
    out.push_back(
        {false,
         {FormulaQuadratic{{{FormulaSymbol{precision->name, {}, {}}}}, {{FormulaSymbol{mean->name, {}, {}}}}, at}},
         parts(*affine(linear)),
         std::nullopt});
    return out;
  }

  /// Returns a parameter of the family. Its index symbols kFirst and kSecond are the element's event indices, or sums'.
  FormulaSymbol parameter(const math::Symbol& s) {
    FormulaSymbol out{s.name, {}, {}};
    for (math::Index i : s.indices) {
      const auto summed = summed_.find(i.id);
      out.event.push_back({writer_.bound(summed != summed_.end() ? summed->second : e_.event.at(event_of(i)))});
    }
    return out;
  }

  /// Returns the position of an index symbol in Element::event.
  static std::size_t event_of(math::Index i) { return static_cast<std::size_t>(i.id); }

  /// Returns true if a constant, given or variable of the model has this name.
  bool is_name(const std::string& name) const {
    const auto in = [&](const auto& list) {
      return std::any_of(list.begin(), list.end(), [&](const auto& x) { return x.name == name; });
    };
    return in(m_.constants) || in(m_.givens) || in(m_.variables);
  }

  /// Returns n if the formula is 1 / (1 + exp(-n)), else nothing.
  std::optional<math::Expr> log_odds(const math::Expr& e) const {
    const auto* r = std::get_if<math::Apply>(&e->form);
    const auto* sum = r ? std::get_if<math::Add>(&r->argument->form) : nullptr;
    const auto* exp = sum ? std::get_if<math::Apply>(&sum->right->form) : nullptr;
    const auto* one = sum ? std::get_if<math::Number>(&sum->left->form) : nullptr;
    const auto* minus = exp ? std::get_if<math::Multiply>(&exp->argument->form) : nullptr;
    if (!minus || !one || one->value != 1 || r->function != math::Function::reciprocal) return std::nullopt;
    const auto* sign = std::get_if<math::Number>(&minus->left->form);
    if (exp->function != math::Function::exp || !sign || sign->value != -1) return std::nullopt;
    return minus->right;
  }

  /// Returns P and n if the formula is sum_a inverse(P)[j, a] n[a], with n at the first event index; else nothing.
  std::optional<std::pair<std::string, math::Expr>> solved(const math::Expr& e) const {
    const auto* sum = std::get_if<math::Sum>(&e->form);
    const auto* m = sum ? std::get_if<math::Multiply>(&sum->body->form) : nullptr;
    const auto* inverse = m ? std::get_if<math::InverseEntry>(&m->left->form) : nullptr;
    const auto* n = m ? std::get_if<math::Symbol>(&m->right->form) : nullptr;
    if (!inverse || !n) return std::nullopt;
    return std::pair{inverse->matrix, math::symbol(n->name, math::kFirst)};
  }

  /// Returns x if the formula is 1 / x, else nothing.
  std::optional<math::Expr> divisor(const math::Expr& e) const {
    const auto* r = std::get_if<math::Apply>(&e->form);
    if (!r || r->function != math::Function::reciprocal) return std::nullopt;
    return r->argument;
  }

  /// Returns the formula as an affine function of the natural parameters, or nothing if it is none.
  std::optional<Affine> affine(const math::Expr& e) {
    return std::visit(Overloaded{[&](const math::Number& n) {
                                   return std::optional(Affine{a_.number(n.value), {}, {}});
                                 },
                                 [&](const math::ExtentValue&) {
                                   const model::PlateId p = a_[e_.event.at(0)].plate;
                                   return std::optional(Affine{a_.coef(density::CoefExtent{p, std::nullopt}), {}, {}});
                                 },
                                 [&](const math::Symbol& s) -> std::optional<Affine> {
                                   for (const math::StatisticRow& row : b_.family->factor->statistics) {
                                     if (math::natural_name(row.stat) != s.name) continue;
                                     const auto it = naturals_.find(row.stat);
                                     return it == naturals_.end() ? Affine{a_.number(0), {}, {}} : it->second;
                                   }
                                   return std::nullopt;
                                 },
                                 [&](const math::Add& s) -> std::optional<Affine> {
                                   std::optional<Affine> l = affine(s.left), r = affine(s.right);
                                   if (!l || !r) return std::nullopt;
                                   return plus(*l, *r);
                                 },
                                 [&](const math::Multiply& p) -> std::optional<Affine> {
                                   std::optional<Affine> l = affine(p.left), r = affine(p.right);
                                   if (!l || !r || !(l->summands.empty() || r->summands.empty())) return std::nullopt;
                                   return l->summands.empty() ? times(*l, *r) : times(*r, *l);
                                 },
                                 [](const auto&) -> std::optional<Affine> { return std::nullopt; }},
                      e->form);
  }

  /// Returns the sum of two affine functions.
  Affine plus(Affine l, const Affine& r) {
    l.constant = a_.add(l.constant, r.constant);
    l.constant_origins.insert(l.constant_origins.end(), r.constant_origins.begin(), r.constant_origins.end());
    l.summands.insert(l.summands.end(), r.summands.begin(), r.summands.end());
    return l;
  }

  /// Returns an affine function times a constant.
  Affine times(const Affine& scale, Affine x) {
    x.constant = multiplied_out(a_, a_.multiply(scale.constant, x.constant));
    x.constant_origins.insert(x.constant_origins.end(), scale.constant_origins.begin(), scale.constant_origins.end());
    if (a_.literal(scale.constant) == 1.0) return x;
    for (Summand& s : x.summands)
      s.term.coef = multiplied_out(a_, a_.multiply(scale.constant, s.term.coef));
    return x;
  }

  /// Returns the summands of a formula: the affine ones as one sum, then the others, which are products of parameters.
  std::vector<DerivedPart> parts(const math::Expr& e) {
    std::vector<math::Expr> all;
    flatten(e, all);
    Affine sum{a_.number(0), {}, {}};
    Formulas rest;
    for (const math::Expr& part : all) {
      if (const auto x = affine(part)) sum = plus(sum, *x);
      else rest.push_back(formula(part));
    }
    // Constants in the family's own formula (1 + ...) are attributed to the prior.
    for (std::size_t o : origin_lines_.of(m_[b_.variable].statement))
      sum.constant_origins.push_back(o);
    std::vector<DerivedPart> out = parts(sum);
    for (Formula& f : rest)
      out.push_back({std::move(f), {}});
    return out;
  }

  /// Returns the summands of an affine function with their lines.
  std::vector<DerivedPart> parts(const Affine& sum) {
    std::vector<DerivedPart> out;
    if (a_.literal(sum.constant) != 0.0)
      out.push_back({writer_.coef(sum.constant), origin_lines_.lines(sum.constant_origins)});
    for (const Summand& s : sum.summands)
      out.push_back({writer_.summand(s), origin_lines_.lines({s.term.origin})});
    return out;
  }

  /// Returns any formula over parameters and natural parameters.
  Formula formula(const math::Expr& e) {
    if (affine(e)) {
      FormulaAdd sum;
      for (DerivedPart& p : parts(e))
        sum.parts.push_back(std::move(p.formula));
      if (sum.parts.size() == 1) return std::move(sum.parts[0]);
      return {std::move(sum)};
    }
    return std::visit(Overloaded{[&](const math::Symbol& s) { return Formula{parameter(s)}; },
                                 [&](const math::Add& s) {
                                   return Formula{FormulaAdd{{formula(s.left), formula(s.right)}}};
                                 },
                                 [&](const math::Multiply& p) {
                                   if (&*p.left == &*p.right) return Formula{FormulaSquare{{formula(p.left)}}};
                                   return product({formula(p.left), formula(p.right)});
                                 },
                                 [&](const math::Apply& f) {
                                   return Formula{FormulaApply{f.function, {formula(f.argument)}}};
                                 },
                                 [&](const math::Sum& s) {
                                   if (s.largest) return Formula{FormulaSymbol{math::print(e), {}, {}}};
                                   const density::IndexVarId b = a_.fresh_like(e_.event.at(0), std::nullopt);
                                   summed_.insert_or_assign(s.index.id, b);
                                   const std::string name = writer_.bound(b).bound;
                                   return Formula{FormulaSum{{name}, {}, {formula(s.body)}}};
                                 },
                                 [&](const auto&) {
                                   return Formula{FormulaSymbol{math::print(e), {}, {}}};
                                 }},
                      e->form);
  }

  density::Algebra& a_;                             // of the natural parameters
  const Block& b_;                                  // the block
  const Element& e_;                                // the element that the equations are for
  const std::map<math::Stat, Affine>& naturals_;    // its natural parameters
  const OriginLines& origin_lines_;                 // line numbers
  const model::Model& m_;                           // for names
  FormulaWriter writer_;                            // translates coefficients and terms
  std::map<int, density::IndexVarId> summed_ = {};  // index variables of a formula's sums, by Index::id
};

/// Returns the entropy of a block, summed over its elements and counted for each copy.
DerivedPart entropy(const model::Model& m, const Conditionals& c, density::Algebra& a, const Block& b,
                    const Source& source) {
  const Element e = generic_element(a, m, b);
  FormulaWriter writer(m, c, a, FormulaMode::expected);
  FormulaSum sum;
  FormulaSymbol v{m[b.variable].name, {}, {}};
  Formulas factors;
  for (std::size_t k = 0; k < e.axes.size(); ++k) {
    if (b.chain && k + 1 == e.axes.size()) break;  // one factor covers all elements of the last axis
    const FormulaIndex i = writer.bound(e.axes[k]);
    sum.index_vars.push_back(i.bound);
    v.axes.push_back({i});
    const model::Plate& plate = m[m[b.variable].axes[k]];
    if (!plate.times) continue;
    // An element stands for `times` copies, each with a factor; the array may be indexed by parents of the plate too.
    const std::size_t axes = m[*plate.times].axes.size();
    factors.push_back({FormulaSymbol{
        m[*plate.times].name, Formulas(v.axes.end() - static_cast<std::ptrdiff_t>(axes), v.axes.end()), {}}});
  }
  Formulas elements{{v}};
  if (b.mean) elements.insert(elements.begin(), {FormulaSymbol{m[*b.mean].name, v.axes, {}}});
  if (const auto& x = m[b.variable].auxiliary; x && x->kind == model::Auxiliary::Kind::source) {
    // Each of the host's counts has a source.
    const model::Variable& host = m[x->host];
    if (host.support != math::Support::category) factors.push_back({FormulaSymbol{host.name, v.axes, {}}});
  }
  factors.push_back({FormulaEntropy{std::move(elements)}});
  Formula body = product(std::move(factors));
  if (!sum.index_vars.empty()) {
    sum.body.push_back(std::move(body));
    body = {std::move(sum)};
  }
  return {std::move(body), {position_of(source, m[m[b.variable].statement].span.begin).line}};
}

/// Returns the lines whose terms have products of two numbers of a joint variable that the compiler chose.
std::vector<int> lines_of_products(const model::Model& m, const density::Density& d, model::VariableId v,
                                   const OriginLines& lines) {
  std::set<int> out;
  const auto is_chosen = [&](const model::JointGuide& joint) { return joint.chosen && m[joint.members[0]].joint == v; };
  if (std::ranges::none_of(m.guide.joint, is_chosen)) return {};
  const auto is_product = [&](const density::Atom& x) {
    return x.variable == v && x.event.size() == 2 && x.event[0] != x.event[1];
  };
  for (const density::Term& t : d.terms)
    if (std::ranges::any_of(t.atoms, is_product)) out.insert(lines.line(t.origin));
  return {out.begin(), out.end()};
}

}  // namespace

std::vector<int> all_lines(const std::vector<DerivedPart>& parts) {
  std::set<int> out;
  for (const DerivedPart& p : parts)
    out.insert(p.lines.begin(), p.lines.end());
  return {out.begin(), out.end()};
}

std::string why_joint(const DerivedBlock& block) {
  return block.chosen_for.empty() ? ""
                                  : "one factor, because of products of its numbers; `guide factorised;` makes none";
}

Derivation derivation_of(const model::Model& m, const Conditionals& c, const Source& source) {
  Derivation out{m.name, source.name, {}, {}, {}, density::elbo_notes(m, c.density)};
  // A copy, which the index variables of the elements extend.
  density::Algebra a = c.density.algebra;
  const OriginLines origin_lines{c.density, source};
  for (const Block& b : c.blocks) {
    const Element e = generic_element(a, m, b);
    const std::map<math::Stat, Affine> naturals = natural_parameters(a, m, c, b, e);
    DerivedBlock d;
    d.family = b.family->name;
    d.point = b.point;
    if (b.chain) d.chain = m[m[b.variable].axes.back()].name;
    d.chosen_for = lines_of_products(m, c.density, b.variable, origin_lines);
    for (std::size_t x = 0; x < b.sequential.size(); ++x) {
      if (b.sequential[x] && !(b.chain && x + 1 == b.sequential.size()))
        d.sequential.push_back(m[m[b.variable].axes[x]].name);
    }
    ParameterWriter conditional(m, c, a, b, e, naturals, FormulaMode::conditional, origin_lines);
    if (b.mean) d.elements.push_back({conditional.element(*b.mean)});
    d.elements.push_back({conditional.element(b.variable)});
    if (!model::is_tangent_point(m[b.variable])) d.conditional = conditional.equations();
    const ChainPotentials chain = b.chain ? chain_potentials(a, m, c, b, e) : ChainPotentials{};
    ParameterWriter update(m, c, a, b, e, b.chain ? chain.unary : naturals, FormulaMode::expected, origin_lines);
    if (b.chain) {
      FormulaSymbol whole = update.element(b.variable);
      whole.axes.pop_back();
      d.chains.push_back({std::move(whole)});
      d.algorithm = b.chain->factor == ChainFactor::gaussian ? "Kalman smoothing" : "forward-backward";
      d.update = update.potentials(chain);
    } else {
      d.update = update.equations();
    }
    out.blocks.push_back(std::move(d));
    if (!b.point) out.entropies.push_back(entropy(m, c, a, b, source));
  }
  // What excludes impossible choices counts in their factors alone (density/impossible.cpp).
  const auto is_left_out = [&](const density::Multiplicity& x) { return a.literal(x.count) == 0.0; };
  for (density::Term t : c.density.terms) {
    if (std::ranges::any_of(t.multiplicities, is_left_out)) continue;
    count_unused_index_vars(a, t);
    FormulaWriter writer(m, c, a, FormulaMode::expected);
    out.elbo.push_back({writer.term(t), {origin_lines.line(t.origin)}});
  }
  return out;
}

}  // namespace lehr::conditionals
