// Entries of a simplex that have probability 0, because the data give them concentration 0.
//
// Every term outside the prior reads a constant in place of log x_k for such an entry. Otherwise counts from a random
// start, which does not know of zeros, could give the entry the probability that the prior denies. The choice between
// log x_k and the constant is made by step(concentration - kZeroConcentration), since the concentrations are data.
#include <algorithm>

#include "compiler/binding/bind.h"
#include "compiler/density/poly.h"
#include "compiler/density/zeros.h"

namespace lehr::density {
namespace {

/// Returns the concentration with zeros that occurs in the coefficient of log x_k in a prior, or nothing.
std::optional<CoefId> zero_concentration(const Algebra& a, CoefId c, const std::vector<bool>& with_zeros) {
  if (const auto* data = std::get_if<CoefData>(&a[c])) {
    const auto* given = std::get_if<model::GivenId>(&data->source);
    return given && given->index() < with_zeros.size() && with_zeros[given->index()] ? std::optional(c) : std::nullopt;
  }
  const auto* sum = std::get_if<CoefAdd>(&a[c]);
  const auto* product = std::get_if<CoefMultiply>(&a[c]);
  if (!sum && !product) return std::nullopt;
  for (const CoefId part : sum ? sum->parts : product->parts)
    if (const auto found = zero_concentration(a, part, with_zeros)) return found;
  return std::nullopt;
}

/// A Dirichlet prior whose concentration has zeros.
struct Prior {
  std::size_t origin;    // the prior's statement, as an index into Density::origins
  Atom entry;            // log x_k in its term
  CoefId concentration;  // the concentration of entry k
};

/// Finds the Dirichlet priors whose concentration has zeros.
std::vector<Prior> priors(const model::Model& m, const Density& d, const std::vector<bool>& with_zeros) {
  std::vector<Prior> out;
  for (const Term& t : d.terms) {
    if (t.atoms.size() != 1 || t.atoms[0].stat != math::Stat::log_comp) continue;
    const auto& statement = d.origins[t.origin].statement;
    if (!statement || m[*statement].variable != t.atoms[0].variable) continue;
    if (const auto c = zero_concentration(d.algebra, t.coef, with_zeros)) out.push_back({t.origin, t.atoms[0], *c});
  }
  return out;
}

/// Returns the concentration of the entry whose logarithm is the atom `at`: the indices of the prior's term are
/// replaced by those of the atom.
CoefId concentration_of(Algebra& a, const Prior& prior, const Atom& at) {
  std::vector<std::pair<IndexId, IndexId>> pairs;
  for (std::size_t k = 0; k < at.axes.size(); ++k)
    pairs.emplace_back(prior.entry.axes[k], at.axes[k]);
  for (std::size_t k = 0; k < at.event.size(); ++k)
    pairs.emplace_back(prior.entry.event[k], at.event[k]);
  return a.substitute(prior.concentration, [&](IndexId i) -> std::optional<IndexId> {
    const auto it = std::ranges::find(pairs, i, &std::pair<IndexId, IndexId>::first);
    return it == pairs.end() ? std::nullopt : std::optional(it->second);
  });
}

}  // namespace

void replace_zero_entries(const model::Model& m, const std::vector<bool>& with_zeros, Density& d) {
  if (std::ranges::none_of(with_zeros, [](bool b) { return b; })) return;
  Algebra& a = d.algebra;
  for (const Prior& prior : priors(m, d, with_zeros)) {
    const std::size_t count = d.terms.size();
    for (std::size_t k = 0; k < count; ++k) {
      const auto reads = [&](const Atom& x) {
        return x.variable == prior.entry.variable && x.stat == math::Stat::log_comp;
      };
      const auto at = std::ranges::find_if(d.terms[k].atoms, reads);
      if (d.terms[k].origin == prior.origin || at == d.terms[k].atoms.end()) continue;
      const CoefId concentration = concentration_of(a, prior, *at);
      // `step` is 1 if its argument is positive. A zero is bound as kZeroConcentration, so `zero` is 1 for it and 0 for
      // all others.
      const CoefId above = a.add(concentration, a.number(-kZeroConcentration));
      const CoefId zero = a.add(a.number(1), a.multiply(a.number(-1), a.apply(Function::step, above)));
      Term never = d.terms[k];
      never.atoms.erase(never.atoms.begin() + (at - d.terms[k].atoms.begin()));
      never.coef = a.multiply({a.number(-1 / kZeroConcentration), never.coef, zero});
      d.terms[k].coef = a.multiply(d.terms[k].coef, a.apply(Function::step, above));
      d.terms.push_back(std::move(never));
    }
  }
}

}  // namespace lehr::density
