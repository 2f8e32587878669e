// The conditionals with draws in the place of expectations.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "compiler/conditionals/integrate.h"
#include "compiler/model/roles.h"

namespace lehr::conditionals {
namespace {

/// Copies of an element that share a factor are no single draw, unless they are shares of a category that stands alone.
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

/// Polya-Gamma variables are sums of as many as there are trials, which a draw of another variable may not change.
std::string random_trials(const model::Model& m, const Conditionals& c) {
  const density::Density& d = c.density;
  for (const density::Term& t : d.terms) {
    const bool trials = std::ranges::any_of(t.atoms, [&](const density::Atom& a) {
      return a.stat == math::Stat::offset && c[c.block_of[a.variable.index()]].family == &math::logistic_bound();
    });
    if (!trials || t.atoms.size() == 1) continue;
    const auto other =
        std::ranges::find_if(t.atoms, [&](const density::Atom& a) { return !model::is_bound(m[a.variable]); });
    if (other == t.atoms.end()) continue;
    const model::Variable& host = m[m[*d.origins[t.origin].statement].variable];
    return fmt::format("how many trials of '{}' have a logistic link depends on '{}'", host.name,
                       m[other->variable].name);
  }
  return "";
}

bool is_absolute_bound(const model::Model& m, const density::Atom& x) {
  const auto& auxiliary = m[x.variable].auxiliary;
  return auxiliary && auxiliary->bound == &math::absolute_bound();
}

/// exp(-r |e|) is an average of Normal densities exp(-r e^2 / (2 xi)), whose weights have a factor sqrt(r): the
/// logarithm of each random factor of r as a term. Which element r belongs to may be random; false where r is a sum,
/// or the density one part of a mixture. Andrews & Mallows, Scale mixtures of normal distributions (1974).
bool weigh_mixtures(const model::Model& m, Conditionals& c) {
  using math::Stat;
  density::Density& d = c.density;
  const auto selects = [&](const density::Atom& x) {
    return x.stat == Stat::indicator && std::holds_alternative<density::IndexBound>(d.algebra[x.event[0]]);
  };
  std::set<model::VariableId> weighed;
  for (std::size_t k = 0, end = d.terms.size(); k < end; ++k) {
    const density::Term t = d.terms[k];
    const auto bound = std::ranges::find_if(
        t.atoms, [&](const density::Atom& x) { return x.stat == Stat::value && is_absolute_bound(m, x); });
    if (bound == t.atoms.end()) continue;
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

std::variant<Conditionals, std::string> with_draws(const model::Model& m, Conditionals c) {
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
  walk_lookups(m, c);
  return c;
}

}  // namespace lehr::conditionals
