// Resolves expressions: operators, functions and sums. Each node gets its shape, the axes of its value. The number and
// depth of nodes are limited, because a `let` inside a `let` can multiply them.
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/model/resolver.h"
#include "compiler/support/printing.h"

namespace lehr::model {
namespace {

constexpr std::size_t kMaxNodes = 200000;  // that a model may have after substitution of `let` names

/// Returns the plates of a shape in quotes, for messages.
std::string quoted_shape(const Model& model, const std::vector<PlateId>& shape) {
  return listed(shape, [&](PlateId p) { return fmt::format("'{}'", model[resolve_alias(model, p)].name); });
}

/// Returns true if two shapes are equal, with added plates unified.
bool same_shape(Resolver& r, const std::vector<PlateId>& a, const std::vector<PlateId>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!unify(r, a[i], b[i])) return false;
  }
  return true;
}

/// Resolves an arithmetic operation and checks the shapes of its operands.
std::optional<ExprId> resolve_binary(Resolver& r, Context& c, const ast::Expr& expr, const ast::Binary& binary) {
  const auto left = resolve_expr(r, c, binary.left);
  const auto right = resolve_expr(r, c, binary.right);
  if (!left || !right) return std::nullopt;
  if (!check_number(r, *left) || !check_number(r, *right)) return std::nullopt;
  const BinaryOp op = binary.op;
  const std::vector<PlateId> a = r.model[*left].shape, b = r.model[*right].shape;
  const auto refuse = [&](const std::string& cure) {
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::operand_shapes, expr.span, symbol_of(op),
                                      describe(r.model, r.model[*left]), describe(r.model, r.model[*right]));
    if (!cure.empty()) d.note(cure);
    return std::nullopt;
  };
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::subtract:
      if (!same_shape(r, a, b)) return refuse(a.size() == b.size() ? "" : "both sides must have the same shape");
      return make(r, {Binary{op, *left, *right}, a, std::nullopt, expr.span});
    case BinaryOp::multiply:
      if (a.empty() || b.empty()) {
        return make(r, {Binary{op, *left, *right}, a.empty() ? b : a, std::nullopt, expr.span});
      }
      if (a.size() == 2 && b.size() == 1 && unify(r, a[1], b[0])) {
        return make(r, {MatrixVector{*left, *right}, {a[0]}, std::nullopt, expr.span});
      }
      if (a.size() == 1 && b.size() == 1) {
        return refuse("the inner product is `dot(a, b)`, the product of each element `diag(a) * b`");
      }
      return refuse("`*` joins a number with anything, and a matrix over (p, q) with a vector over q");
    case BinaryOp::divide:
      if (!b.empty()) return refuse("only division by a number is defined");
      return make(r, {Binary{op, *left, *right}, a, std::nullopt, expr.span});
  }
  return std::nullopt;
}

/// Resolves `sum(f) ...`: makes index variables for its plates and resolves the body with them in scope.
std::optional<ExprId> resolve_sum(Resolver& r, Context& c, const ast::Expr& expr, const ast::Sum& sum) {
  if (c.constants_only) {
    r.diagnostics.add(DiagnosticKind::not_constant, expr.span, "a sum over a plate");
    return std::nullopt;
  }
  // The index variables of the sum are visible in its body only.
  Context inner = c;
  std::vector<IndexVarId> index_vars;
  for (const ast::Name& name : sum.plates) {
    const auto plate = plate_named(r, name);
    if (!plate) return std::nullopt;
    // Two indices of one name would hide each other.
    const auto entry_of = [&](const std::string& n) {
      return std::find_if(inner.scope.begin(), inner.scope.end(), [&](const ScopeEntry& e) { return e.name == n; });
    };
    if (entry_of(name.text) != inner.scope.end()) {
      r.diagnostics.add(DiagnosticKind::bound_twice, name.span, name.text)
          .note(fmt::format("for a second index over the same set declare an alias: `plate {0}2 = {0}` and write {0}2 "
                            "for one of them",
                            name.text));
      return std::nullopt;
    }
    const PlateId set = resolve_alias(r.model, *plate);
    IndexVar bound{name.text, set, std::nullopt};
    if (const auto parent = r.model[set].parent) {
      const PlateId parent_set = resolve_alias(r.model, *parent);
      for (const ScopeEntry& e : inner.scope) {
        const auto* shifted = std::get_if<Index::Shifted>(&e.index.form);
        if (shifted && shifted->offset == 0 && resolve_alias(r.model, e.index.set) == parent_set)
          bound.parent = shifted->bound;
      }
      if (!bound.parent) {
        const std::string& parent_name = r.model[parent_set].name;
        r.diagnostics.add(DiagnosticKind::detached_index, name.span, name.text, parent_name)
            .note(fmt::format("sum over both: sum({}, {})", parent_name, name.text));
        return std::nullopt;
      }
    }
    const IndexVarId id(r.model.index_vars.size());
    r.model.index_vars.push_back(bound);
    index_vars.push_back(id);
    inner.scope.push_back({name.text, Index{Index::Shifted{id, 0}, set, name.span}});
  }
  const auto body = resolve_expr(r, inner, sum.body);
  if (!body || !check_number(r, *body)) return std::nullopt;
  return make(r, {SumOver{index_vars, *body}, r.model[*body].shape, std::nullopt, expr.span});
}

/// Resolves `size(plate)`. The size of a nested plate is that of the current row, whose indices must be in scope.
std::optional<ExprId> resolve_size(Resolver& r, Context& c, const ast::Expr& expr, const ast::Call& call) {
  const ast::Expr& argument = bare(r.ast, call.arguments[0].value);
  const auto* reference = std::get_if<ast::Reference>(&argument.node);
  if (!reference || !reference->indices.empty()) {
    r.diagnostics.add(DiagnosticKind::function_arguments, expr.span, "size", "the name of a plate");
    return std::nullopt;
  }
  const auto plate = plate_named(r, reference->name);
  if (!plate) return std::nullopt;
  SizeOf node{resolve_alias(r.model, *plate), {}};
  PlateId at = node.plate;
  while (const auto parent = r.model[at].parent) {
    at = resolve_alias(r.model, *parent);
    std::optional<IndexVarId> row;
    for (const ScopeEntry& e : c.scope) {
      const auto* shifted = std::get_if<Index::Shifted>(&e.index.form);
      if (shifted && shifted->offset == 0 && resolve_alias(r.model, e.index.set) == at) row = shifted->bound;
    }
    if (!row) {
      r.diagnostics.add(DiagnosticKind::detached_index, expr.span, reference->name.text, r.model[at].name);
      return std::nullopt;
    }
    node.row.insert(node.row.begin(), *row);
  }
  return make(r, {node, {}, std::nullopt, expr.span});
}

/// Resolves an argument that must be a vector.
std::optional<ExprId> resolve_vector(Resolver& r, Context& c, ast::ExprId id, const std::string& subject) {
  const auto value = resolve_expr(r, c, id);
  if (!value || !check_number(r, *value)) return std::nullopt;
  if (r.model[*value].shape.size() == 1) return value;
  r.diagnostics.add(DiagnosticKind::shape_needed, r.ast[id].span, subject, "a vector",
                    describe(r.model, r.model[*value]));
  return std::nullopt;
}

/// Returns the names of all functions of the language, sorted.
std::vector<std::string> function_names() {
  std::vector<std::string> names{"cumulative", "diag", "dot", "ordered_logistic", "size", "softmax", "stick_breaking"};
  for (const math::FunctionRow* row : math::language_functions())
    names.emplace_back(row->name);
  std::ranges::sort(names);
  return names;
}

/// Resolves a call of a function whose only argument is a vector.
std::optional<ExprId> resolve_function_of_vector(Resolver& r, Context& c, ast::ExprId id, const ast::Expr& expr,
                                                 const ast::Call& call) {
  const std::string& name = call.function.text;
  const auto vector = resolve_vector(r, c, call.arguments[0].value, "the argument of " + name);
  if (!vector) return std::nullopt;
  const PlateId p = r.model[*vector].shape[0];
  if (name == "diag") return make(r, {Diag{*vector}, {p, p}, std::nullopt, expr.span});
  if (name == "softmax") return make(r, {Softmax{*vector}, {p}, std::nullopt, expr.span});
  const PlateId longer = extended_plate(r, id, p);
  if (name == "cumulative") return make(r, {Cumulative{*vector}, {longer}, std::nullopt, expr.span});
  return make(r, {StickBreaking{*vector}, {longer}, std::nullopt, expr.span});
}

/// Resolves a call of any function.
std::optional<ExprId> resolve_call(Resolver& r, Context& c, ast::ExprId id, const ast::Expr& expr,
                                   const ast::Call& call) {
  const std::string& name = call.function.text;
  static const std::vector<std::string> names = function_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    if (math::find_family(name)) {
      r.diagnostics.add(DiagnosticKind::misplaced_distribution, call.function.span, name)
          .note("a distribution stands directly after `~` or `start`; p*A + (1-p)*B is written `mixture(p, A, B)`");
    } else {
      Diagnostic& d = r.diagnostics.add(DiagnosticKind::unknown_function, call.function.span, name);
      if (r.names.contains(name)) d.note("indices are written in brackets: " + name + "[...]");
      suggest(d, name, names);
      d.note(fmt::format("the functions are {}", fmt::join(names, ", ")));
    }
    return std::nullopt;
  }
  const std::size_t arity = name == "dot" || name == "ordered_logistic" ? 2 : 1;
  const bool named = std::any_of(call.arguments.begin(), call.arguments.end(), [](const auto& a) { return a.name; });
  if (named || call.arguments.size() != arity) {
    r.diagnostics.add(DiagnosticKind::function_arguments, expr.span, name,
                      arity == 1 ? "one unnamed argument" : "two unnamed arguments");
    return std::nullopt;
  }
  const ast::ExprId first = call.arguments[0].value;
  if (name == "size") return resolve_size(r, c, expr, call);
  if (name == "dot") {
    const auto left = resolve_vector(r, c, first, "the first argument of dot");
    const auto right = resolve_vector(r, c, call.arguments[1].value, "the second argument of dot");
    if (!left || !right) return std::nullopt;
    const PlateId a = r.model[*left].shape[0], b = r.model[*right].shape[0];
    if (!unify(r, a, b)) {
      r.diagnostics.add(DiagnosticKind::plate_mismatch, expr.span, "the first argument of dot", r.model[a].name,
                        "the second", r.model[b].name);
      return std::nullopt;
    }
    return make(r, {Dot{*left, *right}, {}, std::nullopt, expr.span});
  }
  if (name == "ordered_logistic") {
    const auto location = resolve_scalar(r, c, first, "the first argument of ordered_logistic");
    const auto cuts = resolve_vector(r, c, call.arguments[1].value, "the second argument of ordered_logistic");
    if (!location || !cuts) return std::nullopt;
    const PlateId categories = extended_plate(r, id, r.model[*cuts].shape[0]);
    return make(r, {OrderedLogistic{*location, *cuts}, {categories}, std::nullopt, expr.span});
  }
  if (name == "cumulative" || name == "diag" || name == "softmax" || name == "stick_breaking")
    return resolve_function_of_vector(r, c, id, expr, call);
  const auto argument = resolve_expr(r, c, first);
  if (!argument || !check_number(r, *argument)) return std::nullopt;
  const std::vector<PlateId> shape = r.model[*argument].shape;
  if (shape.size() > 1) {
    r.diagnostics.add(DiagnosticKind::shape_needed, r.ast[first].span, fmt::format("the argument of {}", name),
                      "a number or a vector", describe(r.model, r.model[*argument]));
    return std::nullopt;
  }
  const auto& functions = math::language_functions();
  const auto row = std::ranges::find(functions, name, &math::FunctionRow::name);
  return make(r, {Apply{(*row)->function, *argument}, shape, std::nullopt, expr.span});
}

}  // namespace

const ast::Expr& bare(const ast::Ast& ast, ast::ExprId id) {
  const ast::Expr* expr = &ast[id];
  while (const auto* inner = std::get_if<ast::Parenthesised>(&expr->node))
    expr = &ast[inner->inner];
  return *expr;
}

std::string describe(const Model& model, const Expr& expr) {
  const std::size_t rank = expr.shape.size();
  if (expr.value_plate && rank == 0) {
    return fmt::format("an element of '{}'", model[resolve_alias(model, *expr.value_plate)].name);
  }
  if (rank == 0) return "a number";
  return fmt::format("a {} over {}", rank == 1 ? "vector" : "matrix", quoted_shape(model, expr.shape));
}

ExprId make(Resolver& r, Expr expr) {
  r.model.exprs.push_back(std::move(expr));
  return ExprId(r.model.exprs.size() - 1);
}

bool check_number(Resolver& r, ExprId id) {
  const Expr& expr = r.model[id];
  if (!expr.value_plate) return true;
  std::string subject = "this";
  if (const auto* v = std::get_if<VariableRef>(&expr.node)) subject = r.model[v->variable].name;
  if (const auto* g = std::get_if<GivenRef>(&expr.node)) subject = r.model[g->given].name;
  const std::string& plate = r.model[resolve_alias(r.model, *expr.value_plate)].name;
  r.diagnostics.add(DiagnosticKind::category_as_number, expr.span, subject, plate)
      .note(fmt::format("it can be an index: with v[{0}] a number for each '{0}', v[{1}[...]] is the number of "
                        "its element",
                        plate, subject));
  return false;
}

std::optional<ExprId> resolve_scalar(Resolver& r, Context& c, ast::ExprId id, const std::string& subject) {
  const auto value = resolve_expr(r, c, id);
  if (!value || !check_number(r, *value)) return std::nullopt;
  if (r.model[*value].shape.empty()) return value;
  r.diagnostics.add(DiagnosticKind::scalar_needed, r.ast[id].span, subject, describe(r.model, r.model[*value]));
  return std::nullopt;
}

std::optional<ExprId> resolve_expr(Resolver& r, Context& c, ast::ExprId id) {
  const ast::Expr& expr = r.ast[id];
  if (r.too_complex) return std::nullopt;
  if (c.depth > kMaxDepth || ++r.expansion > kMaxNodes) {
    r.too_complex = true;
    const bool deep = c.depth > kMaxDepth;
    r.diagnostics
        .add(DiagnosticKind::too_complex, expr.span,
             deep ? fmt::format("{} operations inside each other", kMaxDepth)
                  : fmt::format("{} operations, `let` names substituted", kMaxNodes))
        .note(deep ? "a sum of many terms is one over a plate, sum(k) w[k] * x[n, k], or has parts in brackets"
                   : "a name that stands for a variable of its own is not substituted");
    return std::nullopt;
  }
  ++c.depth;
  std::optional<ExprId> out;
  if (const auto* number = std::get_if<ast::Number>(&expr.node)) {
    out = make(r, {Number{number->value}, {}, std::nullopt, expr.span});
  } else if (const auto* reference = std::get_if<ast::Reference>(&expr.node)) {
    out = resolve_reference(r, c, expr, *reference);
  } else if (const auto* negate = std::get_if<ast::Negate>(&expr.node)) {
    const auto operand = resolve_expr(r, c, negate->operand);
    if (operand && check_number(r, *operand)) {
      out = make(r, {Negate{*operand}, r.model[*operand].shape, std::nullopt, expr.span});
    }
  } else if (const auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    out = resolve_binary(r, c, expr, *binary);
  } else if (const auto* call = std::get_if<ast::Call>(&expr.node)) {
    out = resolve_call(r, c, id, expr, *call);
  } else if (const auto* sum = std::get_if<ast::Sum>(&expr.node)) {
    out = resolve_sum(r, c, expr, *sum);
  } else if (const auto* inner = std::get_if<ast::Parenthesised>(&expr.node)) {
    out = resolve_expr(r, c, inner->inner);
  }
  --c.depth;
  return out;
}

ExprId component(Resolver& r, ExprId id, IndexVarId at) {
  Expr e = r.model[id];
  const Index index{Index::Shifted{at, 0}, r.model[at].plate, e.span};
  e.shape.clear();
  if (auto* variable = std::get_if<VariableRef>(&e.node)) {
    variable->indices.push_back(index);
  } else if (auto* given = std::get_if<GivenRef>(&e.node)) {
    given->indices.push_back(index);
  } else if (auto* apply = std::get_if<Apply>(&e.node)) {
    apply->argument = component(r, apply->argument, at);
  } else if (auto* b = std::get_if<Binary>(&e.node);
             b && b->op == BinaryOp::multiply && (r.model[b->left].shape.empty() || r.model[b->right].shape.empty())) {
    // Component k of a * v is a * v[k].
    ExprId& vector = r.model[b->left].shape.empty() ? b->right : b->left;
    vector = component(r, vector, at);
  } else {
    e.node = Component{id, at};
  }
  return make(r, std::move(e));
}

}  // namespace lehr::model
