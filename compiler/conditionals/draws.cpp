// The conditionals with draws in the place of expectations.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/conditionals/conditionals.h"

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

bool is_bound(const model::Variable& v) { return v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::bound; }

/// Polya-Gamma variables are sums of as many as there are trials, which a draw of another variable may not change.
std::string random_trials(const model::Model& m, const density::Density& d) {
  for (const density::Term& t : d.terms) {
    const bool trials = std::ranges::any_of(
        t.atoms, [&](const density::Atom& a) { return a.stat == math::Stat::offset && is_bound(m[a.variable]); });
    if (!trials || t.atoms.size() == 1) continue;
    const auto other = std::ranges::find_if(t.atoms, [&](const density::Atom& a) { return !is_bound(m[a.variable]); });
    if (other == t.atoms.end()) continue;
    const model::Variable& host = m[m[*d.origins[t.origin].statement].variable];
    return fmt::format("how many trials of '{}' have a logistic link depends on '{}'", host.name,
                       m[other->variable].name);
  }
  return "";
}

}  // namespace

std::variant<Conditionals, std::string> with_draws(const model::Model& m, Conditionals c) {
  if (std::string why = random_trials(m, c.density); !why.empty()) return why;
  for (Block& b : c.blocks) {
    b.factor = math::sample_factor(*b.family);
    if (!b.factor && is_bound(m[b.variable]))
      return fmt::format("the softmax of '{}' has a bound, and no variable to draw that makes it conjugate",
                         m[m[b.variable].auxiliary->host].name);
    if (!b.factor) return fmt::format("there are no draws of '{}', a {}", m[b.variable].name, b.family->name);
    if (std::string why = copied(m, c, b); !why.empty()) return why;
    b.drawn = true;
    b.point = false;
  }
  return c;
}

}  // namespace lehr::conditionals
