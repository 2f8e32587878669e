// Which numbers go through a log gamma function is read from the rows.
#include "compiler/fitting/lost_digits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <set>

#include "compiler/math/family.h"
#include "compiler/math/walk.h"

namespace lehr {
namespace {

constexpr double kLeast = 1e-3;

/// Names in arguments of log gamma functions.
void under_log_gamma(const math::Expr& e, bool inside, std::set<std::string>& names) {
  if (const auto* s = std::get_if<math::Symbol>(&e->form); s && inside) names.insert(s->name);
  const auto* function = std::get_if<math::Apply>(&e->form);
  for (const math::Expr& part : math::children_of(e))
    under_log_gamma(part, inside || (function && function->function == math::Function::lgamma), names);
}

double nats_lost(double x) { return std::numeric_limits<double>::epsilon() * x * std::log(x); }

void add(LostDigits& to, const std::string& name, const std::vector<std::int64_t>& shape,
         const std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(values[k] > 1)) continue;
    to.nats += nats_lost(values[k]);
    if (values[k] > to.largest) {
      to.largest = values[k];
      to.of_largest = nats_lost(values[k]);
      to.name = name + subscripts(shape, k);
    }
  }
}

}  // namespace

std::string subscripts(const std::vector<std::int64_t>& shape, std::size_t position) {
  return shape.empty() ? "" : fmt::format("[{}]", fmt::join(unravel(shape, position), ", "));
}

std::optional<LostDigits> lost_digits(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                                      const std::vector<NamedArray>& posterior) {
  LostDigits out;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    std::set<std::string> names;
    if (v.observed) {
      under_log_gamma(m[v.statement].main.family->log_density, false, names);
      if (names.contains("x")) add(out, v.name, {}, data.observed[k].values);
      continue;
    }
    const conditionals::BlockId b = s.conditionals.block_of[k];
    if (!b.valid()) continue;
    under_log_gamma(s.conditionals[b].factor->entropy, false, names);
    for (const NamedArray& a : posterior) {
      for (const std::string& parameter : names)
        if (a.name == v.name + "." + parameter) add(out, a.name, a.shape, a.values);
    }
  }
  if (out.nats < kLeast) return std::nullopt;
  return out;
}

}  // namespace lehr
