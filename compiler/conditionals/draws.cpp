// Conditionals for a Gibbs sampler: every factor is replaced by the sample factor of its family, all mass at one draw.
//
// The same updates then compute complete conditionals, since the expectation of a statistic is its value at the draw.
// What remains is to check that a draw is possible, and to add the terms that a sampler needs and a mean-field update
// does not.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "compiler/conditionals/collapse.h"
#include "compiler/model/roles.h"

namespace lehr::conditionals {
namespace {

/// Returns why the block cannot be drawn because its elements have copies (`times`), or an empty text. Each copy would
/// need a draw. A category outside chains is allowed if no other variable has copies: its draw is how many copies have
/// each value.
std::string copied(const model::Model& m, const Conditionals& c, const Block& b) {
  const auto owns = [&](const model::Variable& v) {
    return std::ranges::any_of(v.axes, [&](model::PlateId p) { return m[m[p].set].times.has_value(); });
  };
  if (!owns(m[b.variable])) return "";
  const bool alone = std::ranges::none_of(c.blocks, [&](const Block& other) {
    return &other != &b && owns(m[other.variable]) && !m[other.variable].auxiliary;
  });
  if (alone && b.family->factor->softmax && !b.chain) return "";
  return fmt::format("'{}' has copies (`times`), which would each need a draw of their own", m[b.variable].name);
}

/// Returns why a logistic link cannot be drawn because the number of its trials depends on a latent variable, or an
/// empty text. Its Polya-Gamma variable is a sum of as many as there are trials, so the distribution would change with
/// another draw.
std::string random_trials(const model::Model& m, const Conditionals& c) {
  const density::Density& d = c.density;
  for (const density::Term& t : d.terms) {
    const bool trials = std::ranges::any_of(t.atoms, [&](const density::Atom& a) {
      return a.stat == math::Stat::offset && c[c.block_of[a.variable.index()]].family == &math::logistic_bound();
    });
    if (!trials || t.atoms.size() == 1) continue;
    const auto other =
        std::ranges::find_if(t.atoms, [&](const density::Atom& a) { return !model::is_tangent_point(m[a.variable]); });
    if (other == t.atoms.end()) continue;
    const model::Variable& host = m[m[*d.origins[t.origin].statement].variable];
    return fmt::format("how many trials of '{}' have a logistic link depends on '{}'", host.name,
                       m[other->variable].name);
  }
  return "";
}

/// Returns true if the atom is of the auxiliary variable of an absolute value.
bool is_absolute_bound(const model::Model& m, const density::Atom& x) {
  const auto& auxiliary = m[x.variable].auxiliary;
  return auxiliary && auxiliary->bound == &math::absolute_bound();
}

/// Adds the terms by which a Laplace density is exactly a mixture of Normal densities (Andrews & Mallows 1974, Scale
/// mixtures of normal distributions). exp(-r |e|) is the average of exp(-r e^2 / (2 xi)) over xi, with weights that
/// have a factor sqrt(r). So each random factor of the rate r adds 1/2 log of itself, or -1/2 for a reciprocal. Which
/// element the factor is may be random. Returns false if the rate is a sum, or the density one part of a mixture.
bool weigh_mixtures(const model::Model& m, Conditionals& c) {
  using math::Stat;
  density::Density& d = c.density;
  const auto selects = [&](const density::Atom& x) {
    return x.stat == Stat::indicator && std::holds_alternative<density::IndexVarRef>(d.algebra[x.event[0]]);
  };
  std::set<model::VariableId> weighed;
  for (std::size_t k = 0, end = d.terms.size(); k < end; ++k) {
    const density::Term t = d.terms[k];
    const auto bound = std::ranges::find_if(
        t.atoms, [&](const density::Atom& x) { return x.stat == Stat::value && is_absolute_bound(m, x); });
    if (bound == t.atoms.end()) continue;
    // A second term means that the rate is a sum.
    if (!weighed.insert(bound->variable).second) return false;
    for (auto x = t.atoms.begin(); x != t.atoms.end(); ++x) {
      if (x == bound || selects(*x)) continue;
      const bool positive = m[x->variable].support == math::Support::positive;
      if (!positive || (x->stat != Stat::value && x->stat != Stat::inverse)) return false;
      density::Term weight = t;
      weight.coef = d.algebra.number(x->stat == Stat::value ? 0.5 : -0.5);
      weight.atoms.clear();
      std::ranges::copy_if(t.atoms, std::back_inserter(weight.atoms), selects);
      weight.atoms.push_back(*x);
      weight.atoms.back().stat = Stat::log;
      for (std::size_t atom = 0; atom < weight.atoms.size(); ++atom)
        c.blocks[c.block_of[weight.atoms[atom].variable.index()].index()].uses.push_back({d.terms.size(), atom});
      d.terms.push_back(std::move(weight));
    }
  }
  return true;
}

}  // namespace

std::variant<Conditionals, std::string> with_sample_factors(const model::Model& m, Conditionals c) {
  // A mask integrates elements out that no data depend on. A sampler draws these too, so their terms count.
  for (density::Term& t : c.density.terms)
    std::erase_if(t.multiplicities, [&](const density::Multiplicity& x) {
      const auto* owner = std::get_if<model::VariableId>(&x.owner);
      return owner && model::mask_of(m, m[*owner]);
    });
  if (std::string why = random_trials(m, c); !why.empty()) return why;
  if (!weigh_mixtures(m, c))
    return "there are no draws where the rate of a Laplace is a sum or a power, or the Laplace a part of a mixture";
  for (Block& b : c.blocks) {
    b.factor = math::sample_factor(*b.family);
    if (!b.factor && b.family == &math::softmax_bound())
      return fmt::format("the softmax of '{}' has a bound, and no variable to draw that makes it conjugate",
                         m[m[b.variable].auxiliary->host].name);
    if (!b.factor)
      return fmt::format("the conditional of '{}' is of no family that can be drawn from{}", m[b.variable].name,
                         b.point ? ": `guide point` takes its best value, which the other methods do" : "");
    if (std::string why = copied(m, c, b); !why.empty()) return why;
    b.drawn = true;
    b.point = false;
  }
  make_lookup_axes_sequential(m, c);
  return c;
}

}  // namespace lehr::conditionals
