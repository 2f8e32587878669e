// Log densities of statements: the formula of the family's row, expanded over the value and the parameters.
//
// The terms of a statement then get what holds for all of them: the sum over its elements, guards for a chain's start,
// copies (`times`), masks and missing values. `expand` at the end runs all statements and potentials.
#include <algorithm>
#include <cmath>

#include "compiler/density/expander.h"
#include "compiler/density/for_draws.h"
#include "compiler/density/zeros.h"
#include "compiler/math/entries.h"
#include "compiler/model/mixture_part.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/support/overloaded.h"

namespace lehr::density {
namespace {

/// Returns true if a parameter of a bit's distribution is the number 0 or 1, so that the bit has one value.
bool is_sure(const model::Model& m, const model::Distribution& d) {
  return std::ranges::any_of(d.parameters, [&](const model::Parameter& p) {
    const auto* number = std::get_if<model::Number>(&m[p.value].node);
    return number && (number->value == 0 || number->value == 1);
  });
}

}  // namespace

Poly Expander::value(std::vector<IndexId> at) {
  if (value_override_) return *value_override_;
  std::vector<IndexId> all = statement_element_;
  all.insert(all.end(), at.begin(), at.end());
  return variable(m_[*statement_].variable, std::move(all));
}

Poly Expander::argument(const Argument& arg, std::vector<IndexId> at) {
  if (arg.instead) return *arg.instead;
  if (!arg.spelling->convert) {
    Poly p = component(arg.value, std::move(at));
    if (p.size() > largest_.terms) largest_ = {arg.value, p.size()};
    return p;
  }
  // The parameter was given in another spelling: the conversion is a formula over what was typed.
  std::map<int, IndexId> event;
  if (!at.empty()) event[math::kFirst.id] = at[0];
  if (at.size() > 1) event[math::kSecond.id] = at[1];
  const Arguments typed{{arg.spelling->name, {nullptr, arg.value}}};
  return density(*arg.spelling->convert, typed, event);
}

Poly Expander::argument_logdet(const Argument& arg) {
  if (!arg.spelling || !arg.spelling->convert) return logdet(arg.value);
  return scale(a_, a_.number(-1), logdet(arg.value));  // the only other spelling of a matrix is its inverse
}

const model::Apply* Expander::link(const Arguments& arguments, const std::string& name) const {
  const auto it = arguments.find(name);
  if (it == arguments.end() || !it->second.spelling || it->second.spelling->convert) return nullptr;
  return std::get_if<model::Apply>(&m_[it->second.value].node);
}

Poly Expander::density(const math::Expr& e, const Arguments& arguments, const std::map<int, IndexId>& event) {
  const auto at = [&](math::Index i) { return event.at(i.id); };
  const auto rec = [&](const math::Expr& x) { return density(x, arguments, event); };
  const model::Variable var = m_[m_[*statement_].variable];  // a copy: auxiliaries are added below
  // The plate that sums in a family's formula range over: the values of a category, or the components of a vector.
  const auto plate = [&] { return m_[var.value_plate ? *var.value_plate : var.event.at(0)].set; };
  return std::visit(
      Overloaded{
          [&](const math::Number& n) { return constant(a_, n.value); },
          [&](const math::Symbol& s) {
            std::vector<IndexId> idx;
            for (math::Index i : s.indices)
              idx.push_back(at(i));
            if (auto it = arguments.find(s.name); it != arguments.end()) {
              return it->second.spelling ? argument(it->second, std::move(idx))
                                         : component(it->second.value, std::move(idx));
            }
            // In the formula of a family, x is the value of the statement's variable.
            if (s.name == "x") return value(std::move(idx));
            // A parameter that was left out: the n of a Multinomial is the sum of the observed counts.
            return sum_over(plate(), [&](IndexId j) { return value({j}); });
          },
          [&](const math::AtValue&) { return fail("a probability vector at a value must stand below a logarithm"); },
          [&](const math::Add& n) { return add(rec(n.left), rec(n.right)); },
          [&](const math::Multiply& n) { return product(rec(n.left), rec(n.right)); },
          [&](const math::Apply& f) { return function(f, arguments, event); },
          [&](const math::Sum& s) {
            std::map<int, IndexId> inner = event;
            return sum_over(plate(), [&](IndexId j) {
              inner[s.index.id] = j;
              return density(s.body, arguments, inner);
            });
          },
          [&](const math::Delta& d) {
            return with_guard(constant(a_, 1), {Relation::equal, at(d.left), at(d.right), std::nullopt, {}});
          },
          [&](const math::ExtentValue&) {
            return constant(a_.coef(CoefExtent{plate(), std::nullopt}));
          },
          [&](const math::IndexValue& v) { return constant(a_.coef(CoefIndexValue{at(v.index)})); },
          [&](const math::InverseEntry& m) {
            if (m.matrix != "x") return matrix_inverse(arguments.at(m.matrix).value, at(m.row), at(m.column));
            return inverse_entry(m_[*statement_].variable, statement_element_, at(m.row), at(m.column));
          },
          [&](const math::LogDet& l) {
            if (l.matrix != "x") return argument_logdet(arguments.at(l.matrix));
            if (var.observed) return constant(a_.coef(CoefLogDet{m_[*statement_].variable, statement_element_}));
            Poly p = constant(a_, 1);
            p[0].atoms.push_back({m_[*statement_].variable, statement_element_, math::Stat::logdet, {}, {}});
            return p;
          }},
      e->form);
}

Poly Expander::function(const math::Apply& f, const Arguments& arguments, const std::map<int, IndexId>& event) {
  const auto at = [&](math::Index i) { return event.at(i.id); };
  const auto* symbol = std::get_if<math::Symbol>(&f.argument->form);
  const auto* at_value = std::get_if<math::AtValue>(&f.argument->form);
  log_element_ = statement_element_;
  if (f.function == Function::log && at_value) {
    // log p[x] at the value x: of an observed category the index is data, of a latent one a selector.
    const model::VariableId v = m_[*statement_].variable;
    const IndexId k = m_[v].observed ? a_.index(IndexLookup{v, statement_element_}) : selector(v, statement_element_);
    return log_component(arguments.at(at_value->vector).value, {k});
  }
  if (f.function == Function::log && symbol && arguments.contains(symbol->name) && symbol->indices.size() == 1 &&
      arguments.at(symbol->name).spelling && !arguments.at(symbol->name).spelling->convert) {
    // The logarithm of component k of a parameter that is a vector.
    log_element_.push_back(at(symbol->indices[0]));
    return log_component(arguments.at(symbol->name).value, {at(symbol->indices[0])});
  }
  const bool of_p = f.function == Function::log, of_rest = f.function == Function::log1m;
  if (const auto* typed = (of_p || of_rest) && symbol ? link(arguments, symbol->name) : nullptr) {
    // log of a link has a bound or an auxiliary variable of its own. The node is copied, because these add expressions.
    if (const model::Apply f2 = *typed; f2.function == Function::logistic || f2.function == Function::probit) {
      if (f2.function == Function::probit) return log_probit(f2.argument, of_p ? 1 : -1);
      const Poly eta = scalar(f2.argument);
      largest_ = {f2.argument, eta.size()};
      return log_logistic(eta, of_p ? 1 : -1);
    }
  }
  const Poly p = density(f.argument, arguments, event);
  if (of_p) return prior_log(p);
  return f.function == Function::lgamma && is_improper_zero(p) ? Poly{} : apply(f.function, p);
}

Poly Expander::distribution(const model::Distribution& d, const math::Expr& formula) {
  Arguments arguments;
  for (const model::Parameter& p : d.parameters)
    arguments[p.spelling->canonical] = {p.spelling, p.value};
  Poly never = exclude_above_total(arguments);
  // A local bound needs a tangent point for each value of the bits in its argument.
  const std::vector<Element> bits =
      !draws_ && needs_local_bound(d, formula) ? switching_bits(d) : std::vector<Element>{};
  return add(sum_over_bit_values(bits, [&] { return density(formula, arguments, {}); }), never);
}

Poly Expander::times_part_indicator(model::ExprId part, std::size_t k, Poly p) {
  const auto& ref = std::get<model::VariableRef>(m_[part].node);
  if (m_[part].value_plate) {
    // A category chooses the part: [part = k]. A bit chooses the first part by its value, the second by 1 minus it.
    Poly here = constant(a_, 1);
    here[0].atoms.push_back({ref.variable,
                             indices(ref.indices),
                             math::Stat::indicator,
                             {a_.index(IndexConstant{static_cast<std::int64_t>(k)})},
                             {}});
    return product(here, p);
  }
  return k == 0 ? product(scalar(part), p) : unless(ref.variable, indices(ref.indices), p);
}

Poly Expander::mixture(const model::Statement& s, const std::function<Poly(const model::Distribution&)>& density) {
  const model::Variable& host = m_[s.variable];
  for (const model::Distribution* d : model::distributions_of(s))
    if (!host.observed && host.support == math::Support::bit && is_sure(m_, *d))
      return fail("a value of " + host.name +
                      " has the probability 0 in a part of the mixture: its factor, and that of what selects the part, "
                      "would exclude values of each other",
                  {"a category over the values that both can have together has one factor: "
                   "`joint[n] ~ Categorical(stick_breaking(v))`, where v[0] is the probability of the first of them, "
                   "v[1] that of the second if it is not the first"});
  std::vector<Poly> parts;
  for (const model::Distribution* d : model::distributions_of(s)) {
    part_ = parts.size();
    parts.push_back(density(*d));
  }
  part_.reset();
  // An auxiliary Normal number needs a density in every part of the mixture, or in none.
  const auto has_value = [&](const Poly& p) {
    return std::ranges::any_of(p, [&](const Term& t) {
      return std::ranges::any_of(t.atoms, [&](const Atom& a) {
        const auto& of = m_[a.variable].auxiliary;
        return of && of->kind == model::Auxiliary::Kind::value && of->host == s.variable;
      });
    });
  };
  const auto with_value = std::ranges::count_if(parts, has_value);
  if (with_value > 0 && static_cast<std::size_t>(with_value) < parts.size())
    return fail("probit(...) adds a Normal number that has no density in the other parts of the mixture",
                {"write all parts with probit(...) of random variables, or this one with logistic(...)"});
  if (improper_) return fail("a part of a mixture has no normaliser, and what it weighs is not known");
  Poly out;
  for (std::size_t k = 0; k < parts.size(); ++k)
    out = add(std::move(out), times_part_indicator(*s.part, k, std::move(parts[k])));
  return out;
}

void Expander::finish(Poly p, const Origin& origin) {
  p = without_exponentials(std::move(p));
  check_bound_signs(p);
  out_.origins.push_back(origin);
  std::vector<Term> terms;
  std::size_t total = 0;
  for (Term& raw : p) {
    for (Term& t : normalise(a_, m_, std::move(raw))) {
      t.origin = out_.origins.size() - 1;
      total += weight(t);
      terms.push_back(std::move(t));
    }
    // Splitting may have made more terms than the statement had before.
    if (total > kMaxTerms) too_many_terms(std::nullopt);
    if (too_large_) return;
  }
  for (Term& t : merge_like_terms(a_, m_, std::move(terms)))
    out_.terms.push_back(std::move(t));
}

std::optional<model::VariableId> Expander::missing_source(model::VariableId v) const {
  const auto has_gaps = [&](model::VariableId x) {
    return m_[x].observed && x.index() < options_.may_be_missing.size() && options_.may_be_missing[x.index()];
  };
  if (has_gaps(v)) return v;
  // The variable that was added to select the part of a mixture matters only where the mixture has a value.
  for (const model::Statement& s : m_.statements)
    if (s.part && model::is_part_of(m_, s, v) && has_gaps(s.variable)) return s.variable;
  return std::nullopt;
}

Poly Expander::guard_missing(Poly p, model::VariableId v, model::VariableId missing_source_variable) {
  const Guard present{Relation::equal, {}, {}, missing_source_variable, statement_element_};
  Poly out = with_guard(std::move(p), present);
  if (v == missing_source_variable) return out;
  // With a value: the log density. Without one: log of equal probabilities of the parts, written as -log(size)
  // everywhere plus log(size) where there is a value.
  const auto& plate = m_[v].value_plate;
  Poly values =
      constant(plate ? a_.apply(Function::log, a_.coef(CoefExtent{*plate, std::nullopt})) : a_.number(std::log(2)));
  out = add(std::move(out), with_guard(values, present));
  return add(std::move(out), scale(a_, a_.number(-1), std::move(values)));
}

Poly Expander::masked(Poly p, model::VariableId v, model::GivenId mask) {
  const CoefId count = a_.coef(CoefData{mask, statement_element_});
  for (Term& t : p)
    t.multiplicities.push_back({v, count});
  return p;
}

Poly Expander::masked_entries(const model::Distribution& d, model::VariableId v, model::GivenId mask) {
  const math::Entries entries = math::independent_entries(*d.family);
  Arguments arguments;
  for (const model::Parameter& p : d.parameters) {
    // The entries have a formula of their own, whose parameters are the components of the vector's.
    const auto* diagonal = std::get_if<model::Diag>(&m_[p.value].node);
    arguments[p.spelling->canonical] = {entries.spelled.at(p.spelling->name), diagonal ? diagonal->vector : p.value};
  }
  return sum_over(m_[m_[v].event[0]].set, [&](IndexId j) {
    std::vector<IndexId> entry = statement_element_;
    entry.push_back(j);
    Poly p = density(entries.log_density, arguments, {{math::kFirst.id, j}});
    const CoefId count = a_.coef(CoefData{mask, std::move(entry)});
    for (Term& t : p)
      t.multiplicities.push_back({v, count});
    return p;
  });
}

Poly Expander::over_elements(Elements which, const std::function<Poly()>& density) {
  const model::Statement& s = m_[*statement_];
  // The number of first elements of a chain that `start` draws.
  const std::int64_t lag = model::lag_of(m_, s);
  bound_.clear();
  scopes_.assign(1, {});
  std::vector<IndexVarId> bounds;
  statement_element_.clear();
  for (model::IndexVarId b : s.index_vars) {
    bounds.push_back(open_index_var(b));
    statement_element_.push_back(a_.index(bounds.back()));
  }
  Poly p = density();
  for (Term& t : p) {
    count_to_multiplicity(t);
    t.index_vars.insert(t.index_vars.begin(), bounds.begin(), bounds.end());
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      const model::PlateId plate = m_[s.index_vars[k]].plate;
      // Every element of a plate with `times` stands for copies; the array may be indexed by this plate and its
      // parents.
      if (!m_[plate].times) continue;
      std::vector<IndexId> at;
      for (std::size_t j = 0; j < m_[*m_[plate].times].axes.size(); ++j) {
        at.push_back(statement_element_[k + 1 - m_[*m_[plate].times].axes.size() + j]);
      }
      t.multiplicities.push_back({plate, a_.coef(CoefData{*m_[plate].times, std::move(at)})});
    }
    if (which == Elements::first && lag == 1)
      t.guards.push_back({Relation::equal, bound_.at(*s.lagged), a_.index(IndexConstant{0}), std::nullopt, {}});
    else if (which == Elements::first)
      t.guards.push_back({Relation::less, bound_.at(*s.lagged), a_.index(IndexConstant{lag}), std::nullopt, {}});
    else if (which == Elements::rest)
      t.guards.push_back(
          {Relation::greater_equal, bound_.at(*s.lagged), a_.index(IndexConstant{lag}), std::nullopt, {}});
  }
  return p;
}

void Expander::statement(model::StatementId id) {
  const model::Statement& s = m_[id];
  const model::Variable var = m_[s.variable];  // a copy: auxiliaries are added below
  const auto mask = model::mask_of(m_, var);
  statement_ = id;
  bool improper = false;
  too_large_ = false;
  largest_ = {};
  span_ = s.span;
  // The terms of one distribution. A chain has two: `start` for its first elements and the main one for the rest.
  const auto part = [&](const model::Distribution& d) {
    span_ = d.span;
    improper_ = d.family->improper || std::ranges::any_of(s.others, [](const auto& o) { return o.family->improper; });
    if (s.limits.any() && var.clamped)
      fail("a value with limits cannot be latent where it is missing, and others depend on " + var.name);
    const auto density = [&](const model::Distribution& each) {
      if (mask && !m_[*mask].event.empty()) return masked_entries(each, s.variable, *mask);
      return s.limits.any() && var.observed ? censored(each, s.limits) : distribution(each);
    };
    Poly p = s.part ? mixture(s, density) : density(d);
    if (s.limits.any() && d.family->gaussian)
      p = add(std::move(p), var.observed ? censored_value(s.limits) : within_limits(s.limits));
    p = close_scope(std::move(p));
    improper |= improper_;
    // Constants of a density without a normaliser mean nothing.
    if (improper_) std::erase_if(p, [](const Term& t) { return t.atoms.empty(); });
    if (const auto missing_source_variable = missing_source(s.variable))
      p = guard_missing(std::move(p), s.variable, *missing_source_variable);
    else if (mask && m_[*mask].event.empty()) p = masked(std::move(p), s.variable, *mask);
    return p;
  };
  const std::size_t before = m_.variables.size();
  Poly p = over_elements(s.start ? Elements::rest : Elements::all, [&] { return part(s.main); });
  if (s.start) p = add(std::move(p), over_elements(Elements::first, [&] { return part(*s.start); }));
  for (std::size_t k = before; k < m_.variables.size() && sources_may_be_idle(); ++k) {
    const model::VariableId v(k);
    if (model::is_source(m_[v])) p = add(std::move(p), over_elements(Elements::all, [&] { return idle_source(v); }));
  }
  finish(std::move(p), {id, std::nullopt, s.span, var.observed, improper});
}

void Expander::potential(std::size_t k) {
  const model::Potential& s = m_.potentials[k];
  statement_.reset();
  too_large_ = false;
  largest_ = {s.value, 0};
  span_ = s.span;
  bound_.clear();
  scopes_.assign(1, {});
  std::vector<IndexVarId> bounds;
  for (model::IndexVarId b : s.index_vars)
    bounds.push_back(open_index_var(b));
  Poly p = close_scope(scalar(s.value));
  for (Term& t : p)
    t.index_vars.insert(t.index_vars.begin(), bounds.begin(), bounds.end());
  finish(std::move(p), {std::nullopt, k, s.span, true, false});
}

}  // namespace lehr::density

namespace lehr {

namespace {

std::optional<Expanded> expand(const model::Model& model, const density::ExpandOptions& options, bool draws,
                               Diagnostics& diagnostics) {
  Expanded out{model, {}};
  for (std::size_t k = 0; k < options.clamped.size() && k < model.variables.size(); ++k) {
    if (!options.clamped[k]) continue;
    out.model.variables[k].observed = false;
    out.model.variables[k].clamped = true;
  }
  for (std::size_t k = 0; k < options.may_be_missing.size() && k < model.variables.size(); ++k) {
    const model::Variable& v = out.model.variables[k];
    if (options.may_be_missing[k] && is_latent(v)) out.model.givens.push_back(model::mask(out.model, v));
  }
  density::Expander expander(out.model, out.density, options, draws, diagnostics);
  for (std::size_t k = 0; k < model.statements.size(); ++k)
    expander.statement(model::StatementId(k));
  for (std::size_t k = 0; k < model.potentials.size(); ++k)
    expander.potential(k);
  if (diagnostics.has_errors()) return std::nullopt;
  density::replace_zero_entries(out.model, options.with_zeros, out.density);
  return out;
}

}  // namespace

std::optional<Expanded> expand(const model::Model& model, const density::ExpandOptions& options,
                               Diagnostics& diagnostics) {
  return expand(model, options, false, diagnostics);
}

std::optional<Expanded> expand_for_draws(const model::Model& model, const density::ExpandOptions& options,
                                         Diagnostics& diagnostics) {
  return expand(model, options, true, diagnostics);
}

bool density::ExpandOptions::any() const {
  const auto some = [](const std::vector<bool>& of) { return std::ranges::count(of, true) > 0; };
  return some(may_be_missing) || some(clamped) || some(with_zeros);
}

}  // namespace lehr
