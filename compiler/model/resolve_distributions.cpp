// Resolves statements: distributions, parameters by any of their names, event axes, chains, mixtures, limits. Also
// resolves potentials and bodies of `let`.
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/model/resolver.h"
#include "compiler/model/walk.h"
#include "compiler/support/printing.h"

namespace lehr::model {

std::string counted(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

namespace {

/// Returns words as a list: "a, b or c".
std::string joined(const std::vector<std::string>& words, const char* last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += i == 0 ? "" : i + 1 == words.size() ? fmt::format(" {} ", last) : std::string(", ");
    out += words[i];
  }
  return out;
}

/// Returns the canonical parameters in the row's order, each with its alternative names.
std::vector<std::vector<const math::Spelling*>> canonical_groups(const math::FamilyRow& row) {
  std::vector<std::vector<const math::Spelling*>> groups;
  for (const math::Spelling& s : row.spellings) {
    if (groups.empty() || groups.back().front()->canonical != s.canonical) groups.emplace_back();
    groups.back().push_back(&s);
  }
  return groups;
}

/// Returns the names of a parameter in quotes.
std::vector<std::string> spelling_names(const std::vector<const math::Spelling*>& group) {
  std::vector<std::string> out;
  for (const math::Spelling* s : group)
    out.push_back("'" + s->name + "'");
  return out;
}

/// Returns all forms of a distribution for messages: "Normal(mean = ..., precision = ...) or Normal(mean = ..., sd =
/// ...)".
std::string named_forms(const math::FamilyRow& row) {
  std::vector<std::string> forms = {""};
  for (const auto& group : canonical_groups(row)) {
    std::vector<std::string> next;
    for (const std::string& form : forms) {
      for (const math::Spelling* s : group)
        next.push_back(form + (form.empty() ? "" : ", ") + s->name + " = ...");
    }
    forms = std::move(next);
  }
  for (std::string& form : forms)
    form = fmt::format("{}({})", row.name, form);
  return joined(forms, "or");
}

/// Reports errors, or only remembers that there was one if it has no Diagnostics.
class Reporter {
 public:
  explicit Reporter(Diagnostics* diagnostics) : diagnostics_(diagnostics) {}
  template <class... Slots>
  Diagnostic* add(DiagnosticKind kind, Span span, const Slots&... slots) {
    failed = true;
    return diagnostics_ ? &diagnostics_->add(kind, span, slots...) : nullptr;
  }
  bool failed = false;

 private:
  Diagnostics* diagnostics_;
};

/// The axes of the variable whose distribution is being resolved.
struct Axes {
  std::optional<PlateId> event;       // event axis, or the plate of a category's values
  std::optional<IndexVarId> element;  // index variable of `over P` for a number per element of P
  std::string variable;               // name of the variable, for messages
};

/// Resolves one parameter and checks its shape. A scalar stands for a vector or a multiple of the identity.
std::optional<Parameter> resolve_parameter(Resolver& r, Context& c, const MatchedArgument& argument, const Axes& axes,
                                           const math::FamilyRow& row) {
  const math::Spelling& s = *argument.spelling;
  const std::string subject = fmt::format("{} of {}", s.name, row.name);
  const auto value = resolve_expr(r, c, argument.value);
  if (!value || !check_number(r, *value)) return std::nullopt;
  const std::vector<PlateId> shape = r.model[*value].shape;
  const Span span = r.ast[argument.value].span;
  const auto rank = static_cast<std::size_t>(s.event_rank);
  if (rank == 0 && axes.element && shape.size() == 1) {
    const PlateId plate = r.model[*axes.element].plate;
    if (unify(r, shape[0], plate)) return Parameter{&s, component(r, *value, *axes.element)};
    r.diagnostics.add(DiagnosticKind::over_mismatch, span, axes.variable, r.model[resolve_alias(r.model, plate)].name,
                      s.name, r.model[resolve_alias(r.model, shape[0])].name);
    return std::nullopt;
  }
  if (rank == 0 && !shape.empty()) {
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::scalar_needed, span, subject, describe(r.model, r.model[*value]));
    d.note("a name with fewer indices than axes is a vector or matrix over the missing ones");
    if (shape.size() == 1 && !axes.element && math::event_rank(row.support) == 0 &&
        row.support != math::Support::category)
      d.note(fmt::format("to draw one number for each of its elements add `over {}`",
                         r.model[resolve_alias(r.model, shape[0])].name));
    return std::nullopt;
  }
  if (!shape.empty() && shape.size() != rank) {
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::shape_needed, span, subject,
                                      rank == 1 ? "a vector or a number" : "a matrix or a number",
                                      describe(r.model, r.model[*value]));
    if (rank == 2 && shape.size() == 1) d.note("for a diagonal matrix write diag(...)");
    return std::nullopt;
  }
  for (const PlateId axis : shape) {
    if (!axes.event || unify(r, axis, *axes.event)) continue;
    r.diagnostics.add(DiagnosticKind::over_mismatch, span, axes.variable,
                      r.model[resolve_alias(r.model, *axes.event)].name, s.name,
                      r.model[resolve_alias(r.model, axis)].name);
    return std::nullopt;
  }
  return Parameter{&s, *value};
}

/// Resolves a distribution with all its parameters, or returns nothing after an error.
std::optional<Distribution> resolve_distribution(Resolver& r, Context& c, ast::ExprId id, const Axes& axes) {
  const auto [call, row] = family_of(r.ast, id, &r.diagnostics);
  if (!row) return std::nullopt;
  const auto arguments = match_arguments(*call, *row, r.ast[id].span, &r.diagnostics);
  if (!arguments) {
    /// Resolve the arguments all the same, to report errors in them.
    for (const ast::Argument& a : call->arguments)
      resolve_expr(r, c, a.value);
    return std::nullopt;
  }
  Distribution out{row, {}, r.ast[id].span};
  bool ok = true;
  for (const MatchedArgument& a : *arguments) {
    const auto parameter = resolve_parameter(r, c, a, axes, *row);
    ok = ok && parameter;
    if (parameter) out.parameters.push_back(*parameter);
  }
  if (!ok) return std::nullopt;
  return out;
}

/// Reports a wrong `over`: too many plates, a plate that is an index already, or a nested one.
void check_over(Resolver& r, const ast::Tilde& tilde, const math::FamilyRow& row) {
  if (tilde.over.empty()) return;
  bool ok = true;
  std::vector<PlateId> plates;
  for (const ast::Name& name : tilde.over) {
    const auto plate = plate_named(r, name);
    ok = ok && plate;
    if (plate) plates.push_back(resolve_alias(r.model, *plate));
  }
  if (!ok) return;
  const bool category = row.support == math::Support::category;
  const std::size_t rank = category ? 1 : static_cast<std::size_t>(math::event_rank(row.support));
  const Span span = cover(tilde.over.front().span, tilde.over.back().span);
  if (rank == 0 && plates.size() > 1) {
    std::string axes, over;
    for (const ast::Name& axis : tilde.axes)
      axes += axis.text + ", ";
    for (const ast::Name& name : tilde.over)
      over += (over.empty() ? "" : ", ") + name.text;
    r.diagnostics.add(DiagnosticKind::misplaced_over, span, row.name)
        .note(fmt::format("for one number for each element of several plates write {}[{}{}]", tilde.name.text, axes,
                          over));
    return;
  }
  if (rank == 0) {
    for (const ast::Name& axis : tilde.axes) {
      if (axis.text != tilde.over[0].text) continue;
      r.diagnostics.add(DiagnosticKind::repeated_axis, span, axis.text, tilde.name.text)
          .note(fmt::format("each '{0}' has one number already: delete `over {0}`", axis.text));
      return;
    }
  }
  if (plates.size() > std::max<std::size_t>(rank, 1) || (plates.size() == 2 && plates[0] != plates[1])) {
    r.diagnostics.add(DiagnosticKind::over_count, span, rank == 1 ? "one plate" : "one plate (the matrix is square)",
                      row.name);
    return;
  }
  if (r.model[plates[0]].parent) {
    const PlateId parent = resolve_alias(r.model, *r.model[plates[0]].parent);
    r.diagnostics.add(DiagnosticKind::nested_value, span, r.model[plates[0]].name, r.model[parent].name)
        .note(
            row.support == math::Support::simplex
                ? fmt::format("an event axis has one size: declare `plate {0}` and `const a[{1}, {0}]`, whose rows may "
                              "differ in length, and write `concentration = a[{1}]`",
                              r.model[plates[0]].name, r.model[parent].name)
                : "an event axis has one size for all elements");
  }
}

/// Reports a `start` without a reference to an earlier element, and references along two axes.
void check_chain(Resolver& r, const ast::Tilde& tilde, const std::set<IndexVarId>& lagged) {
  if (tilde.start && lagged.empty()) {
    r.diagnostics.add(DiagnosticKind::start_without_lag, r.ast[*tilde.start].span, tilde.name.text)
        .note("name the previous element with `t-1`, t being the ordered plate");
  }
  if (lagged.size() > 1) {
    r.diagnostics.add(DiagnosticKind::lag_two_axes, r.ast[tilde.distribution].span, r.model[*lagged.begin()].name,
                      r.model[*std::next(lagged.begin())].name);
  }
}

/// Reports an optional parameter that is missing for a latent value, such as Multinomial's n. For observed values it
/// follows from the data.
void check_latent_parameters(Resolver& r, const Distribution& d) {
  for (const math::Spelling& s : d.family->spellings) {
    const bool given = std::any_of(d.parameters.begin(), d.parameters.end(),
                                   [&](const Parameter& p) { return p.spelling->canonical == s.canonical; });
    if (!s.optional || given) continue;
    r.diagnostics.add(DiagnosticKind::missing_parameter, d.span, d.family->name,
                      fmt::format("'{}' where it is not observed", s.name));
  }
}

/// Says how a compound distribution becomes a part of a mixture.
std::string two_statements(const math::FamilyRow& family) {
  const auto text = [](const math::Compound::Part& part) {
    const auto parameter = [](const auto& p) { return p.first + " = " + math::print(p.second); };
    return fmt::format("{}({})", part.family, listed(part.parameters, parameter));
  };
  return fmt::format(
      "a compound distribution is no part of a mixture: declare its hidden variable for each element, "
      "{} ~ {}, and write {} as the part, with the parameters of {}",
      family.compound->variable, text(family.compound->prior), text(family.compound->value), family.name);
}

/// Resolves the further parts of a mixture, which must have the support of the first.
std::optional<std::vector<Distribution>> resolve_others(Resolver& r, Context& c, const ast::Tilde& tilde,
                                                        const Distribution& first, const Axes& axes) {
  std::vector<Distribution> out;
  if (tilde.others.empty()) return out;
  for (const ast::ExprId id : tilde.others) {
    auto part = resolve_distribution(r, c, id, axes);
    if (!part) return std::nullopt;
    const bool compound = part->family->compound || first.family->compound;
    if (compound || part->family->support != first.family->support) {
      Diagnostic& d =
          r.diagnostics.add(DiagnosticKind::mixture_part, part->span, part->family->name, first.family->name);
      d.note(compound ? two_statements(part->family->compound ? *part->family : *first.family)
                      : fmt::format("one has values that are {}, the other ones that are {}",
                                    math::name_of(part->family->support), math::name_of(first.family->support)));
      if (!compound && first.family->support == math::Support::count)
        d.note(
            "values some of which are exactly 0 are two statements: a Bernoulli for whether there is another one, and "
            "its distribution, with a missing value where there is none");
      return std::nullopt;
    }
    out.push_back(std::move(*part));
  }
  return out;
}

/// Resolves one limit: a number, or the component of a vector if the value is a number per element.
std::optional<ExprId> resolve_limit(Resolver& r, Context& c, ast::ExprId id, const Axes& axes) {
  auto value = resolve_expr(r, c, id);
  if (!value || !check_number(r, *value)) return std::nullopt;
  if (axes.element && r.model[*value].shape.size() == 1 &&
      unify(r, r.model[*value].shape[0], r.model[*axes.element].plate))
    value = component(r, *value, *axes.element);
  if (!r.model[*value].shape.empty()) {
    r.diagnostics.add(DiagnosticKind::scalar_needed, r.ast[id].span, "a limit", describe(r.model, r.model[*value]));
    return std::nullopt;
  }
  // A limit must not depend on latent variables, because the truncated factor has no form for that.
  for (const VariableRef* ref : references_under(r.model, {*value})) {
    if (r.model[ref->variable].observed) continue;
    r.diagnostics.add(DiagnosticKind::random_limit, r.ast[id].span, r.model[ref->variable].name)
        .note(
            "give the difference of both a name of its own, with a limit of 0: u ~ Normal(mean = a - b, sd = ...) "
            "above 0");
    return std::nullopt;
  }
  return value;
}

using Tail = std::optional<math::Expr> math::FamilyRow::*;  // selects log_above or log_below of a family row

/// Returns true if values of the family can have a limit on this side. Observed ones can if the row has tail
/// probabilities, latent ones if they are Normal numbers.
bool can_have(const math::FamilyRow& row, Tail tail, bool observed) {
  const math::FamilyRow& part = row.compound ? *math::find_family(row.compound->value.family) : row;
  return observed ? (part.*tail).has_value() : part.gaussian && math::event_rank(part.support) == 0;
}

/// Returns the names of the families whose values can have such a limit, for messages.
std::string families_with(Tail tail, bool observed) {
  std::vector<std::string> names;
  for (const math::FamilyRow& row : math::families()) {
    if (can_have(row, tail, observed)) names.push_back(row.name);
  }
  return joined(names, "and");
}

/// Resolves the limits of a statement whose parts are of these families. For observed values, they are the limits
/// beyond which values are censored.
std::optional<Limits> resolve_limits(Resolver& r, Context& c, const ast::Tilde& tilde,
                                     const std::vector<const math::FamilyRow*>& parts, const Axes& axes) {
  Limits out;
  // Resolves the limit on one side; false after an error.
  const auto one = [&](const std::optional<ast::ExprId>& id, const char* side, Tail tail, std::optional<ExprId>& to) {
    if (!id) return true;
    const Span span = r.ast[*id].span;
    if (tilde.observed && !tilde.censored) {
      r.diagnostics.add(DiagnosticKind::limits_of_observed, span, tilde.name.text, side);
      return false;
    }
    if (!tilde.observed && tilde.censored) {
      r.diagnostics.add(DiagnosticKind::censored_latent, span, tilde.name.text);
      return false;
    }
    if (const auto part =
            std::ranges::find_if(parts, [&](const auto* p) { return !can_have(*p, tail, tilde.observed); });
        part != parts.end()) {
      r.diagnostics
          .add(DiagnosticKind::limits_family, span, (*part)->name, tilde.observed ? "be censored" : "be known to be",
               side)
          .note(fmt::format("{} values can{}", families_with(tail, tilde.observed),
                            tilde.observed ? " be censored; of a LogNormal one take the logarithm" : ""));
      return false;
    }
    to = resolve_limit(r, c, *id, axes);
    return to.has_value();
  };
  const bool above = one(tilde.above, "above", &math::FamilyRow::log_above, out.above);
  const bool below = one(tilde.below, "below", &math::FamilyRow::log_below, out.below);
  return above && below ? std::optional(out) : std::nullopt;
}

/// Resolves the statement of one variable and adds it to the model.
void resolve_statement(Resolver& r, VariableId id) {
  const ast::Tilde& tilde = *r.tildes[id.index()];
  Context c;
  if (r.variable_ok[id.index()]) c.statement_index_vars = make_index_vars(r, c, tilde.axes, r.model[id].axes);
  const auto [call, row] = family_of(r.ast, tilde.distribution, nullptr);
  if (row) check_over(r, tilde, *row);
  if (!r.variable_ok[id.index()]) return;  // its indices are unknown: each use of them would be another error

  Axes axes{std::nullopt, std::nullopt, tilde.name.text};
  // With `over P`, a number has one axis more than was typed. It gets an index variable, too.
  if (r.headers[id.index()] == HeaderState::done && row) {
    const Variable& v = r.model[id];
    if (v.value_plate) axes.event = v.value_plate;
    if (!v.event.empty()) axes.event = v.event.front();
    if (v.axes.size() > tilde.axes.size()) {
      axes.element = IndexVarId(r.model.index_vars.size());
      r.model.index_vars.push_back({tilde.over[0].text, v.axes.back(), std::nullopt});
      c.statement_index_vars.push_back(*axes.element);
    }
  }
  std::set<IndexVarId> lagged;
  c.lagged = &lagged;
  if (tilde.start && tilde.weights) {
    r.diagnostics.add(DiagnosticKind::mixture_chain, r.ast[*tilde.start].span, tilde.name.text)
        .note(tilde.observed ? kGivenBefore : kSwitched);
    return;
  }
  c.lag = tilde.start      ? LagRule::main_with_start
          : !tilde.weights ? LagRule::main_without_start
          : tilde.observed ? LagRule::observed_mixture
                           : LagRule::mixture;
  const std::size_t errors_before = r.diagnostics.all().size();
  auto main = resolve_distribution(r, c, tilde.distribution, axes);
  std::optional<Distribution> start;
  if (tilde.start) {
    c.lag = LagRule::start;
    start = resolve_distribution(r, c, *tilde.start, axes);
    if (start && main && start->family->support != main->family->support) {
      r.diagnostics.add(DiagnosticKind::shape_needed, start->span, "the start distribution",
                        fmt::format("of the support of {}", main->family->name), std::string(start->family->name));
    }
  }
  // After other errors, an expression with a lag may not have been reached.
  if (r.diagnostics.all().size() == errors_before) check_chain(r, tilde, lagged);
  if (!main || (tilde.start && !start)) return;
  auto others = resolve_others(r, c, tilde, *main, axes);
  const auto weights = tilde.weights ? resolve_expr(r, c, *tilde.weights) : std::nullopt;
  if (!others || (tilde.weights && !weights)) return;
  if (weights && !r.model[*weights].value_plate && !check_number(r, *weights)) return;
  c.lag = LagRule::none;
  std::vector<const math::FamilyRow*> parts{main->family};
  for (const Distribution& other : *others)
    parts.push_back(other.family);
  const auto limits = resolve_limits(r, c, tilde, parts, axes);
  if (!limits) return;
  if (!tilde.observed) {
    check_latent_parameters(r, *main);
    for (const Distribution& other : *others)
      check_latent_parameters(r, other);
  }
  const StatementId statement(r.model.statements.size());
  const auto first_lagged = lagged.empty() ? std::nullopt : std::optional(*lagged.begin());
  r.model.statements.push_back({id, c.statement_index_vars, std::move(*main), std::move(start), first_lagged,
                                cover(tilde.name.span, r.ast[tilde.start ? *tilde.start : tilde.distribution].span),
                                *limits, std::move(*others)});
  if (weights) r.mixtures.emplace(statement, *weights);
  r.model.variables[id.index()].statement = statement;
}

/// Resolves a `potential` declaration.
void resolve_potential(Resolver& r, const ast::Potential& potential, Span span) {
  const auto axes = resolve_axes(r, potential.axes, "potential");
  if (!axes) return;
  Context c;
  c.statement_index_vars = make_index_vars(r, c, potential.axes, *axes);
  const auto value = resolve_scalar(r, c, potential.value, "a potential");
  if (value) r.model.potentials.push_back({c.statement_index_vars, *value, span});
}

/// Resolves the body of a `let` once by itself, so that its errors are reported where it is written, also if it is not
/// used. The result is discarded. A body with a random variable counts as used, because it can be predicted.
void resolve_let(Resolver& r, std::size_t index) {
  if (!r.lets[index].ok) return;
  const std::size_t bounds = r.model.index_vars.size(), exprs = r.model.exprs.size();
  const ast::LetDecl& decl = *r.lets[index].decl;
  Context c;
  c.lag = LagRule::let_body;
  const std::vector<PlateId> axes = r.lets[index].axes;
  make_index_vars(r, c, decl.axes, axes);
  r.lets[index].open = true;
  const auto body = resolve_expr(r, c, decl.value);
  r.lets[index].open = false;
  if (!body) r.lets[index].ok = false;
  const auto is_random = [](const Expr& e) { return std::holds_alternative<VariableRef>(e.node); };
  if (std::any_of(r.model.exprs.begin() + static_cast<std::ptrdiff_t>(exprs), r.model.exprs.end(), is_random))
    r.names.at(decl.name.text).used = true;
  r.model.index_vars.resize(bounds);
  r.model.exprs.resize(exprs);
}

/// Returns true if all arguments are named, by parameters of the row.
bool names_parameters(const ast::Call& call, const math::FamilyRow& row) {
  return !call.arguments.empty() && std::ranges::all_of(call.arguments, [&](const ast::Argument& a) {
    return a.name && std::ranges::find(row.spellings, a.name->text, &math::Spelling::name) != row.spellings.end();
  });
}

}  // namespace

std::pair<const ast::Call*, const math::FamilyRow*> family_of(const ast::Ast& ast, ast::ExprId id,
                                                              Diagnostics* diagnostics) {
  Reporter report(diagnostics);
  const ast::Expr& expr = bare(ast, id);
  const auto* call = std::get_if<ast::Call>(&expr.node);
  if (!call) {
    report.add(DiagnosticKind::unknown_distribution, expr.span, "this");
    return {nullptr, nullptr};
  }
  const math::FamilyRow* row = math::find_family(call->function.text);
  if (!row) {
    Diagnostic* d = report.add(DiagnosticKind::unknown_distribution, call->function.span, call->function.text);
    if (d) {
      std::vector<std::string> candidates;
      for (const math::FamilyRow& f : math::families()) {
        if (!f.joint_precision) candidates.push_back(f.name);
      }
      candidates.insert(candidates.end(), {"mixture", "zero_inflated"});
      if (std::ranges::find(candidates, call->function.text) != candidates.end()) {
        d->note(
            "mixtures do not stand in one another: `mixture(w, A, B, C)` of a vector of weights has a part for each");
        return {call, nullptr};
      }
      suggest(*d, call->function.text, candidates);
      d->note(
          fmt::format("the distributions are {}; `lehr families` has their parameters", fmt::join(candidates, ", ")));
    }
    return {call, nullptr};
  }
  if (row->joint_precision) {
    Diagnostic* d = report.add(DiagnosticKind::factor_only, call->function.span, row->name);
    if (d) d->note("draw the mean and the precision by two statements, and join them: `guide joint(mu, tau)`");
    return {call, nullptr};
  }
  // Another row for the same distribution is meant if the arguments have its names: NegativeBinomial(mean, r).
  const math::FamilyRow* also = math::find_family(row->alternative_row);
  return {call, also && names_parameters(*call, *also) ? also : row};
}

std::optional<std::vector<MatchedArgument>> match_arguments(const ast::Call& call, const math::FamilyRow& row,
                                                            Span span, Diagnostics* diagnostics) {
  Reporter report(diagnostics);
  const auto groups = canonical_groups(row);
  std::vector<std::optional<MatchedArgument>> chosen(groups.size());
  const auto positional =
      std::count_if(call.arguments.begin(), call.arguments.end(), [](const ast::Argument& a) { return !a.name; });
  if (positional > 0 && !row.positional) {
    report.add(DiagnosticKind::positional_parameters, span, row.name, named_forms(row));
    return std::nullopt;
  }
  if (call.arguments.size() > groups.size() && positional > 0) {
    report.add(DiagnosticKind::too_many_parameters, span, row.name, counted(groups.size(), "parameter", "parameters"),
               counted(call.arguments.size(), "is", "are"));
    return std::nullopt;
  }
  /// Positional arguments skip optional parameters unless all are given: Multinomial(p), Multinomial(n, p).
  std::size_t next = 0;
  bool named_seen = false;
  for (const ast::Argument& a : call.arguments) {
    std::size_t group = groups.size();
    const math::Spelling* spelling = nullptr;
    if (a.name) {
      named_seen = true;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        for (const math::Spelling* s : groups[g]) {
          if (s->name == a.name->text) group = g, spelling = s;
        }
      }
      if (!spelling) {
        Diagnostic* d = report.add(DiagnosticKind::unknown_parameter, a.name->span, row.name, a.name->text);
        if (d) {
          std::vector<std::string> candidates;
          for (const math::Spelling& s : row.spellings)
            candidates.push_back(s.name);
          suggest(*d, a.name->text, candidates);
          d->note(fmt::format("it is written {}", named_forms(row)));
        }
        continue;
      }
    } else {
      const bool skip_optional = call.arguments.size() < groups.size();
      while (next < groups.size() && skip_optional && groups[next].front()->optional)
        ++next;
      if (next >= groups.size() || named_seen) {
        report.add(DiagnosticKind::positional_parameters, span, row.name, named_forms(row));
        return std::nullopt;
      }
      group = next++;
      spelling = groups[group].front();
    }
    if (chosen[group]) {
      const Span at = a.name ? a.name->span : span;
      if (chosen[group]->spelling == spelling) {
        report.add(DiagnosticKind::repeated_parameter, at, spelling->name);
      } else {
        report.add(DiagnosticKind::conflicting_parameters, at, chosen[group]->spelling->name, spelling->name);
      }
      continue;
    }
    chosen[group] = MatchedArgument{spelling, a.value};
  }
  std::vector<MatchedArgument> out;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (chosen[g]) {
      out.push_back(*chosen[g]);
    } else if (!groups[g].front()->optional && !report.failed) {
      report.add(DiagnosticKind::missing_parameter, span, row.name, joined(spelling_names(groups[g]), "or"));
    }
  }
  if (report.failed) return std::nullopt;
  return out;
}

std::vector<IndexVarId> make_index_vars(Resolver& r, Context& c, const std::vector<ast::Name>& names,
                                        const std::vector<PlateId>& axes) {
  std::vector<IndexVarId> out;
  for (std::size_t i = 0; i < names.size() && i < axes.size(); ++i) {
    IndexVar bound{names[i].text, axes[i], std::nullopt};
    if (r.model[axes[i]].parent && i > 0) bound.parent = out[i - 1];
    const IndexVarId id(r.model.index_vars.size());
    r.model.index_vars.push_back(bound);
    out.push_back(id);
    c.scope.push_back({names[i].text, Index{Index::Shifted{id, 0}, axes[i], names[i].span}});
  }
  return out;
}

void resolve_statements(Resolver& r) {
  for (std::size_t i = 0; i < r.lets.size(); ++i)
    resolve_let(r, i);
  for (std::size_t i = 0; i < r.model.variables.size(); ++i)
    resolve_statement(r, VariableId(i));
  for (const ast::Decl& decl : r.ast.decls) {
    if (const auto* potential = std::get_if<ast::Potential>(&decl.node)) resolve_potential(r, *potential, decl.span);
  }
}

}  // namespace lehr::model
