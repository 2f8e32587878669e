// Writes declarations from the Model. Added variables and expanded distributions are written as the user typed them,
// never as what they were expanded to.
#include "compiler/model/statement_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/model/mixture_part.h"
#include "compiler/model/print_model.h"
#include "compiler/support/printing.h"

namespace lehr {
namespace {

using namespace model;

// Returns the names of entities, separated by commas.
std::string names_of(const Model& m, const auto& ids) {
  return listed(ids, [&](auto id) { return m[id].name; });
}

// Returns a distribution as it was typed.
std::string distribution_text(const Model& m, const Distribution& d) {
  const Distribution& typed = as_written(d);
  const auto parameter = [&](const Parameter& p) { return p.spelling->name + " = " + print(m, p.value); };
  return fmt::format("{}({})", typed.family->name, listed(typed.parameters, parameter));
}

/// Returns the weights of a mixture: the parameter of the distribution of the selecting variable that the compiler has
/// added, or the variable of the model that selects.
std::string weights_text(const Model& m, const Statement& s) {
  const auto* ref = std::get_if<VariableRef>(&m[*s.part].node);
  if (!ref || !is_part_of(m, s, ref->variable)) return print(m, *s.part);
  return print(m, m[m[ref->variable].statement].main.parameters.at(0).value);
}

}  // namespace

std::string statement_text(const Model& m, const Statement& s, const Distribution* part, const std::string& text) {
  const Variable& v = m[s.variable];
  const auto written = [&](const Distribution& d) { return &d == part ? text : distribution_text(m, d); };
  std::string out = (v.observed ? "observe " : "") + v.name + bracketed(names_of(m, s.index_vars)) + " ~ ";
  if (s.part) {
    out += fmt::format("mixture({}, {}", weights_text(m, s), written(s.main));
    for (const Distribution& other : s.others)
      out += ", " + written(other);
    out += ")";
  } else {
    out += written(s.main);
  }
  if (s.start) out += " start " + written(*s.start);
  if (s.limits.any() && v.observed) out += " censored";
  if (s.limits.above) out += " above " + print(m, *s.limits.above);
  if (s.limits.below) out += " below " + print(m, *s.limits.below);
  if (!v.event.empty()) out += " over " + m[v.event.front()].name;
  return out + ";";
}

std::string plate_text(const Model& m, const Plate& p) {
  std::string out = "plate " + p.name;
  if (p.parent) out += " in " + m[*p.parent].name;
  if (p.ordered) out += " ordered";
  if (p.size) out += " = " + print(m, *p.size);
  if (p.times) out += " times " + m[*p.times].name;
  if (p.from != 0) out += fmt::format(" from {}", p.from);
  return out + ";";
}

std::string plate_text_from(const Model& m, Plate plate, std::int64_t from) {
  plate.from = from;
  return plate_text(m, plate);
}

}  // namespace lehr
