// Checks limits against each other. If the limits `above` and `below` leave no value, a fit would show only an ELBO
// that is not finite.
#include <fmt/format.h>

#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

/// Returns a limit for messages: "low[y[n]] = 2", or "2" if it is a plain number.
std::string written(const Binder& b, ExprId id, double value) {
  const std::string text = print(b.model, id), number = fmt::format("{:.10g}", value);
  return text == number ? number : fmt::format("{} = {}", text, number);
}

/// Adds a problem with the limits: of the data that they are read from, or of the model if its constants give them.
Error& contradiction(Binder& b, const Limits& limits, std::string text) {
  for (const auto& root : {limits.above, limits.below}) {
    for (const ExprId id : nodes_under(b.model, root ? std::vector{*root} : std::vector<ExprId>{})) {
      const auto* given = std::get_if<GivenRef>(&b.model[id].node);
      const auto it = given ? b.arrays.find(b.model[given->given].name) : b.arrays.end();
      if (it != b.arrays.end()) return problem(b, ExitCode::data, it->second.source, std::move(text));
    }
  }
  return problem_of_text(b, limits.above ? *limits.above : *limits.below, std::move(text));
}

/// Reports what is wrong with the limits of one element. Returns true if nothing is.
bool check_element(Binder& b, const Statement& s, const Slot& slot, std::size_t i) {
  const Variable& v = b.model[s.variable];
  const IndexValues at = b.data ? index_values_at(b, slot, s, i) : IndexValues();
  std::vector<double> values;
  for (const auto& limit : {s.limits.above, s.limits.below}) {
    const auto value = limit ? value_at(b, *limit, at) : std::nullopt;
    if (!value) continue;
    values.push_back(*value);
    if (v.support != math::Support::count || *value == std::floor(*value)) continue;
    contradiction(b, s.limits,
                  fmt::format("{} is censored at {}, but the limit of a count must be a whole number",
                              element_name(b, slot, i), written(b, *limit, *value)));
    return false;
  }
  // An observed value is censored outside (below, above), a latent one lies inside (above, below).
  if (values.size() < 2 || (v.observed ? values[0] >= values[1] : values[0] < values[1])) return true;
  contradiction(
      b, s.limits,
      fmt::format("{} is {}above {} and below {}: {}", element_name(b, slot, i), v.observed ? "censored " : "",
                  written(b, *s.limits.above, values[0]), written(b, *s.limits.below, values[1]),
                  v.observed ? "values between them would be both" : "there is no number between them"))
      .notes = {v.observed ? "the limit after `above` is the larger one: values from it on are censored, and those up "
                             "to the other one"
                           : "the limit after `above` is the smaller one; a value that is known exactly is data: "
                             "`observe`"};
  return false;
}

}  // namespace

void check_limits(Binder& b) {
  for (const Statement& s : b.model.statements) {
    const Variable& v = b.model[s.variable];
    const bool against = s.limits.above && s.limits.below, whole = v.support == math::Support::count && s.limits.any();
    if (!against && !whole) continue;
    const Slot slot{v.name, b.data ? v.axes : std::vector<PlateId>(), 0, std::nullopt, std::nullopt, s.variable};
    const std::size_t count = expected_count(b, slot);  // without data, one: limits are then constants
    for (std::size_t i = 0; i < count && check_element(b, s, slot, i);)
      ++i;
  }
}

}  // namespace lehr::model
