// Values that have probability 0 under some choices of a latent variable: a count above the number of trials, a
// category whose probability is the number 0, a bit whose probability is 0 or 1, a positive count that would be drawn
// from Zero.
//
// The choice gets log odds of -1e15 there. The term has a multiplicity of 0 that only the factor of the choice ignores,
// so the ELBO has no large numbers that cancel.
#include <algorithm>
#include <variant>

#include "compiler/density/expander.h"
#include "compiler/model/walk.h"

namespace lehr::density {
namespace {

/// Log odds that leave a choice no probability in double precision.
constexpr double kImpossibleLogOdds = -1e15;

}  // namespace

std::set<model::VariableId> Expander::choosing_variables(CoefId c) const {
  std::set<model::VariableId> out;
  for (const Scope& scope : scopes_) {
    for (const Selector& s : scope.selectors)
      if (a_.mentions(c, s.bound)) out.insert(s.variable);
  }
  const model::Statement& s = m_[*statement_];
  if (s.part) out.insert(std::get<model::VariableRef>(m_[*s.part].node).variable);
  // The prior of a latent bit excludes one of its own values.
  if (out.empty() && is_prior_of_bit()) out.insert(s.variable);
  return out;
}

bool Expander::is_prior_of_bit() const {
  if (!statement_) return false;
  const model::Variable& own = m_[m_[*statement_].variable];
  return own.support == math::Support::bit && !own.observed && !own.clamped;
}

bool Expander::depends_on_latent(model::ExprId e) const {
  if (m_[*statement_].part) return true;
  return std::ranges::any_of(model::references_under(m_, {e}),
                             [&](const model::VariableRef* v) { return !m_[v->variable].observed; });
}

Poly Expander::exclude_where(CoefId where) {
  const std::set<model::VariableId> by = choosing_variables(where);
  if (by.empty()) return {};
  Poly out = constant(a_.multiply(a_.number(kImpossibleLogOdds), where));
  // If several variables choose together, no factor alone can exclude the choice. The ELBO then shows what probability
  // such choices have.
  for (Term& t : out)
    if (by.size() == 1) t.multiplicities.push_back({*by.begin(), a_.number(0)});
  return out;
}

Poly Expander::log_of_data(CoefId c) {
  if (statement_ && a_.literal(c) == 0.0) return exclude_where(a_.number(1));
  const auto* f = std::get_if<CoefApply>(&a_[c]);
  if (statement_ && f && f->function == Function::step)
    return exclude_where(a_.add(a_.number(1), a_.multiply(a_.number(-1), c)));
  return constant(a_.apply(Function::log, c));
}

Poly Expander::log1m_of_data(CoefId c) {
  if (statement_ && a_.literal(c) == 1.0) return exclude_where(a_.number(1));
  if (a_.literal(c) || !is_prior_of_bit()) return constant(a_.apply(Function::log1m, c));
  // Where the datum is 1, the value 0 is excluded. Its log odds of -infinity would be a summand of two terms.
  const CoefId below = a_.apply(Function::step, a_.add(a_.number(1), a_.multiply(a_.number(-1), c)));
  return add(constant(a_.apply(Function::log1m, a_.multiply(below, c))),
             exclude_where(a_.add(a_.number(1), a_.multiply(a_.number(-1), below))));
}

Poly Expander::exclude_above_total(Arguments& arguments) {
  const model::Variable& v = m_[m_[*statement_].variable];
  if (!v.observed || (v.support != math::Support::count && v.support != math::Support::counts)) return {};
  const auto minus = [&](CoefId l, CoefId r) { return a_.add(l, a_.multiply(a_.number(-1), r)); };
  const auto above = [&](CoefId x) { return a_.apply(Function::step, a_.add(x, a_.number(0.5))); };
  Poly out;
  for (auto& [name, argument] : arguments) {
    if (argument.spelling->domain != math::Support::count || !depends_on_latent(argument.value)) continue;
    const auto total = as_coefficient(a_, m_, this->argument(argument, {}));
    if (!total || choosing_variables(*total).empty()) continue;
    const bool several = v.support == math::Support::counts;
    const Poly all = several ? sum_over(m_[v.event.at(0)].set, [&](IndexId j) { return value({j}); }) : value({});
    const auto count = as_coefficient(a_, m_, all);
    if (!count) continue;
    // 1 where the count does not exceed the total. For a vector of counts both must be equal.
    const CoefId fits = above(minus(*total, *count));
    const CoefId possible = several ? a_.multiply(fits, above(minus(*count, *total))) : fits;
    // An impossible total is replaced by the count itself, which keeps log binomial coefficients finite.
    if (!several) argument.instead = constant(a_.add(*count, a_.multiply(fits, minus(*total, *count))));
    out = add(std::move(out), exclude_where(minus(a_.number(1), possible)));
  }
  return out;
}

}  // namespace lehr::density
