// Resolves names with indices. Each index is typed by the plate of its axis. Names declared by `let` are substituted:
// the body is resolved again at each use, with its parameters set to the indices.
//
//   let f[n] = dot(w, x[n]);     f[z[m]]  becomes  dot(w, x[z[m]])
#include <algorithm>
#include <cmath>

#include "compiler/model/resolver.h"
#include "compiler/support/printing.h"

namespace lehr::model {
namespace {

/// Returns the innermost index of this name in scope, or null.
const ScopeEntry* entry_of(const Context& c, const std::string& name) {
  for (auto it = c.scope.rbegin(); it != c.scope.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

/// Returns the name of the category that an index looks up, for messages.
std::string lookup_name(const Resolver& r, const Index& index) {
  const auto* lookup = std::get_if<Index::Lookup>(&index.form);
  if (!lookup) return "this";
  const Expr& e = r.model[lookup->category];
  if (const auto* v = std::get_if<VariableRef>(&e.node)) return r.model[v->variable].name;
  if (const auto* g = std::get_if<GivenRef>(&e.node)) return r.model[g->given].name;
  return "this";
}

/// Returns the data that an index looks up, or null.
const GivenRef* data_of(const Resolver& r, const Index& index) {
  const auto* lookup = std::get_if<Index::Lookup>(&index.form);
  return lookup ? std::get_if<GivenRef>(&r.model[lookup->category].node) : nullptr;
}

bool same(const Resolver& r, const std::vector<Index>& a, const std::vector<Index>& b);

// Returns true if two indices always denote the same element: equal variables, constants or look-ups in data.
bool same(const Resolver& r, const Index& a, const Index& b) {
  const auto* x = std::get_if<Index::Shifted>(&a.form);
  const auto* y = std::get_if<Index::Shifted>(&b.form);
  if (x && y) return x->bound == y->bound && x->offset == y->offset;
  const auto* k = std::get_if<Index::Constant>(&a.form);
  const auto* l = std::get_if<Index::Constant>(&b.form);
  if (k && l) return k->value == l->value;
  const GivenRef *m = data_of(r, a), *n = data_of(r, b);
  return m && n && m->given == n->given && same(r, m->indices, n->indices);
}

bool same(const Resolver& r, const std::vector<Index>& a, const std::vector<Index>& b) {
  return std::ranges::equal(a, b, [&](const Index& i, const Index& j) { return same(r, i, j); });
}

/// Returns true if `row`, the index before `index`, gives the row of the nested element that `index` looks up in data.
/// It must be the first index of these data, or data alongside with the same indices. Records it in Given::row: it must
/// be the same everywhere, so that binding can check it.
bool selects_row(Resolver& r, const Index& row, const Index& index) {
  const GivenRef* element = data_of(r, index);
  if (!element || element->indices.empty()) return false;
  Given& given = r.model.givens[element->given.index()];
  ReferencedRow named;
  if (!same(r, row, element->indices[0])) {
    const GivenRef* by = data_of(r, row);
    if (!by || !same(r, by->indices, element->indices) || r.model[by->given].axes != given.axes) return false;
    named.by = by->given;
  }
  if (given.row && given.row->by != named.by) return false;
  given.row = named;
  return true;
}

/// Checks a shifted index. `t - 1` is legal for an ordered axis of a statement with `start`, in its main distribution.
/// Reports an error and returns false elsewhere.
bool check_lag(Resolver& r, Context& c, const Index& index, Span span) {
  const auto& shifted = std::get<Index::Shifted>(index.form);
  const IndexVar& bound = r.model[shifted.bound];
  if (shifted.offset == 0) return true;
  if (shifted.offset > 0) {
    r.diagnostics.add(DiagnosticKind::lag_too_long, span, fmt::format("{} + {}", bound.name, shifted.offset))
        .note("write the chain forwards: each element given the previous one");
    return false;
  }
  if (!r.model[resolve_alias(r.model, bound.plate)].ordered) {
    r.diagnostics.add(DiagnosticKind::lag_unordered, span, bound.name)
        .note(fmt::format("declare plate '{}' with `ordered`", r.model[resolve_alias(r.model, bound.plate)].name));
    return false;
  }
  if (c.lag == LagRule::let_body) return true;
  const auto& own = c.statement_index_vars;
  const bool of_statement = std::find(own.begin(), own.end(), shifted.bound) != own.end();
  if (c.lag != LagRule::main_with_start || !of_statement) {
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::lag_without_start, span, bound.name, bound.name);
    if (c.lag == LagRule::start) {
      d.note("`start` is the distribution of the first element: it has no previous one");
    } else if (c.lag == LagRule::main_without_start) {
      d.note("add `start` and the distribution of the first element");
    } else if (c.lag == LagRule::mixture || c.lag == LagRule::observed_mixture) {
      d.note("a mixture is of each element alone").note(c.lag == LagRule::mixture ? kSwitched : kGivenBefore);
    } else {
      d.note("a previous element can be named in a statement `x[t] ~ ... start ...` over its own axes only");
    }
    return false;
  }
  if (c.lagged) c.lagged->insert(shifted.bound);
  return true;
}

/// Returns the index that the name of a plate denotes in scope, shifted by `offset`.
std::optional<Index> resolve_index_var(Resolver& r, Context& c, const ast::Name& name, std::int64_t offset, Span span) {
  const ScopeEntry* entry = entry_of(c, name.text);
  if (!entry) {
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::free_index, name.span, name.text);
    std::string have;
    for (const ScopeEntry& e : c.scope)
      have += fmt::format("{}'{}'", have.empty() ? "" : ", ", e.name);
    d.note(have.empty() ? "there is no index here" : "the indices here are " + have);
    return std::nullopt;
  }
  Index index = entry->index;
  index.span = span;
  if (offset == 0) return index;
  auto* shifted = std::get_if<Index::Shifted>(&index.form);
  if (!shifted) {
    r.diagnostics.add(DiagnosticKind::bad_index, span).note("only an index of the statement can be shifted");
    return std::nullopt;
  }
  shifted->offset += offset;
  if (!check_lag(r, c, index, span)) return std::nullopt;
  return index;
}

/// Resolves an index that is itself a name: its values must be elements of a plate.
std::optional<Index> lookup_index(Resolver& r, Context& c, ast::ExprId id) {
  const auto value = resolve_expr(r, c, id);
  if (!value) return std::nullopt;
  const Expr& e = r.model[*value];
  const Span span = r.ast[id].span;
  const bool is_reference = std::holds_alternative<VariableRef>(e.node) || std::holds_alternative<GivenRef>(e.node);
  if (!is_reference) {
    r.diagnostics.add(DiagnosticKind::bad_index, span)
        .note(
            "an index is a plate, `plate - 1`, a whole number, or a name whose values are elements of a "
            "plate");
    return std::nullopt;
  }
  if (!e.value_plate) {
    const auto* v = std::get_if<VariableRef>(&e.node);
    const std::string subject = v ? r.model[v->variable].name : r.model[std::get<GivenRef>(e.node).given].name;
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::number_as_index, span, subject);
    if (v && r.model[v->variable].support == math::Support::bit) {
      d.note("draw it from Categorical over a plate of two elements instead");
    } else if (!v) {
      const auto& axes = r.model[std::get<GivenRef>(e.node).given].axes;
      d.note(fmt::format("declare it as `data {}{} : P`, P being the plate of its values", subject,
                         bracketed(listed(axes, [&](PlateId p) { return r.model[p].name; }))));
    }
    return std::nullopt;
  }
  if (!e.shape.empty()) {
    r.diagnostics.add(DiagnosticKind::shape_needed, span, "an index", "one element", describe(r.model, e));
    return std::nullopt;
  }
  return Index{Index::Lookup{*value}, resolve_alias(r.model, *e.value_plate), span};
}

/// Resolves all indices of a name and checks them against its axes. An index of a nested plate must follow the index of
/// its row.
std::optional<std::vector<Index>> resolve_indices(Resolver& r, Context& c, const ast::Name& name,
                                                  const std::vector<ast::ExprId>& indices,
                                                  const std::vector<PlateId>& axes, Span span) {
  if (indices.size() > axes.size()) {
    r.diagnostics.add(DiagnosticKind::too_many_indices, span, name.text,
                      axes.empty() ? "no index" : "at most " + counted(axes.size(), "index", "indices"),
                      counted(indices.size(), "is", "are"));
    return std::nullopt;
  }
  std::vector<Index> out;
  bool ok = true;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto index = resolve_index(r, c, indices[i], axes[i]);
    if (!index) {
      ok = false;
      out.push_back(Index{Index::Constant{0}, axes[i], span});
      continue;
    }
    if (!unify(r, index->set, axes[i])) {
      if (const auto* shifted = std::get_if<Index::Shifted>(&index->form)) {
        r.diagnostics.add(DiagnosticKind::wrong_index, index->span, name.text, i,
                          r.model[resolve_alias(r.model, axes[i])].name, r.model[shifted->bound].name);
        ok = false;
        out.push_back(*index);
        continue;
      }
      r.diagnostics.add(DiagnosticKind::wrong_plate, index->span, name.text, i,
                        r.model[resolve_alias(r.model, axes[i])].name, lookup_name(r, *index),
                        r.model[resolve_alias(r.model, index->set)].name);
      ok = false;
    } else if (r.model[resolve_alias(r.model, axes[i])].parent && i > 0 && ok) {
      const auto* own = std::get_if<Index::Shifted>(&index->form);
      const auto* row = std::get_if<Index::Shifted>(&out[i - 1].form);
      const bool constant = std::holds_alternative<Index::Constant>(index->form);
      const bool attached = own ? row && row->offset == 0 && r.model[own->bound].parent == row->bound
                                : selects_row(r, out[i - 1], *index);
      if (!constant && !attached) {
        const PlateId parent = resolve_alias(r.model, *r.model[resolve_alias(r.model, axes[i])].parent);
        Diagnostic& d = r.diagnostics.add(DiagnosticKind::detached_index, index->span,
                                          r.model[resolve_alias(r.model, axes[i])].name, r.model[parent].name);
        if (data_of(r, *index))
          d.note(
              fmt::format("where data give the element, the index before it is their own first one, or given by data "
                          "over the same plates with the same indices: `data row[n] : {0}`, `{1}[row[n], {2}[n]]`; "
                          "the same everywhere",
                          r.model[parent].name, name.text, lookup_name(r, *index)));
        ok = false;
      }
    }
    out.push_back(*index);
  }
  if (!ok) return std::nullopt;
  return out;
}

/// Returns the axes that remain after indexing: at most two, and no nested plate, whose rows differ in length.
std::optional<std::vector<PlateId>> trailing_shape(Resolver& r, const ast::Name& name, const std::vector<PlateId>& axes,
                                                   std::size_t indexed, Span span) {
  std::vector<PlateId> shape(axes.begin() + static_cast<std::ptrdiff_t>(indexed), axes.end());
  for (const PlateId p : shape) {
    if (!r.model[resolve_alias(r.model, p)].parent) continue;
    r.diagnostics.add(DiagnosticKind::ragged_axis, span, name.text, r.model[resolve_alias(r.model, p)].name)
        .note(fmt::format("write the sum over it: sum({}) ...", r.model[resolve_alias(r.model, p)].name));
    return std::nullopt;
  }
  if (shape.size() > 2) {
    r.diagnostics.add(DiagnosticKind::shape_needed, span, name.text, "a number, a vector or a matrix",
                      fmt::format("over {} axes", shape.size()));
    return std::nullopt;
  }
  return shape;
}

/// Substitutes a `let`: resolves its body with its parameters bound to the given indices.
std::optional<ExprId> expand_let(Resolver& r, Context& c, const ast::Reference& reference, std::size_t index,
                                 Span span) {
  if (!r.lets[index].ok) return std::nullopt;
  const ast::LetDecl& decl = *r.lets[index].decl;
  const std::vector<PlateId> axes = r.lets[index].axes;
  if (r.lets[index].open) {
    r.diagnostics.add(DiagnosticKind::cyclic_let, decl.name.span, decl.name.text);
    r.lets[index].ok = false;
    return std::nullopt;
  }
  if (reference.indices.size() < axes.size()) {
    r.diagnostics.add(DiagnosticKind::let_indices, span, decl.name.text, counted(axes.size(), "index", "indices"))
        .note("a vector is made of vectors, without the index of its elements: `let e = diag(a) * b`");
    return std::nullopt;
  }
  const auto split = reference.indices.begin() + static_cast<std::ptrdiff_t>(axes.size());
  const std::vector<ast::ExprId> own(reference.indices.begin(), split), further(split, reference.indices.end());
  const auto indices = resolve_indices(r, c, reference.name, own, axes, span);
  if (!indices) return std::nullopt;
  // The body sees its own parameters, but not the indices at the place of use.
  Context inner = c;
  inner.scope.clear();
  for (std::size_t i = 0; i < axes.size(); ++i)
    inner.scope.push_back({decl.axes[i].text, (*indices)[i]});
  r.lets[index].open = true;
  const auto body = resolve_expr(r, inner, decl.value);
  r.lets[index].open = false;
  if (!body || further.empty()) return body;

  /// Further indices belong to the axes of the name that the body consists of.
  Expr expr = r.model[*body];
  auto* variable = std::get_if<VariableRef>(&expr.node);
  auto* given = std::get_if<GivenRef>(&expr.node);
  if (!variable && !given) {
    r.diagnostics.add(DiagnosticKind::too_many_indices, span, reference.name.text,
                      axes.empty() ? "no index" : counted(axes.size(), "index", "indices"),
                      counted(reference.indices.size(), "is", "are"));
    return std::nullopt;
  }
  const auto rest = resolve_indices(r, c, reference.name, further, expr.shape, span);
  if (!rest) return std::nullopt;
  std::vector<Index>& all = variable ? variable->indices : given->indices;
  all.insert(all.end(), rest->begin(), rest->end());
  expr.shape.erase(expr.shape.begin(), expr.shape.begin() + static_cast<std::ptrdiff_t>(further.size()));
  expr.span = span;
  return make(r, std::move(expr));
}

}  // namespace

std::optional<Index> resolve_index(Resolver& r, Context& c, ast::ExprId id, PlateId axis) {
  const ast::Expr& expr = bare(r.ast, id);
  const auto is_plate = [&](const ast::Expr& e) -> const ast::Name* {
    const auto* reference = std::get_if<ast::Reference>(&e.node);
    if (!reference || !reference->indices.empty()) return nullptr;
    const auto it = r.names.find(reference->name.text);
    return it != r.names.end() && it->second.kind == SymbolKind::plate ? &reference->name : nullptr;
  };
  if (const ast::Name* name = is_plate(expr)) return resolve_index_var(r, c, *name, 0, expr.span);
  if (const auto* number = std::get_if<ast::Number>(&expr.node)) {
    const PlateId set = resolve_alias(r.model, axis);
    const std::int64_t from = r.model[set].from;
    if (number->value < static_cast<double>(from) || number->value > 1e15 ||
        number->value != std::floor(number->value)) {
      r.diagnostics.add(DiagnosticKind::bad_index, expr.span)
          .note(fmt::format("indices of plate '{}' are whole numbers from {}", r.model[set].name, from));
      return std::nullopt;
    }
    return Index{Index::Constant{static_cast<std::int64_t>(number->value) - from}, set, expr.span};
  }
  if (const auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    const bool shift = binary->op == ast::BinaryOp::add || binary->op == ast::BinaryOp::subtract;
    const ast::Name* name = is_plate(bare(r.ast, binary->left));
    const auto* number = std::get_if<ast::Number>(&bare(r.ast, binary->right).node);
    if (shift && name && number && number->value == std::floor(number->value) && number->value < 1e9) {
      const auto offset = static_cast<std::int64_t>(number->value);
      return resolve_index_var(r, c, *name, binary->op == ast::BinaryOp::add ? offset : -offset, expr.span);
    }
  }
  if (std::holds_alternative<ast::Reference>(expr.node)) return lookup_index(r, c, id);
  r.diagnostics.add(DiagnosticKind::bad_index, expr.span)
      .note("an index is a plate, `plate - 1`, a whole number, or a name whose values are elements of a plate");
  return std::nullopt;
}

std::optional<ExprId> resolve_reference(Resolver& r, Context& c, const ast::Expr& expr,
                                        const ast::Reference& reference) {
  const std::string& name = reference.name.text;
  const Symbol* symbol = find(r, name);
  if (!symbol) {
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::unknown_name, reference.name.span, name);
    suggest(r, d, name);
    return std::nullopt;
  }
  if (c.constants_only && symbol->kind != SymbolKind::constant && symbol->kind != SymbolKind::plate) {
    r.diagnostics.add(DiagnosticKind::not_constant, expr.span, "'" + name + "'")
        .note("constants and sizes of plates may use numbers, constants and size(plate) only");
    return std::nullopt;
  }
  const auto element = [&](auto ref, auto id) -> std::optional<ExprId> {
    std::vector<PlateId> axes = r.model[id].axes;
    axes.insert(axes.end(), r.model[id].event.begin(), r.model[id].event.end());
    auto indices = resolve_indices(r, c, reference.name, reference.indices, axes, expr.span);
    if (!indices) return std::nullopt;
    auto shape = trailing_shape(r, reference.name, axes, indices->size(), expr.span);
    if (!shape) return std::nullopt;
    ref.indices = std::move(*indices);
    return make(r, {std::move(ref), std::move(*shape), r.model[id].value_plate, expr.span});
  };
  switch (symbol->kind) {
    case SymbolKind::plate: {
      Diagnostic& d = r.diagnostics.add(DiagnosticKind::index_as_number, expr.span, name);
      d.note(fmt::format("for its size write size({})", name));
      if (!c.constants_only)
        d.note(fmt::format("for its position as a number bind `data time[{0}] : real` and write time[{0}]", name));
      return std::nullopt;
    }
    case SymbolKind::constant: {
      if (!reference.indices.empty()) {
        r.diagnostics.add(DiagnosticKind::too_many_indices, expr.span, name, "no index",
                          counted(reference.indices.size(), "is", "are"));
        return std::nullopt;
      }
      return make(r, {ConstantRef{ConstantId(symbol->index)}, {}, std::nullopt, expr.span});
    }
    case SymbolKind::given: {
      const GivenId id(symbol->index);
      if (!r.given_ok[id.index()]) return std::nullopt;
      return element(GivenRef{id, {}}, id);
    }
    case SymbolKind::variable: {
      const VariableId id(symbol->index);
      if (!r.variable_ok[id.index()] || !infer_header(r, id)) return std::nullopt;
      return element(VariableRef{id, {}}, id);
    }
    case SymbolKind::let:
      return expand_let(r, c, reference, symbol->index, expr.span);
  }
  return std::nullopt;
}

}  // namespace lehr::model
