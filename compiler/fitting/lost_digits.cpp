// Which numbers go through a log gamma function is read from the rows.
#include "compiler/fitting/lost_digits.h"

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

void add(LostDigits& to, const std::string& name, const std::vector<double>& values) {
  for (const double x : values) {
    if (!(x > 1)) continue;
    to.nats += std::numeric_limits<double>::epsilon() * x * std::log(x);
    if (x > to.largest) {
      to.largest = x;
      to.name = name;
    }
  }
}

}  // namespace

std::optional<LostDigits> lost_digits(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                                      const std::vector<NamedArray>& posterior) {
  LostDigits out;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    std::set<std::string> names;
    if (v.observed) {
      under_log_gamma(m[v.statement].main.family->log_density, false, names);
      if (names.contains("x")) add(out, v.name, data.observed[k].values);
      continue;
    }
    const conditionals::BlockId b = s.conditionals.block_of[k];
    if (!b.valid()) continue;
    under_log_gamma(s.conditionals[b].factor->entropy, false, names);
    for (const NamedArray& a : posterior) {
      for (const std::string& parameter : names)
        if (a.name == v.name + "." + parameter) add(out, a.name, a.values);
    }
  }
  if (out.nats < kLeast) return std::nullopt;
  return out;
}

}  // namespace lehr
