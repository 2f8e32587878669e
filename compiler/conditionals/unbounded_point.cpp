// Finds point estimates of variances that would run to 0.
//
// An element x with one observation y has a density x^(-1/2) exp(-(y - mu)^2 / (2 x)) or the like. With mu random, (y -
// mu)^2 can be 0, and then only the prior can keep the density from growing without end. The powers of x are counted by
// the terms in log x, and whether the mean is random shows in several terms in 1/x with different other variables.
#include "compiler/conditionals/unbounded_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/conditionals/conjugacy_advice.h"
#include "compiler/model/print_model.h"
#include "compiler/support/printing.h"

namespace lehr::conditionals {
namespace {

using math::Stat;

/// Returns true for 1/x and 1/x^2.
bool is_inverse(Stat s) { return s == Stat::inverse || s == Stat::inverse_square; }

/// The terms in log x of an element.
struct LogTerms {
  double power = 0;                        // the exponent of x in the density
  std::optional<model::StatementId> host;  // the one other statement with such a term
};

/// Returns the terms in log x of an element. There must be one term of the prior and one of a single other statement,
/// each with a literal coefficient; else it returns nothing.
std::optional<LogTerms> log_terms_of(const model::Model& m, const density::Density& d, model::VariableId v,
                                     const std::vector<Use>& uses) {
  LogTerms out;
  for (const Use& u : uses) {
    const density::Term& t = d.terms[u.term];
    const density::Atom& a = t.atoms[u.atom];
    if (a.stat != Stat::log) continue;
    const std::optional<model::StatementId> origin = d.origins[t.origin].statement;
    const std::optional<double> power = d.algebra.literal(t.coef);
    if (!origin || !power || t.atoms.size() != 1 || t.index_vars.size() != a.axes.size()) return std::nullopt;
    out.power += *power;
    if (*origin == m[v].statement) continue;
    if (out.host) return std::nullopt;
    out.host = origin;
  }
  return out;
}

/// Returns the statistics of `v` in its prior, or in all other statements.
std::vector<Stat> statistics(const model::Model& m, const density::Density& d, model::VariableId v,
                             const std::vector<Use>& uses, bool of_prior) {
  std::vector<Stat> out;
  for (const Use& u : uses) {
    const density::Term& t = d.terms[u.term];
    if ((d.origins[t.origin].statement == m[v].statement) == of_prior) out.push_back(t.atoms[u.atom].stat);
  }
  return out;
}

/// Returns the statement of a prior that is 0 at x = 0: the same as now with a factor x, which outweighs the x^(-1/2)
/// or 1/x of one observation. Returns an empty text if there is no such family.
std::string prior_zero_at_zero(const model::Model& m, model::VariableId v, std::vector<Stat> own) {
  const model::Statement& s = m[m[v].statement];
  const model::Distribution& prior = model::as_written(s.main);
  own.push_back(Stat::log);
  const std::vector<const math::FamilyRow*> families = math::factors_for(m[v].support, own);
  if (families.empty() || !families.front()->factor) return "";
  const math::FamilyRow& row = *families.front();
  std::vector<std::string> parameters;
  for (const math::DensityParameter& p : math::density_parameters(row)) {
    const auto& all = row.factor->parameters;
    const auto in_factor = std::ranges::find(all, p.name, &math::FactorParameter::name);
    const bool power = in_factor != all.end() && in_factor->from_natural == math::natural_symbol(Stat::log) + 1.0;
    const auto written = std::ranges::find_if(
        prior.parameters, [&](const model::Parameter& other) { return other.spelling->name == p.name; });
    if (!power && written == prior.parameters.end()) return "";
    parameters.push_back(p.name + " = " + (power ? "2" : print(m, written->value)));
  }
  const auto name = [&](model::IndexVarId b) { return m[b].name; };
  return fmt::format("{}{} ~ {}({});", m[v].name, bracketed(listed(s.index_vars, name)), row.name,
                     listed(parameters, {}));
}

}  // namespace

std::optional<model::StatementId> unbounded_at_zero(const model::Model& m, const density::Density& d,
                                                    model::VariableId v, const std::vector<Use>& uses) {
  const std::optional<LogTerms> pull = log_terms_of(m, d, v, uses);
  if (!pull || !pull->host || pull->power >= 0 || !m[m[*pull->host].variable].observed) return std::nullopt;
  // The square (y - mu)^2 of a random mean expands to several terms, whose other variables differ.
  std::set<std::multiset<model::VariableId>> squares;
  for (const Use& u : uses) {
    const density::Term& t = d.terms[u.term];
    const density::Atom& a = t.atoms[u.atom];
    if (!a.opaque.empty()) return std::nullopt;
    if (!is_inverse(a.stat)) continue;
    if (d.origins[t.origin].statement != pull->host) return std::nullopt;
    std::multiset<model::VariableId> beside;
    for (const density::Atom& other : t.atoms)
      if (other.variable != v) beside.insert(other.variable);
    squares.insert(std::move(beside));
  }
  return squares.size() > 1 ? pull->host : std::nullopt;
}

void report_unbounded(const model::Model& m, model::VariableId v, const std::vector<Use>& uses,
                      const density::Density& d, model::StatementId host, Diagnostics& diagnostics) {
  const std::string& name = m[v].name;
  Diagnostic& diag = diagnostics.add(
      DiagnosticKind::point_guide, m[v].span, name,
      fmt::format("each element belongs to one '{}', and where that meets its mean the density grows without end as "
                  "the element goes to 0",
                  m[m[host].variable].name));
  const std::vector<Stat> own = statistics(m, d, v, uses, true);
  if (const std::string line = prior_zero_at_zero(m, v, own); !line.empty())
    diag.note(
        fmt::format("another prior, with a density of 0 there, keeps the point away from it: declare `{}`", line));
  if (!own.empty() && std::ranges::all_of(own, [](Stat s) { return s == Stat::value; }))
    diag.note(
        "errors with exponential variances are those of `Laplace(mean = ..., rate = ...)`, which has a bound; for a "
        "quantile add a potential (docs/recipes.md)");
  propose_conjugate(m, v, statistics(m, d, v, uses, false), diag);
}

}  // namespace lehr::conditionals
