// Infers the header of each variable before any statement is resolved: support, event axes, and the plate of
// categories. They follow from `over`, or from the shapes of parameters. Indices are only counted, so chains and mutual
// references are no obstacle.
//
//   h[t] ~ MvNormal(mean = A * h[t-1], ...)     h gets the first axis of A as its event axis
#include <algorithm>

#include "compiler/model/resolver.h"

namespace lehr::model {
namespace {

using Shape = std::vector<PlateId>;  // axes of a value: none for a number, one for a vector

std::optional<Shape> infer_shape(Resolver& r, ast::ExprId id, int depth);

/// Returns the axes that remain if the first `indexed` have an index.
Shape rest(Shape axes, std::size_t indexed) {
  axes.erase(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(std::min(indexed, axes.size())));
  return axes;
}

/// Returns the shape of a name with indices, or nothing if it has an error.
std::optional<Shape> shape_of_reference(Resolver& r, const ast::Reference& reference, int depth) {
  const auto it = r.names.find(reference.name.text);
  if (it == r.names.end()) return std::nullopt;
  const std::size_t index = it->second.index;
  switch (it->second.kind) {
    case SymbolKind::plate:
    case SymbolKind::constant:
      return Shape{};
    case SymbolKind::given: {
      if (!r.given_ok[index]) return std::nullopt;
      Shape axes = r.model.givens[index].axes;
      axes.insert(axes.end(), r.model.givens[index].event.begin(), r.model.givens[index].event.end());
      return rest(std::move(axes), reference.indices.size());
    }
    case SymbolKind::variable: {
      if (!r.variable_ok[index]) return std::nullopt;
      if (!infer_header(r, VariableId(index))) return std::nullopt;
      Shape axes = r.model.variables[index].axes;
      axes.insert(axes.end(), r.model.variables[index].event.begin(), r.model.variables[index].event.end());
      return rest(std::move(axes), reference.indices.size());
    }
    case SymbolKind::let: {
      // A `let` that is met again while it is expanded is a cycle, which has no shape.
      Let& let = r.lets[index];
      if (!let.ok || let.open) return std::nullopt;
      let.open = true;
      auto body = infer_shape(r, let.decl->value, depth + 1);
      r.lets[index].open = false;
      if (!body) return std::nullopt;
      Shape axes = r.lets[index].axes;
      axes.insert(axes.end(), body->begin(), body->end());
      return rest(std::move(axes), reference.indices.size());
    }
  }
  return std::nullopt;
}

/// Returns the shape of a function call, or nothing if it has an error.
std::optional<Shape> shape_of_call(Resolver& r, ast::ExprId id, const ast::Call& call, int depth) {
  const std::string& name = call.function.text;
  if (name == "dot" || name == "size") return Shape{};
  const bool ordered = name == "ordered_logistic", longer = ordered || name == "stick_breaking" || name == "cumulative";
  if (call.arguments.size() != (ordered ? 2 : 1)) return std::nullopt;
  const auto argument = infer_shape(r, call.arguments.back().value, depth + 1);
  if (name != "diag" && !longer) return argument;
  if (!argument || argument->size() != 1) return std::nullopt;
  if (name == "diag") return Shape{(*argument)[0], (*argument)[0]};
  return Shape{extended_plate(r, id, (*argument)[0])};
}

/// Returns the shape that an expression will have. Returns nothing if it has an error, or depends on a header that is
/// being inferred.
std::optional<Shape> infer_shape(Resolver& r, ast::ExprId id, int depth) {
  if (depth > kMaxDepth) return std::nullopt;
  const auto& node = r.ast[id].node;
  if (std::holds_alternative<ast::Number>(node)) return Shape{};
  if (const auto* e = std::get_if<ast::Reference>(&node)) return shape_of_reference(r, *e, depth);
  if (const auto* e = std::get_if<ast::Negate>(&node)) return infer_shape(r, e->operand, depth + 1);
  if (const auto* e = std::get_if<ast::Sum>(&node)) return infer_shape(r, e->body, depth + 1);
  if (const auto* e = std::get_if<ast::Parenthesised>(&node)) return infer_shape(r, e->inner, depth + 1);
  if (const auto* e = std::get_if<ast::Call>(&node)) return shape_of_call(r, id, *e, depth);
  const auto& binary = std::get<ast::Binary>(node);
  const auto left = infer_shape(r, binary.left, depth + 1);
  const auto right = infer_shape(r, binary.right, depth + 1);
  if (left && !right && left->size() == 2 && binary.op == ast::BinaryOp::multiply) return Shape{(*left)[0]};
  if (!left || !right) {
    /// One side is still being inferred, as in a chain of vectors. The other side decides, unless it is a number.
    const auto& inferred = left ? left : right;
    return inferred && !inferred->empty() ? inferred : std::nullopt;
  }
  if (binary.op == ast::BinaryOp::multiply && left->size() == 2 && right->size() == 1) return Shape{(*left)[0]};
  return left->size() >= right->size() ? left : right;
}

/// The event axis that the parameters of a distribution imply.
struct Implied {
  std::optional<PlateId> axis;  // the axis, if some parameter has one
  bool unknown = false;         // a parameter has an error, or is being inferred
};

/// Returns the event axis that these arguments imply.
Implied implied_axis(Resolver& r, const std::vector<MatchedArgument>& arguments) {
  Implied out;
  for (const MatchedArgument& a : arguments) {
    if (a.spelling->event_rank == 0) continue;
    const auto shape = infer_shape(r, a.value, 0);
    if (!shape) {
      out.unknown = true;
    } else if (!shape->empty() && static_cast<int>(shape->size()) <= a.spelling->event_rank && !out.axis) {
      out.axis = shape->back();
    }
  }
  return out;
}

/// Adds the plate of `over P` to the axes of a variable that is a number: each element of P has a number of its own.
bool add_element_axis(Resolver& r, const ast::Tilde& tilde, VariableId id) {
  if (tilde.over.empty()) return true;
  const ast::Name& name = tilde.over[0];
  const auto it = r.names.find(name.text);
  const bool repeated =
      std::any_of(tilde.axes.begin(), tilde.axes.end(), [&](const ast::Name& axis) { return axis.text == name.text; });
  if (tilde.over.size() != 1 || repeated || it == r.names.end() || it->second.kind != SymbolKind::plate) return false;
  const PlateId set = resolve_alias(r.model, PlateId(it->second.index));
  if (r.model[set].parent) return false;
  r.model.variables[id.index()].axes.push_back(set);
  return true;
}

/// Infers the header of one variable. Reports an error if no parameter and no `over` gives the event axis.
bool infer(Resolver& r, VariableId id) {
  const ast::Tilde& tilde = *r.tildes[id.index()];
  const auto [call, row] = family_of(r.ast, tilde.distribution, nullptr);
  if (!row) return false;
  r.model.variables[id.index()].support = row->support;
  const int rank = row->support == math::Support::category ? 1 : math::event_rank(row->support);
  if (rank == 0) return add_element_axis(r, tilde, id);

  std::optional<PlateId> axis;
  if (!tilde.over.empty()) {
    const auto it = r.names.find(tilde.over[0].text);
    if (it == r.names.end() || it->second.kind != SymbolKind::plate) return false;
    axis = resolve_alias(r.model, PlateId(it->second.index));
  } else {
    bool unknown = false;
    std::vector<ast::ExprId> calls = {tilde.distribution};
    if (tilde.start) calls.push_back(*tilde.start);
    for (const ast::ExprId each : calls) {
      const auto [c, f] = family_of(r.ast, each, nullptr);
      if (!f) continue;
      const auto arguments = match_arguments(*c, *f, r.ast[each].span, nullptr);
      if (!arguments) {
        unknown = true;
        continue;
      }
      const Implied implied = implied_axis(r, *arguments);
      unknown = unknown || implied.unknown;
      if (implied.axis && !axis) axis = implied.axis;
    }
    if (!axis) {
      if (!unknown) r.diagnostics.add(DiagnosticKind::missing_over, r.ast[tilde.distribution].span, tilde.name.text);
      return false;
    }
  }
  Variable& v = r.model.variables[id.index()];
  if (row->support == math::Support::category) {
    v.value_plate = axis;
  } else {
    v.event.assign(static_cast<std::size_t>(rank), *axis);
  }
  return true;
}

}  // namespace

bool infer_header(Resolver& r, VariableId id) {
  HeaderState& state = r.headers[id.index()];
  if (state == HeaderState::open || state == HeaderState::broken) return false;
  if (state == HeaderState::done) return true;
  state = HeaderState::open;
  const bool ok = infer(r, id);
  r.headers[id.index()] = ok ? HeaderState::done : HeaderState::broken;
  return ok;
}

void infer_headers(Resolver& r) {
  for (std::size_t i = 0; i < r.model.variables.size(); ++i) {
    if (r.variable_ok[i]) infer_header(r, VariableId(i));
  }
}

}  // namespace lehr::model
