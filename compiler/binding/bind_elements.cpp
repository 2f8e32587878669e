// Evaluates expressions of constants and data at single elements of a statement. Checks use this: they look at one
// element at a time, before any code is generated.
//
// The position of an element in a packed array follows from its indices. A nested plate adds the start of its row:
//
//   x[doc, token]   is at   offsets[token][doc] + token
#include <cmath>

#include "compiler/binding/binder.h"

namespace lehr::model {

std::optional<std::int64_t> position(Binder& b, const Index& index, const IndexValues& at) {
  if (const auto* constant = std::get_if<Index::Constant>(&index.form)) return constant->value;
  if (const auto* lookup = std::get_if<Index::Lookup>(&index.form)) {
    const std::optional<double> value = value_at(b, lookup->category, at);
    return value && *value >= 0 ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  const auto& shifted = std::get<Index::Shifted>(index.form);
  for (const auto& [bound, value] : at) {
    if (bound == shifted.bound) return value + shifted.offset;
  }
  return std::nullopt;
}

std::optional<std::size_t> packed_position(Binder& b, const std::vector<Index>& indices, const IndexValues& at) {
  // The position so far, in units of the axes before `index`.
  std::int64_t packed = 0;
  for (const Index& index : indices) {
    const std::optional<std::int64_t> i = position(b, index, at);
    if (!i || *i < 0) return std::nullopt;
    const auto& offsets = b.out.offsets[index.set.index()];
    if (offsets.empty()) packed = packed * b.out.sizes[index.set.index()] + *i;
    else if (packed >= 0 && packed + 1 < std::ssize(offsets)) packed = offsets[static_cast<std::size_t>(packed)] + *i;
    else return std::nullopt;
  }
  return packed < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(packed));
}

std::optional<double> element(Binder& b, const std::vector<double>& values, const std::vector<Index>& indices,
                              const IndexValues& at) {
  const std::optional<std::size_t> i = packed_position(b, indices, at);
  if (!i || *i >= values.size() || std::isnan(values[*i])) return std::nullopt;
  return values[*i];
}

IndexValues index_values_at(const Binder& b, const Slot& slot, const Statement& s, std::size_t position) {
  const std::vector<std::int64_t> index = element_indices(b, slot, position);
  IndexValues out;
  for (std::size_t k = 0; k < s.index_vars.size(); ++k)
    out.emplace_back(s.index_vars[k], index[k]);
  return out;
}

namespace {

/// Returns the value of a node that reads data; nothing for other nodes.
std::optional<double> data_value(Binder& b, const Expr& e, const IndexValues& at) {
  if (const auto* g = std::get_if<GivenRef>(&e.node))
    return element(b, b.out.givens[g->given.index()].values, g->indices, at);
  if (const auto* v = std::get_if<VariableRef>(&e.node))
    return b.model[v->variable].observed ? element(b, b.out.observed[v->variable.index()].values, v->indices, at)
                                         : std::nullopt;
  const auto* component = std::get_if<Component>(&e.node);
  const auto* g = component ? std::get_if<GivenRef>(&b.model[component->vector].node) : nullptr;
  if (!g) return std::nullopt;
  std::vector<Index> indices = g->indices;
  // A component is the data array with one more index.
  indices.push_back({Index::Shifted{component->at}, b.model[component->at].plate, e.span});
  return element(b, b.out.givens[g->given.index()].values, indices, at);
}

/// Returns the value of a scalar expression, or nothing. Without values of index variables it does not read data.
std::optional<double> scalar_value(Binder& b, ExprId id, const IndexValues* at) {
  const Expr& e = b.model[id];
  if (!e.shape.empty()) return std::nullopt;
  if (const auto* n = std::get_if<Number>(&e.node)) return n->value;
  if (const auto* c = std::get_if<ConstantRef>(&e.node)) return evaluate_constant(b, c->constant);
  if (const auto* s = std::get_if<SizeOf>(&e.node)) {
    const auto size = size_of(b, s->plate);
    return size ? std::optional(static_cast<double>(*size)) : std::nullopt;
  }
  if (const auto* binary = std::get_if<Binary>(&e.node)) {
    const auto left = scalar_value(b, binary->left, at), right = scalar_value(b, binary->right, at);
    return left && right ? std::optional(value_of(binary->op, *left, *right)) : std::nullopt;
  }
  if (const auto* negate = std::get_if<Negate>(&e.node)) {
    const auto x = scalar_value(b, negate->operand, at);
    return x ? std::optional(-*x) : std::nullopt;
  }
  if (const auto* apply = std::get_if<Apply>(&e.node)) {
    const auto x = scalar_value(b, apply->argument, at);
    return x ? std::optional(value_of(apply->function, *x)) : std::nullopt;
  }
  return at ? data_value(b, e, *at) : std::nullopt;
}

}  // namespace

std::optional<double> evaluate(Binder& b, ExprId id) { return scalar_value(b, id, nullptr); }
std::optional<double> value_at(Binder& b, ExprId id, const IndexValues& at) { return scalar_value(b, id, &at); }

std::vector<double> values_at(Binder& b, const GivenRef& given, const IndexValues& at) {
  // Each entry is one combination: every index, with latent categories replaced by each of their values.
  std::vector<std::vector<Index>> choices = {{}};
  for (const Index& index : given.indices) {
    const auto* lookup = std::get_if<Index::Lookup>(&index.form);
    const auto* by = lookup ? std::get_if<VariableRef>(&b.model[lookup->category].node) : nullptr;
    const bool latent = by && !b.model[by->variable].observed;
    if (latent && b.model[index.set].parent) return {};
    std::vector<std::vector<Index>> longer;
    for (std::int64_t k = 0; k < (latent ? b.out.sizes[index.set.index()] : 1); ++k) {
      for (std::vector<Index> choice : choices) {
        choice.push_back(latent ? Index{Index::Constant{k}, index.set, index.span} : index);
        longer.push_back(std::move(choice));
      }
    }
    choices = std::move(longer);
  }
  std::vector<double> out;
  for (const std::vector<Index>& choice : choices)
    if (const auto value = element(b, b.out.givens[given.given.index()].values, choice, at)) out.push_back(*value);
  return out;
}

std::vector<double> values_at(Binder& b, ExprId id, const IndexValues& at) {
  if (const auto* given = std::get_if<GivenRef>(&b.model[id].node)) return values_at(b, *given, at);
  const std::optional<double> value = value_at(b, id, at);
  return value ? std::vector{*value} : std::vector<double>();
}

}  // namespace lehr::model
