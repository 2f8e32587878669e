// Counts against their totals: of counts of several categories the sum, of a count the largest it can be. The
// density of a row need not mention its total, so that data that contradict it would go unnoticed.
#include <fmt/format.h>

#include <cmath>

#include "compiler/model/binder.h"

namespace lehr::model {
namespace {

/// Where a statement's bounds stand.
using Bounds = std::vector<std::pair<BoundId, std::int64_t>>;

std::optional<double> value_at(Binder& b, ExprId id, const Bounds& at);

std::optional<std::int64_t> position(Binder& b, const Index& index, const Bounds& at) {
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

/// An element of an array of the data; nothing where it is missing, or its place is not known.
std::optional<double> element(Binder& b, const std::vector<double>& values, const std::vector<Index>& indices,
                              const Bounds& at) {
  std::int64_t packed = 0;
  for (const Index& index : indices) {
    const std::optional<std::int64_t> i = position(b, index, at);
    if (!i) return std::nullopt;
    const auto& offsets = b.out.offsets[index.set.index()];
    if (offsets.empty()) packed = packed * b.out.sizes[index.set.index()] + *i;
    else if (packed >= 0 && packed + 1 < std::ssize(offsets)) packed = offsets[static_cast<std::size_t>(packed)] + *i;
    else return std::nullopt;
  }
  if (packed < 0 || packed >= std::ssize(values) || std::isnan(values[static_cast<std::size_t>(packed)]))
    return std::nullopt;
  return values[static_cast<std::size_t>(packed)];
}

/// A number that constants and data give, at one element of a statement.
std::optional<double> value_at(Binder& b, ExprId id, const Bounds& at) {
  const Expr& e = b.model[id];
  if (!e.shape.empty()) return std::nullopt;
  if (const auto* g = std::get_if<GivenRef>(&e.node))
    return element(b, b.out.givens[g->given.index()].values, g->indices, at);
  if (const auto* v = std::get_if<VariableRef>(&e.node))
    return b.model[v->variable].observed ? element(b, b.out.observed[v->variable.index()].values, v->indices, at)
                                         : std::nullopt;
  if (const auto* binary = std::get_if<Binary>(&e.node)) {
    const auto left = value_at(b, binary->left, at), right = value_at(b, binary->right, at);
    return left && right ? std::optional(value_of(binary->op, *left, *right)) : std::nullopt;
  }
  if (const auto* negate = std::get_if<Negate>(&e.node)) {
    const auto x = value_at(b, negate->operand, at);
    return x ? std::optional(-*x) : std::nullopt;
  }
  return evaluate(b, id);
}

void check(Binder& b, const Slot& slot, const Statement& s, const Parameter& total) {
  const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
  std::size_t width = 1;
  for (std::size_t k = s.bounds.size(); k < slot.axes.size(); ++k)
    width *= static_cast<std::size_t>(b.out.sizes[slot.axes[k].index()]);
  for (std::size_t first = 0; first + width <= x.size(); first += width) {
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i)
      sum += x[first + i];
    if (std::isnan(sum)) continue;
    const std::vector<std::int64_t> index = element_indices(b, slot, first);
    Bounds at;
    for (std::size_t k = 0; k < s.bounds.size(); ++k)
      at.emplace_back(s.bounds[k], index[k]);
    const std::optional<double> n = value_at(b, total.value, at);
    if (!n || (slot.event_rank > 0 ? sum == *n : sum <= *n)) continue;
    problem(b, ExitCode::data, b.arrays.at(slot.name).source,
            fmt::format("{} {:.10g}, but the {} of {} is {:.10g}",
                        slot.event_rank > 0 ? fmt::format("the entries from {} on sum to", element_name(b, slot, first))
                                            : element_name(b, slot, first) + " is",
                        sum, total.spelling->name, as_written(s.main).family->name, *n));
    return;
  }
}

}  // namespace

void check_totals(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.variable || !b.arrays.contains(slot.name)) continue;
    const math::Support support = b.model[*slot.variable].support;
    if (support != math::Support::count && support != math::Support::counts) continue;
    const Statement& s = b.model[b.model[*slot.variable].statement];
    for (const Parameter& p : s.main.parameters) {
      if (p.spelling->domain == math::Support::count) check(b, slot, s, p);  // a count of what is counted
    }
  }
}

}  // namespace lehr::model
