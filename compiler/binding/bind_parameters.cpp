// Checks parameters that constants or data alone determine against the domains in their family's row. A negative
// standard deviation is then an error here instead of a numerical failure later. Parameters with random variables are
// checked during the fit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

using math::Support;

constexpr double kSumTolerance = 1e-4;  // of a sum of probabilities; rows in single precision are within it

/// Returns true if the parameter is a number of the model's text.
bool is_literal(const Binder& b, const WrittenParameter& at) {
  const auto& node = b.model[at.parameter.value].node;
  return std::holds_alternative<Number>(node) || std::holds_alternative<Negate>(node);
}

/// Returns a cure for a number that the model's text gives, or nothing.
std::string cure_of(const Binder& b, const WrittenParameter& at, double value) {
  const std::string& name = at.parameter.spelling->name;
  const Support domain = at.parameter.spelling->domain;
  if (domain == Support::unit && value > 1 && value <= 100)
    return fmt::format("percent are hundredths: `{} = {:.10g}`", name, value / 100);
  if (domain == Support::count)
    return fmt::format("write a whole number: `{} = {:.10g}`", name, std::ceil(std::abs(value)));
  if (domain != Support::positive && domain != Support::spd_matrix) return "";
  if (value < 0 && std::isfinite(value) && is_literal(b, at))
    return fmt::format("did you mean `{} = {:.10g}`?", name, -value);
  if (value != 0 || !at.distribution.family->gaussian) return "";
  if (at.statement.start)
    return "what has no noise of its own is no element of a chain: a level that moves by its slope alone is level[t] ~ "
           "Normal(mean = 2 * level[t-1] - level[t-2], ...), with the noise of the slope";
  return at.variable.observed ? "a small number stands for a value that is measured almost exactly"
                              : "what has no noise is no random variable: `let` names an expression";
}

/// Says in a note from which distribution the variable is drawn, and where.
std::string drawn_from(const Binder& b, const WrittenParameter& at, const std::string& element, bool with_place) {
  const std::string place = with_place ? place_of(b.model, b.model[at.parameter.value].span) : "";
  return fmt::format("{}{}{} is drawn from {}({} = {}, ...)", place, place.empty() ? "" : ": ", element,
                     at.distribution.family->name, at.parameter.spelling->name, print(b.model, at.parameter.value));
}

/// Returns "the sd of Normal".
std::string name_of(const WrittenParameter& at) {
  return fmt::format("the {} of {}", at.parameter.spelling->name, at.distribution.family->name);
}

/// Reports a parameter with a wrong value that the model's text gives.
void report(Binder& b, const WrittenParameter& at, double value, const std::string& requirement, std::string cure) {
  const bool literal = is_literal(b, at);
  Error& e = problem_of_text(
      b, at.parameter.value,
      fmt::format("{} is {:.10g}, but {} must be {}", literal ? name_of(at) : print(b.model, at.parameter.value), value,
                  literal ? "it" : name_of(at), requirement));
  e.notes.insert(e.notes.begin(), drawn_from(b, at, at.variable.name, false));
  if (!cure.empty()) e.notes.push_back(std::move(cure));
}

/// Reports a parameter with a wrong value that data give. `subject` names the value.
void report_data(Binder& b, const WrittenParameter& at, const std::string& source, const std::string& subject,
                 double value, const std::string& requirement) {
  Error& e = problem(b, ExitCode::data, source,
                     fmt::format("{} is {:.10g}, but {} must be {}", subject, value, name_of(at), requirement));
  e.notes.push_back(drawn_from(b, at, at.variable.name, true));
  if (std::string cure = value == 0 ? cure_of(b, at, value) : std::string(); !cure.empty())
    e.notes.push_back(std::move(cure));
  if (at.variable.observed)
    e.notes.push_back(fmt::format("correct it, or leave elements out: a missing value of {} does", at.variable.name));
}

/// Returns true for a literal 0 in a prior, which makes it improper and is allowed.
bool is_improper_zero(const Binder& b, const WrittenParameter& at, double value) {
  return value == 0 && !at.variable.observed && !at.parameter.spelling->convert &&
         std::holds_alternative<Number>(b.model[at.parameter.value].node);
}

/// Returns what degrees of freedom of a matrix must be if they are not above its size minus 1, which leaves it no
/// density. Empty if they are, or for another parameter.
std::string wanted_freedom(const Binder& b, const WrittenParameter& at, double value) {
  if (at.variable.support != Support::spd_matrix || at.parameter.spelling->domain != Support::positive) return "";
  const PlateId plate = at.variable.event.at(0);
  const std::int64_t size = b.out.sizes[plate.index()];
  if (size < 1 || value > static_cast<double>(size - 1)) return "";
  return fmt::format("above {}: '{}' has {} elements", size - 1, b.model[plate].name, size);
}

/// Checks a parameter that is one number.
void check_number(Binder& b, const WrittenParameter& at, double value) {
  const Support domain = at.parameter.spelling->domain;
  if (is_improper_zero(b, at, value)) return;
  if (const char* requirement = wanted(domain, value)) return report(b, at, value, requirement, cure_of(b, at, value));
  if (const std::string freedom = wanted_freedom(b, at, value); !freedom.empty()) {
    const std::int64_t size = b.out.sizes[at.variable.event.at(0).index()];
    return report(b, at, value, freedom, fmt::format("write `{} = {}` or more", at.parameter.spelling->name, size));
  }
  if (domain != Support::simplex) return;
  const PlateId plate = at.variable.value_plate ? *at.variable.value_plate : at.variable.event.at(0);
  const std::int64_t size = b.out.sizes[plate.index()];
  if (size < 1 || std::abs(value * static_cast<double>(size) - 1) <= kSumTolerance) return;
  report(b, at, value,
         fmt::format("1 / {} for the {} elements of '{}': probabilities sum to 1", size, size, b.model[plate].name),
         fmt::format("write `1 / size({})`", b.model[plate].name));
}

/// Replaces concentrations of 0 by kZeroConcentration in rows that also have positive ones. Returns true if there were
/// any.
bool replace_zero_concentrations(std::vector<double>& values, std::size_t width) {
  bool any = false;
  for (std::size_t row = 0; row + width <= values.size(); row += width) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row);
    const auto end = begin + static_cast<std::ptrdiff_t>(width);
    if (std::none_of(begin, end, [](double v) { return v > 0; }) || std::find(begin, end, 0.0) == end) continue;
    std::replace(begin, end, 0.0, kZeroConcentration);
    any = true;
  }
  return any;
}

/// Checks a parameter that is a data array, entry by entry. Rows of probabilities must sum to 1.
void check_array(Binder& b, const WrittenParameter& at, GivenId id, std::size_t rank) {
  const auto it = std::find_if(b.slots.begin(), b.slots.end(), [&](const Slot& s) { return s.given == id; });
  std::vector<double>& values = b.out.givens[id.index()].values;
  const Support domain = at.parameter.spelling->domain;
  if (it == b.slots.end() || rank == 2) return;  // the fit checks matrices when it factorises them
  if (rank == 1 && domain == Support::positive && at.variable.support == Support::simplex) {
    // Several distributions may have the same array, whose zeros the first of them replaces.
    const auto width = static_cast<std::size_t>(b.out.sizes[it->axes.back().index()]);
    if (replace_zero_concentrations(values, width)) b.out.givens[id.index()].has_zeros = true;
  }
  const std::string source = b.arrays.contains(it->name) ? b.arrays.at(it->name).source : option("data");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* outside = wanted(domain, values[i]);
    const std::string requirement = outside ? outside : wanted_freedom(b, at, values[i]);
    if (!requirement.empty()) return report_data(b, at, source, element_name(b, *it, i), values[i], requirement);
  }
  if (domain != Support::simplex || rank != 1) return;
  const auto width = static_cast<std::size_t>(b.out.sizes[it->axes.back().index()]);
  for (std::size_t row = 0; row + width <= values.size(); row += width) {
    double total = 0;
    for (std::size_t i = 0; i < width; ++i)
      total += values[row + i];
    if (std::abs(total - 1) <= kSumTolerance) continue;
    return report_data(b, at, source, "the sum from " + element_name(b, *it, row) + " on", total, "1");
  }
}

/// Collects the data arrays among the factors of a product. Returns false if some factor may be negative otherwise, as
/// a Normal number.
bool data_factors(const Model& m, ExprId id, std::vector<GivenId>& out) {
  const auto& node = m[id].node;
  if (const auto* given = std::get_if<GivenRef>(&node)) out.push_back(given->given);
  else if (const auto* number = std::get_if<Number>(&node)) return number->value > 0;
  else if (const auto* v = std::get_if<VariableRef>(&node)) return m[v->variable].support == Support::positive;
  else if (const auto* f = std::get_if<Apply>(&node)) return f->function == Function::exp;
  else if (const auto* b = std::get_if<Binary>(&node))
    return (b->op == BinaryOp::multiply || b->op == BinaryOp::divide) && data_factors(m, b->left, out) &&
           data_factors(m, b->right, out);
  else return false;
  return true;
}

/// Checks the data in a positive parameter that is a product of positive random variables and one array: exposures.
void check_exposures(Binder& b, const WrittenParameter& at) {
  std::vector<GivenId> factors;
  if (at.parameter.spelling->domain != Support::positive || !data_factors(b.model, at.parameter.value, factors) ||
      factors.size() != 1)
    return;
  const auto it = std::ranges::find_if(b.slots, [&](const Slot& s) { return s.given == factors[0]; });
  if (it == b.slots.end()) return;
  const std::vector<double>& values = b.out.givens[factors[0].index()].values;
  const auto negative = std::ranges::find_if(values, [](double x) { return x < 0; });
  if (negative == values.end()) return;
  const std::string source = b.arrays.contains(it->name) ? b.arrays.at(it->name).source : option("data");
  report_data(b, at, source, element_name(b, *it, static_cast<std::size_t>(negative - values.begin())), *negative,
              "positive");
}

/// Checks cut points of ordered_logistic that the data give: each must be above the one before.
void check_cuts(Binder& b, GivenId id) {
  const auto it = std::ranges::find_if(b.slots, [&](const Slot& s) { return s.given == id; });
  if (it == b.slots.end()) return;
  const std::vector<double>& values = b.out.givens[id.index()].values;
  const Given& given = b.model[id];
  const auto width =
      static_cast<std::size_t>(b.out.sizes[(given.event.empty() ? given.axes : given.event).back().index()]);
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (i % width == 0 || values[i] > values[i - 1]) continue;
    const std::string source = b.arrays.contains(it->name) ? b.arrays.at(it->name).source : option("data");
    problem(b, ExitCode::data, source,
            fmt::format("{} is {:.10g}, but {} is {:.10g}: each cut must be above the one before",
                        element_name(b, *it, i), values[i], element_name(b, *it, i - 1), values[i - 1]));
    return;
  }
}

}  // namespace

const char* wanted(Support domain, double v) {
  switch (domain) {
    case Support::positive:
    case Support::spd_matrix:
      return v > 0 && std::isfinite(v) ? nullptr : "positive";
    case Support::unit:
    case Support::simplex:
      return v >= 0 && v <= 1 + kSumTolerance ? nullptr : "between 0 and 1";
    case Support::count:
      return v >= 0 && v == std::floor(v) && std::isfinite(v) ? nullptr : "a count (0, 1, 2, ...)";
    case Support::real:
    case Support::bit:
    case Support::spin:
    case Support::category:
    case Support::vector:
    case Support::counts:
    case Support::switched:
    case Support::scaled:
    case Support::sparse:
      break;
  }
  return std::isfinite(v) ? nullptr : "a finite number";
}

std::vector<WrittenParameter> written_parameters(const Model& m) {
  std::vector<WrittenParameter> out;
  for (const Statement& s : m.statements) {
    for (const Distribution* part : distributions_of(s)) {
      const Distribution& d = as_written(*part);
      for (const Parameter& p : d.parameters)
        out.push_back({s, m[s.variable], d, p});
    }
  }
  return out;
}

void check_parameters(Binder& b) {
  for (const WrittenParameter& at : written_parameters(b.model)) {
    const Expr& e = b.model[at.parameter.value];
    const auto* ordered = std::get_if<OrderedLogistic>(&e.node);
    if (const auto* cuts = ordered ? std::get_if<GivenRef>(&b.model[ordered->cuts].node) : nullptr)
      check_cuts(b, cuts->given);
    if (const auto* given = std::get_if<GivenRef>(&e.node)) {
      check_array(b, at, given->given, e.shape.size());
    } else if (e.shape.empty()) {
      if (const auto value = evaluate(b, at.parameter.value)) check_number(b, at, *value);
      else check_exposures(b, at);
    }
  }
}

}  // namespace lehr::model
