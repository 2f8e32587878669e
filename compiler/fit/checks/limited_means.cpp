// Compares the variance of the mean of a value within limits, a polynomial in latent numbers, with that of the value.
#include "compiler/fit/checks/limited_means.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/advice.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/posterior_moments.h"

namespace lehr {
namespace {

using namespace model;

constexpr double kHeld = 0.8;       // variance of the mean over that of the value, from which on means are off
constexpr double kShare = 0.1;      // share of such values that deserves a warning
constexpr std::size_t kMost = 200;  // values of a variable that are tested

/// The statement of values within limits that have a factor of their own.
struct Limited {
  const Statement* statement;
  std::optional<ExprId> predictor;  // the argument of a probit link, about which the precision is 1; none: no link
};

/// Returns the statements of latent Normal numbers with limits, and of those behind a probit link.
std::vector<Limited> limited_values(const Analysed& a) {
  const Model& m = a.model;
  std::vector<Limited> out;
  for (const Statement& s : m.statements) {
    if (s.lagged || s.part || !m[s.variable].event.empty()) continue;
    const conditionals::BlockId b = a.schedule.conditionals.block_of[s.variable.index()];
    if (!m[s.variable].observed) {
      if (s.limits.any() && b.valid() && !a.schedule.conditionals[b].point) out.push_back({&s, std::nullopt});
      continue;
    }
    const bool valued = std::ranges::any_of(m.variables, [&](const Variable& v) {
      return v.auxiliary && v.auxiliary->kind == Auxiliary::Kind::value && v.auxiliary->host == s.variable;
    });
    for (const Parameter& p : s.main.parameters) {
      const auto* f = std::get_if<Apply>(&m[p.value].node);
      if (valued && f && f->function == Function::probit) out.push_back({&s, f->argument});
    }
  }
  return out;
}

/// Returns the names of the latent variables in the mean of the values.
std::vector<std::string> parents_of(const Model& m, const Limited& x) {
  std::vector<ExprId> roots = x.predictor ? std::vector<ExprId>{*x.predictor} : std::vector<ExprId>();
  const std::vector<std::string>& location = x.statement->main.family->location;
  for (const Parameter& p : x.statement->main.parameters)
    if (!x.predictor && std::ranges::find(location, p.spelling->canonical) != location.end()) roots.push_back(p.value);
  std::set<std::string> out;
  for (const VariableRef* r : references_under(m, roots))
    if (!m[r->variable].observed) out.insert(m[r->variable].name);
  return {out.begin(), out.end()};
}

/// Returns the variance of the mean of a value over that of the value about it; nothing if it has no closed form.
std::optional<double> ratio(const Limited& x, const IndexValues& at, const Symbolic& symbolic,
                            PosteriorMoments& moments) {
  const MaybePolynomial mean =
      x.predictor ? symbolic.entry(*x.predictor, at) : symbolic.parameter(*x.statement, at, "mean");
  if (!mean || symbolic.forward().unknown()) return std::nullopt;
  const std::optional<double> variance = moments.variance(*mean);
  if (!variance || x.predictor) return variance;
  const MaybePolynomial precision = symbolic.parameter(*x.statement, at, "precision");
  const std::optional<double> of_value = precision ? moments.mean(*precision) : std::nullopt;
  return of_value ? std::optional(*variance * *of_value) : std::nullopt;
}

/// Returns true if the values hold back means: see held_by_limits().
bool hold(const Limited& x, const ModelEvaluator& forward, const Symbolic& symbolic, PosteriorMoments& moments) {
  const std::size_t elements = forward.elements(x.statement->variable), step = elements / kMost + 1;
  std::size_t k = 0, tested = 0, held = 0;
  bool computed = true;
  IndexValues at = forward.origin();
  forward.each(x.statement->index_vars, at, [&] {
    if (k++ % step != 0 || !computed) return;
    const std::optional<double> r = ratio(x, at, symbolic, moments);
    computed = r.has_value();
    ++tested;
    held += computed && *r > kHeld;
  });
  return computed && held > 0 && static_cast<double>(held) >= kShare * static_cast<double>(tested);
}

}  // namespace

std::string held_by_limits(const Analysed& a, const BoundData& data, const std::vector<NamedArray>& posterior) {
  const std::vector<Limited> all = limited_values(a);
  if (all.empty()) return {};
  const Model& m = a.model;
  ModelEvaluator forward(m, data);
  std::vector<std::vector<bool>> d_connected;
  for (std::size_t k = 0; k < m.variables.size(); ++k)
    d_connected.emplace_back(m.variables[k].auxiliary ? 0 : forward.elements(VariableId(k)), true);
  const Symbolic symbolic(forward);
  const std::map<std::string, SavedVariable> factors = by_variable(posterior);
  PosteriorMoments moments(a, factors, d_connected, symbolic);
  for (const Limited& x : all) {
    forward.clear();
    if (!hold(x, forward, symbolic, moments)) continue;
    const std::string instead = x.predictor ? fmt::format("; {} gaussian has no such factors", option("links")) : "";
    return fmt::format(
        "the means of {} are too near to their priors, not only the standard deviations too small: {} of '{}' has a "
        "narrow factor of its own, which holds them{}",
        fmt::join(parents_of(m, x), ", "), x.predictor ? "the value behind each link" : "each value",
        m[x.statement->variable].name, instead);
  }
  return {};
}

}  // namespace lehr
