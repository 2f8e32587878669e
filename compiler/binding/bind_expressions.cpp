// Checks parameters that are expressions of data, at every element. Where data alone give one, as in `1 - p[n]`, its
// value must be in the domain. Where they give it in part, as in the precision `weight[n] * tau`, the product of the
// data must be, because the random factors are positive. Quotients and functions of data, as in `log(exposure[n])`, are
// finite.
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

/// Returns an entry of a vector that data and constants give, or a number that they give. Returns nothing if they do
/// not.
std::optional<double> entry_at(Binder& b, ExprId id, std::int64_t k, const IndexValues& at) {
  const Expr& e = b.model[id];
  if (e.shape.empty()) return value_at(b, id, at);
  if (const auto* given = std::get_if<GivenRef>(&e.node)) {
    std::vector<Index> indices = given->indices;
    indices.push_back({Index::Constant{k}, e.shape[0], e.span});
    return e.shape.size() == 1 ? element(b, b.out.givens[given->given.index()].values, indices, at) : std::nullopt;
  }
  if (const auto* negate = std::get_if<Negate>(&e.node)) {
    const auto x = entry_at(b, negate->operand, k, at);
    return x ? std::optional(-*x) : std::nullopt;
  }
  if (const auto* apply = std::get_if<Apply>(&e.node)) {
    const auto x = entry_at(b, apply->argument, k, at);
    return x ? std::optional(value_of(apply->function, *x)) : std::nullopt;
  }
  const auto* binary = std::get_if<Binary>(&e.node);
  if (!binary) return std::nullopt;
  const auto left = entry_at(b, binary->left, k, at), right = entry_at(b, binary->right, k, at);
  return left && right ? std::optional(value_of(binary->op, *left, *right)) : std::nullopt;
}

/// Returns the data values in an expression at one element, for messages: "weight[3] is 0". With `bad`, only those that
/// are not positive, if there are any.
std::string data_in(Binder& b, ExprId id, const IndexValues& at, bool bad) {
  std::vector<std::string> all, negative;
  for (const ExprId node : nodes_under(b.model, {id})) {
    const auto* given = std::get_if<GivenRef>(&b.model[node].node);
    const auto value = given && b.model[node].shape.empty() ? value_at(b, node, at) : std::nullopt;
    const auto slot = std::ranges::find_if(b.slots, [&](const Slot& x) { return given && x.given == given->given; });
    if (!value || slot == b.slots.end()) continue;
    all.push_back(
        fmt::format("{} is {:.10g}", element_name(b, *slot, *packed_position(b, given->indices, at)), *value));
    if (*value <= 0) negative.push_back(all.back());
  }
  if (bad && !negative.empty()) return negative.front();
  return fmt::format("{}", fmt::join(all, " and "));
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

/// Returns the quotients and functions of data in an expression.
std::vector<ExprId> functions_of_data(const Binder& b, ExprId id) {
  std::vector<ExprId> out;
  for (const ExprId node : nodes_under(b.model, {id})) {
    const auto* binary = std::get_if<Binary>(&b.model[node].node);
    const bool may_be_infinite =
        std::holds_alternative<Apply>(b.model[node].node) || (binary && binary->op == BinaryOp::divide);
    if (may_be_infinite && b.model[node].shape.empty()) out.push_back(node);
  }
  return out;
}

/// Checks one parameter at all elements of its statement, and reports the first with a wrong value.
class ExpressionCheck {
 public:
  ExpressionCheck(Binder& b, const WrittenParameter& of)
      : b_(b),
        of_(of),
        product_(std::holds_alternative<Binary>(b.model[of.parameter.value].node)),
        functions_(functions_of_data(b, of.parameter.value)) {}

  void check() {
    const Variable& v = of_.variable;
    const Slot slot{v.name, v.axes, 0, std::nullopt, std::nullopt, of_.statement.variable};
    std::size_t width = 1;
    for (const PlateId event : v.event)
      width *= static_cast<std::size_t>(b_.out.sizes[event.index()]);
    const std::size_t count = expected_count(b_, slot);
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_present(b_, of_.statement, i, width)) continue;
      if (!check_element(slot, i)) return;
    }
  }

 private:
  /// Checks one element. Returns false after a problem.
  bool check_element(const Slot& slot, std::size_t i) {
    const IndexValues at = index_values_at(b_, slot, of_.statement, i);
    const ExprId id = of_.parameter.value;
    const math::Spelling& spelling = *of_.parameter.spelling;
    for (const ExprId f : functions_)
      if (const auto value = value_at(b_, f, at); value && !std::isfinite(*value))
        return report(slot, i, at, f, *value, "a finite number");
    /// A rate of 0 gives counts of 0, which check_zero_probability() checks.
    const auto is_zero_rate = [&](double value) { return value == 0 && of_.variable.support == Support::count; };
    const std::vector<PlateId>& shape = b_.model[id].shape;
    const std::int64_t entries = shape.empty() ? 1 : shape.size() == 1 ? b_.out.sizes[shape[0].index()] : 0;
    for (std::int64_t k = 0; k < entries; ++k) {
      const auto value = entry_at(b_, id, k, at);
      const char* requirement = !value || is_zero_rate(*value) ? nullptr : wanted(spelling.domain, *value);
      if (requirement) return report(slot, i, at, id, *value, requirement);
    }
    if (!shape.empty() || !product_ || (spelling.domain != Support::positive && spelling.domain != Support::spd_matrix))
      return true;
    const auto value = data_factor(b_, id, at);
    if (!value || *value > 0 || is_zero_rate(*value)) return true;
    report(slot, i, at, id, *value, "positive");
    return false;
  }

  /// Reports what an expression is at an element. Returns false.
  bool report(const Slot& slot, std::size_t i, const IndexValues& at, ExprId id, double value,
              const std::string& requirement) {
    const std::string data = data_in(b_, id, at, requirement == "positive");
    const std::string name = fmt::format("the {} of {}", of_.parameter.spelling->name, of_.distribution.family->name);
    const std::string subject = !data.empty() && id == of_.parameter.value && requirement == "positive"
                                    ? name
                                    : fmt::format("`{}` is {:.10g}, which", print(b_.model, id), value);
    const std::string place = place_of(b_.model, b_.model[id].span);
    std::vector<std::string>& notes =
        problem(b_, ExitCode::data, source_of(b_, id),
                fmt::format("{}{} must be {}", data.empty() ? "" : data + ", but ", subject, requirement))
            .notes;
    notes = {fmt::format("{}{}{} is drawn from {}({} = {}, ...)", place, place.empty() ? "" : ": ",
                         element_name(b_, slot, i), of_.distribution.family->name, of_.parameter.spelling->name,
                         print(b_.model, of_.parameter.value))};
    if (of_.variable.observed)
      notes.push_back(fmt::format("a missing value of {} leaves the element out", of_.variable.name));
    return false;
  }

  Binder& b_;
  const WrittenParameter& of_;
  bool product_;                   // the parameter is a binary operation
  std::vector<ExprId> functions_;  // its quotients and functions, which must be finite
};

}  // namespace

void check_expressions(Binder& b) {
  const auto is_data = [&](ExprId id) { return std::holds_alternative<GivenRef>(b.model[id].node); };
  for (const WrittenParameter& of : written_parameters(b.model)) {
    const Expr& e = b.model[of.parameter.value];
    if (is_data(of.parameter.value) || e.shape.size() > 1) continue;  // check_parameters() has checked the array
    const bool bounded = of.parameter.spelling->domain != Support::real;
    if (!bounded && functions_of_data(b, of.parameter.value).empty()) continue;
    if (std::ranges::any_of(nodes_under(b.model, {of.parameter.value}), is_data)) ExpressionCheck(b, of).check();
  }
}

}  // namespace lehr::model
