// Reads from the rows of the families which numbers a log gamma function is formed of: those in the entropy of a
// factor, and in the log density of observations. Relative rounding of the function's value, about x log x, gives the
// error.
#include "compiler/fit/checks/cancellation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "compiler/math/family.h"
#include "compiler/math/walk.h"
#include "compiler/posterior/moments.h"

namespace lehr {
namespace {

/// Smaller errors, in nats, are not reported.
constexpr double kLeast = 1e-3;

/// Collects the names that occur in arguments of log gamma functions.
void under_log_gamma(const math::Expr& e, bool inside, std::set<std::string>& names) {
  if (const auto* s = std::get_if<math::Symbol>(&e->form); s && inside) names.insert(s->name);
  const auto* function = std::get_if<math::Apply>(&e->form);
  for (const math::Expr& part : math::children_of(e))
    under_log_gamma(part, inside || (function && function->function == math::Function::lgamma), names);
}

/// Returns the rounding error of log gamma of x > 1, in nats.
double lost_in_log_gamma(double x) { return std::numeric_limits<double>::epsilon() * x * std::log(x); }
/// Returns the rounding error of x^2 / 2, in nats.
double lost_in_square(double x) { return 0.5 * std::numeric_limits<double>::epsilon() * x * x; }

/// Adds the errors of all values above 1, and notes the largest value.
void add(CancellationError& to, double (*lost)(double), const std::string& name, const std::vector<std::int64_t>& shape,
         const std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(values[k] > 1)) continue;
    to.nats += lost(values[k]);
    if (values[k] > to.largest) {
      to.largest = values[k];
      to.of_largest = lost(values[k]);
      to.name = name + subscripts(shape, k);
    }
  }
}

}  // namespace

std::string subscripts(const std::vector<std::int64_t>& shape, std::size_t position) {
  return shape.empty() ? "" : fmt::format("[{}]", fmt::join(unravel(shape, position), ", "));
}

std::optional<CancellationError> log_gamma_cancellation(const model::Model& m, const schedule::Schedule& s,
                                                        const BoundData& data,
                                                        const std::vector<NamedArray>& posterior) {
  CancellationError out;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    std::set<std::string> names;
    if (v.observed) {
      under_log_gamma(m[v.statement].main.family->log_density, false, names);
      if (names.contains("x")) add(out, lost_in_log_gamma, v.name, {}, data.observed[k].values);
      continue;
    }
    const conditionals::BlockId b = s.conditionals.block_of[k];
    if (!b.valid()) continue;
    under_log_gamma(s.conditionals[b].factor->entropy, false, names);
    for (const NamedArray& a : posterior) {
      for (const std::string& parameter : names)
        if (a.name == v.name + "." + parameter) add(out, lost_in_log_gamma, a.name, a.shape, a.values);
    }
  }
  if (out.nats < kLeast) return std::nullopt;
  return out;
}

CancellationError square_cancellation(const model::Model& m, const schedule::Schedule& s,
                                      const std::vector<NamedArray>& posterior) {
  CancellationError out;
  const std::map<std::string, SavedVariable> factors = by_variable(posterior);
  for (const conditionals::Block& b : s.conditionals.blocks) {
    const model::Variable& v = m[b.mean ? *b.mean : b.variable];
    const auto factor = factors.find(v.name);
    const bool scaled = v.support == math::Support::scaled;
    const bool real_valued = scaled || v.support == math::Support::real || v.support == math::Support::vector;
    if (factor == factors.end() || !real_valued) continue;
    const auto joint = b.mean ? factors.find(m[b.variable].name) : factors.end();
    const auto found = moments(*b.family, factor->second, joint == factors.end() ? nullptr : &joint->second);
    if (!found || found->sd.size() != found->mean.size()) continue;
    std::vector<double> far;
    for (std::size_t k = 0; k < found->mean.size(); ++k)
      // An element whose value is observed has sd 0, and no factor.
      far.push_back(found->sd[k] > 0 ? std::abs(found->mean[k]) / found->sd[k] : 0);
    std::vector<std::int64_t> shape = found->elements;
    shape.insert(shape.end(), found->event.begin(), found->event.end());
    add(out, lost_in_square, v.name, shape, far);
  }
  return out.nats < kLeast ? CancellationError() : out;
}

}  // namespace lehr
