// Checks parameters that the data determine in part, such as the precision `weight[n] * tau` with a weight of 0. The
// product of the data and constants in it must be in the domain, because the random factors are positive.
#include <fmt/format.h>

#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

using math::Support;

/// Returns the product of the factors that data and constants give. Returns nothing if another factor may be negative.
std::optional<double> data_factor(Binder& b, ExprId id, const IndexValues& at) {
  if (const auto value = value_at(b, id, at)) return value;
  const Expr& e = b.model[id];
  if (const auto* v = std::get_if<VariableRef>(&e.node)) {
    const Support support = b.model[v->variable].support;
    return support == Support::positive || support == Support::unit ? std::optional(1.0) : std::nullopt;
  }
  const auto* binary = std::get_if<Binary>(&e.node);
  if (!binary || binary->op == BinaryOp::add || binary->op == BinaryOp::subtract) return std::nullopt;
  const auto left = data_factor(b, binary->left, at), right = data_factor(b, binary->right, at);
  return left && right ? std::optional(value_of(binary->op, *left, *right)) : std::nullopt;
}

/// Returns what is wrong for messages: "weight[3] is 0", the data value in the product that is not positive.
std::string name_of_factor(Binder& b, ExprId id, const IndexValues& at) {
  for (const ExprId node : nodes_under(b.model, {id})) {
    const auto* given = std::get_if<GivenRef>(&b.model[node].node);
    const auto value = given && b.model[node].shape.empty() ? value_at(b, node, at) : std::nullopt;
    if (!value || *value > 0) continue;
    for (const Slot& slot : b.slots)
      if (slot.given == given->given)
        return fmt::format("{} is {:.10g}", element_name(b, slot, *packed_position(b, given->indices, at)), *value);
  }
  return fmt::format("`{}` is not positive", print(b.model, id));
}

/// Returns the source of the data in an expression, for messages.
std::string source_of(Binder& b, ExprId id) {
  for (const ExprId node : nodes_under(b.model, {id})) {
    const auto* given = std::get_if<GivenRef>(&b.model[node].node);
    const auto it = given ? b.arrays.find(b.model[given->given].name) : b.arrays.end();
    if (it != b.arrays.end()) return it->second.source;
  }
  return option("data");
}

/// Returns true if an element is latent or has a value; missing ones are left out of the likelihood.
bool is_present(const Binder& b, const Statement& s, std::size_t element, std::size_t width) {
  const std::vector<double>& x = b.out.observed[s.variable.index()].values;
  if (!b.model[s.variable].observed || x.empty()) return true;
  for (std::size_t i = element * width; i < (element + 1) * width && i < x.size(); ++i)
    if (!std::isnan(x[i])) return true;
  return false;
}

/// Checks one parameter at all elements of its statement.
void check(Binder& b, const WrittenParameter& of) {
  const auto& [s, v, d, p] = of;
  const Slot slot{v.name, v.axes, 0, std::nullopt, std::nullopt, s.variable};
  std::size_t width = 1;
  for (const PlateId event : v.event)
    width *= static_cast<std::size_t>(b.out.sizes[event.index()]);
  const std::size_t count = expected_count(b, slot);
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_present(b, s, i, width)) continue;
    const IndexValues at = index_values_at(b, slot, s, i);
    const auto value = data_factor(b, p.value, at);
    /// A rate of 0 gives counts of 0, which check_zero_probability() checks.
    if (!value || *value > 0 || (*value == 0 && v.support == Support::count)) continue;
    problem(b, ExitCode::data, source_of(b, p.value),
            fmt::format("{}, but the {} of {} must be positive", name_of_factor(b, p.value, at), p.spelling->name,
                        d.family->name))
        .notes = {fmt::format("{} is drawn from {}({} = {}, ...)", element_name(b, slot, i), d.family->name,
                              p.spelling->name, print(b.model, p.value)),
                  fmt::format("a missing value of {} leaves the element out", v.name)};
    if (!v.observed) b.problems.back().notes.pop_back();
    return;
  }
}

}  // namespace

void check_products(Binder& b) {
  const auto is_data = [&](ExprId id) { return std::holds_alternative<GivenRef>(b.model[id].node); };
  for (const WrittenParameter& of : written_parameters(b.model)) {
    const Expr& e = b.model[of.parameter.value];
    const Support domain = of.parameter.spelling->domain;
    if ((domain != Support::positive && domain != Support::spd_matrix) || !e.shape.empty()) continue;
    if (std::holds_alternative<Binary>(e.node) &&
        std::ranges::any_of(nodes_under(b.model, {of.parameter.value}), is_data))
      check(b, of);
  }
}

}  // namespace lehr::model
