// Like terms: terms that are equal up to their coefficients and the names of their index variables.
//
// Each term gets a text key from its atoms, index variables and guards, with the index variables numbered in order of
// appearance. Terms with one key are added up. A symmetric statistic (x_j x_l) is tried in both orders of its indices,
// and the smallest key counts, so mirrored terms meet.
#include <algorithm>
#include <map>

#include "compiler/density/poly.h"
#include "compiler/support/overloaded.h"

namespace lehr::density {
namespace {

/// The number of each index variable of a term, in order of appearance.
using Numbering = std::map<IndexVarId, int>;

/// Writes the key of one term. Index variables of the term are written as their numbers, free ones by id.
class KeyBuilder {
 public:
  KeyBuilder(const Algebra& a, const Term& t) : a_(a), bounds_(t.index_vars.begin(), t.index_vars.end()) {}

  /// Appends an index expression to the key.
  void index(IndexId i) {
    std::visit(Overloaded{[&](const IndexVarRef& b) {
                            if (!bounds_.contains(b.bound)) {
                              key += 'f' + std::to_string(b.bound.value);
                            } else {
                              key += 'b' + std::to_string(number(b.bound));
                            }
                            key += '+' + std::to_string(b.offset) + ';';
                          },
                          [&](const IndexConstant& c) { key += 'c' + std::to_string(c.value) + ';'; },
                          [&](const IndexLookup& l) {
                            key += l.source.index() == 0 ? 'g' : 'o';
                            std::visit([&](auto id) { key += std::to_string(id.value); }, l.source);
                            key += '(';
                            for (IndexId k : l.indices)
                              index(k);
                            key += ')';
                          },
                          [&](const IndexCoordinate& c) {
                            key += 'j' + std::to_string(c.joint.value) + '.' + std::to_string(c.member) + '(';
                            for (IndexId k : c.indices)
                              index(k);
                            key += ')';
                          }},
               a_[i]);
  }

  /// Returns the number of an index variable. The first occurrence also appends its plate to the key.
  int number(IndexVarId b) {
    auto [it, inserted] = numbering.try_emplace(b, static_cast<int>(numbering.size()));
    if (inserted) key += 'p' + std::to_string(a_[b].plate.value) + '=';
    return it->second;
  }

  /// The key so far.
  std::string key;
  /// The numbers given so far.
  Numbering numbering;

 private:
  const Algebra& a_;
  std::set<IndexVarId> bounds_;
};

/// Returns true if the statistic is symmetric in its two event indices.
bool symmetric(const Atom& atom) {
  return atom.event.size() == 2 && (atom.stat == math::Stat::comp2 || atom.stat == math::Stat::entry ||
                                    atom.stat == math::Stat::inverse_entry || atom.stat == math::Stat::weighted2);
}

/// Returns the part of an atom by which atoms are ordered first: variable, statistic and opaque function.
std::string sort_key(const Atom& atom) {
  return std::to_string(atom.variable.value) + '/' + std::to_string(static_cast<int>(atom.stat)) + '/' +
         atom.opaque.text;
}

/// Returns the key of the term with its atoms in the given order, and the numbers of its index variables.
std::pair<std::string, Numbering> key_of(const Algebra& a, const Term& t, const std::vector<Atom>& atoms) {
  KeyBuilder k(a, t);
  for (const Atom& atom : atoms) {
    k.key += 'A' + sort_key(atom) + '[';
    for (IndexId i : atom.axes)
      k.index(i);
    k.key += '|';
    for (IndexId i : atom.event)
      k.index(i);
    k.key += ']';
  }
  // Index variables that no atom mentions are numbered by plate.
  std::vector<IndexVarId> rest;
  for (IndexVarId b : t.index_vars) {
    if (!k.numbering.contains(b)) rest.push_back(b);
  }
  std::stable_sort(rest.begin(), rest.end(), [&](IndexVarId x, IndexVarId y) { return a[x].plate < a[y].plate; });
  for (IndexVarId b : rest)
    k.number(b);
  // Guards are written after all numbers are known, and sorted, so their order does not count.
  std::vector<std::string> guards;
  for (const Guard& g : t.guards) {
    KeyBuilder part(a, t);
    part.numbering = k.numbering;
    part.key = g.present ? 'P' + std::to_string(g.present->value) : 'R' + std::to_string(static_cast<int>(g.relation));
    if (g.present) {
      for (IndexId i : g.element)
        part.index(i);
    } else {
      KeyBuilder l = part, r = part;
      l.key.clear();
      r.key.clear();
      l.index(g.left);
      r.index(g.right);
      const bool swap = (g.relation == Relation::equal || g.relation == Relation::not_equal) && r.key < l.key;
      part.key += swap ? r.key + l.key : l.key + r.key;
    }
    guards.push_back(part.key);
  }
  std::sort(guards.begin(), guards.end());
  for (const std::string& g : guards)
    k.key += g;
  for (const Multiplicity& m : t.multiplicities)
    k.key += (m.owner.index() == 0 ? 'M' : 'V') + std::visit([](auto id) { return std::to_string(id.value); }, m.owner);
  return {k.key, k.numbering};
}

/// The smallest key of a term, and the numbers of its index variables in it.
struct Canonical {
  std::string key;
  Numbering numbering;
};

/// Returns the part of an atom's indices that does not depend on names of index variables. It orders the atoms of one
/// variable: x[t-1] comes before x[t].
std::string shape(const Algebra& a, const Term& t, const Atom& atom) {
  std::string out;
  const auto add = [&](IndexId i) {
    const auto* b = std::get_if<IndexVarRef>(&a[i]);
    if (!b) {
      out += std::holds_alternative<IndexConstant>(a[i]) ? 'c' : 'l';
      return;
    }
    const bool own = std::find(t.index_vars.begin(), t.index_vars.end(), b->bound) != t.index_vars.end();
    out += (own ? "b" : 'f' + std::to_string(b->bound.value)) + '+' + std::to_string(b->offset) + ';';
  };
  for (IndexId i : atom.axes)
    add(i);
  for (IndexId i : atom.event)
    add(i);
  return out;
}

/// Returns the smallest key over both orders of each symmetric statistic.
Canonical canonical(const Algebra& a, const Term& t) {
  std::vector<std::pair<std::pair<std::string, std::string>, const Atom*>> keyed;
  for (const Atom& x : t.atoms)
    keyed.push_back({{sort_key(x), shape(a, t, x)}, &x});
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<Atom> atoms;
  for (const auto& [key, x] : keyed)
    atoms.push_back(*x);
  std::vector<std::size_t> flips;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    if (symmetric(atoms[i])) flips.push_back(i);
  }
  Canonical best;
  // At most four statistics are tried in both orders, sixteen keys; terms with more may miss a like term, which costs
  // time only.
  const std::size_t variants = std::size_t{1} << std::min<std::size_t>(flips.size(), 4);
  for (std::size_t mask = 0; mask < variants; ++mask) {
    std::vector<Atom> flipped = atoms;
    for (std::size_t f = 0; f < flips.size() && f < 4; ++f) {
      if (mask >> f & 1) std::swap(flipped[flips[f]].event[0], flipped[flips[f]].event[1]);
    }
    auto [key, numbering] = key_of(a, t, flipped);
    if (best.key.empty() || key < best.key) best = {std::move(key), std::move(numbering)};
  }
  return best;
}

}  // namespace

std::string index_key(const Algebra& a, const Term& t, const std::vector<std::vector<IndexId>>& lists) {
  KeyBuilder k(a, t);
  for (const std::vector<IndexId>& list : lists) {
    for (const IndexId i : list)
      k.index(i);
    k.key += '|';
  }
  return k.key;
}

std::vector<Term> merge_like_terms(Algebra& a, const model::Model& m, std::vector<Term> terms) {
  (void)m;
  std::vector<Term> out;
  std::vector<Numbering> numberings;
  std::map<std::pair<std::size_t, std::string>, std::size_t> seen;
  for (Term& t : terms) {
    Canonical c = canonical(a, t);
    auto [it, inserted] = seen.try_emplace({t.origin, c.key}, out.size());
    if (inserted) {
      out.push_back(std::move(t));
      numberings.push_back(std::move(c.numbering));
      continue;
    }
    Term& into = out[it->second];
    // The coefficient of this term is rewritten in the index variables of the term that it is added to.
    std::map<IndexVarId, IndexVarId> renaming;
    for (const auto& [mine, number] : c.numbering) {
      for (const auto& [theirs, n] : numberings[it->second]) {
        if (n == number) renaming[mine] = theirs;
      }
    }
    const auto s = [&](IndexId i) -> std::optional<IndexId> {
      const auto* b = std::get_if<IndexVarRef>(&a[i]);
      if (!b || !renaming.contains(b->bound)) return std::nullopt;
      return a.index(renaming.at(b->bound), b->offset);
    };
    into.coef = a.add(into.coef, a.substitute(t.coef, s));
  }
  std::erase_if(out, [&](const Term& t) { return a.literal(t.coef) == 0.0; });
  return out;
}

}  // namespace lehr::density
