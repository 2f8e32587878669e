// Natural parameters in gather form: the indices of each use are solved for one element, and the results are added up.
//
// Example for an autoregression, the element x[t] in the term sum(t | t >= 1) a * x[t] * x[t-1]: the use x[t] gives a *
// x[t-1] where t >= 1, and the use x[t-1] gives a * x[t+1] where t + 1 is in range.
#include "compiler/conditionals/gather.h"

#include <algorithm>
#include <set>

#include "compiler/conditionals/chain_lag.h"
#include "compiler/model/walk.h"

namespace lehr::conditionals {
namespace {

using density::Algebra;
using density::IndexId;
using density::IndexVarId;
using density::Term;

/// Returns true if anything in the term mentions the index variable.
bool mentioned(const Algebra& a, const Term& t, IndexVarId b) {
  const auto in = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](auto i) { return a.mentions(i, b); });
  };
  if (a.mentions(t.coef, b)) return true;
  for (const density::Multiplicity& x : t.multiplicities) {
    if (a.mentions(x.count, b)) return true;
  }
  for (const density::Atom& x : t.atoms) {
    if (in(x.axes) || in(x.event)) return true;
  }
  for (const density::Guard& g : t.guards) {
    if (g.present ? in(g.element) : a.mentions(g.left, b) || a.mentions(g.right, b)) return true;
  }
  return std::any_of(t.index_vars.begin(), t.index_vars.end(),
                     [&](IndexVarId o) { return a[o].parent && a.mentions(*a[o].parent, b); });
}

/// Turns one use into a summand: it solves the indices of the atom for given index variables and removes the atom.
class Gatherer {
 public:
  /// Starts with a term and the position of the atom in it.
  Gatherer(Algebra& a, const model::Model& m, Term t, std::size_t atom) : a_(a), m_(m), atom_(atom) {
    summand_.term = std::move(t);
  }

  /// Solves axis x of the atom for `target`.
  void solve_axis(std::size_t x, IndexVarId target) {
    solve([&]() -> IndexId { return term().atoms[atom_].axes[x]; }, target);
  }
  /// Solves event index x of the atom for `target`.
  void solve_event(std::size_t x, IndexVarId target) { solve_event_of(atom_, x, target); }
  /// Solves event index x of another atom for `target`.
  void solve_event_of(std::size_t atom, std::size_t x, IndexVarId target) {
    solve([&]() -> IndexId { return term().atoms[atom].event[x]; }, target);
  }
  /// Removes another atom from the summand.
  void drop(std::size_t atom) {
    term().atoms.erase(term().atoms.begin() + static_cast<std::ptrdiff_t>(atom));
    if (atom < atom_) --atom_;
  }

  /// Removes the atom and returns the summand. Sums over index variables that nothing mentions become factors.
  Summand finish() {
    term().atoms.erase(term().atoms.begin() + static_cast<std::ptrdiff_t>(atom_));
    std::erase_if(term().guards, [&](const density::Guard& g) { return always_true(g); });
    count_unused_index_vars(a_, term());
    // The atoms are sorted, those with fewer summed index variables first, so that mirrored pairs become like terms.
    const auto summed = [&](const density::Atom& x) {
      std::set<IndexVarId> bounds;
      for (IndexId i : x.axes)
        a_.collect(i, bounds);
      return std::count_if(bounds.begin(), bounds.end(), [&](IndexVarId b) {
        return std::find(term().index_vars.begin(), term().index_vars.end(), b) != term().index_vars.end();
      });
    };
    std::stable_sort(term().atoms.begin(), term().atoms.end(), [&](const auto& l, const auto& r) {
      if (l.variable != r.variable) return l.variable < r.variable;
      return l.stat != r.stat ? l.stat < r.stat : summed(l) < summed(r);
    });
    return std::move(summand_);
  }

 private:
  /// Returns the term of the summand.
  Term& term() { return summand_.term; }

  /// Solves the index that `entry` returns for `target`: by substitution if it is an index variable of the term over
  /// the same plate, else by a guard. `entry` is called again after each change of the term.
  template <class Entry>
  void solve(Entry entry, IndexVarId target) {
    const IndexId wanted = a_.index(target);
    const auto* b = std::get_if<density::IndexVarRef>(&a_[entry()]);
    const bool own =
        b && std::find(term().index_vars.begin(), term().index_vars.end(), b->bound) != term().index_vars.end();
    if (own && m_[a_[b->bound].plate].set == m_[a_[target].plate].set) {
      const density::IndexVarRef solved = *b;
      const IndexId by = a_.index(target, -solved.offset);
      term() = density::substitute(a_, std::move(term()), solved.bound, by);
      if (solved.offset < 0) summand_.in_range = by;
    } else if (entry() != wanted) {
      term().guards.push_back({density::Relation::equal, entry(), wanted, std::nullopt, {}});
    }
  }

  /// Returns true for a guard like t + 1 >= 1.
  bool always_true(const density::Guard& g) const {
    if (g.present || g.relation != density::Relation::greater_equal) return false;
    const auto* l = std::get_if<density::IndexVarRef>(&a_[g.left]);
    const auto* r = std::get_if<density::IndexConstant>(&a_[g.right]);
    return l && r && l->offset >= r->value;
  }

  Algebra& a_;             // of the term
  const model::Model& m_;  // for the plates
  std::size_t atom_;       // the position of the atom
  Summand summand_;        // the result so far
};

/// Returns the summand with the two event indices of the element exchanged.
Summand swapped(Algebra& a, Summand s, const Element& e) {
  const IndexId first = a.index(e.event[0]), second = a.index(e.event[1]);
  const auto swap = [&](IndexId i) -> std::optional<IndexId> {
    if (i == first) return second;
    if (i == second) return first;
    return std::nullopt;
  };
  s.term.coef = a.substitute(s.term.coef, swap);
  for (density::Atom& x : s.term.atoms) {
    for (IndexId& i : x.axes)
      i = a.substitute(i, swap);
    for (IndexId& i : x.event)
      i = a.substitute(i, swap);
  }
  for (density::Guard& g : s.term.guards) {
    if (g.present) continue;
    g.left = a.substitute(g.left, swap);
    g.right = a.substitute(g.right, swap);
    if (g.relation == density::Relation::equal && g.right < g.left) std::swap(g.left, g.right);
  }
  return s;
}

/// Returns true if the summand is a coefficient alone.
bool is_constant(const Summand& s) {
  return s.term.index_vars.empty() && s.term.guards.empty() && s.term.atoms.empty() && s.term.multiplicities.empty();
}

/// Returns the sum of the summands, with constants added up and like terms merged.
Affine folded(Algebra& a, const model::Model& m, std::vector<Summand> summands) {
  Affine affine{a.number(0), {}, {}};
  std::map<std::optional<IndexId>, std::vector<Term>> by_range;
  for (Summand& s : summands) {
    if (!s.in_range && is_constant(s)) {
      affine.constant = a.add(affine.constant, s.term.coef);
      affine.constant_origins.push_back(s.term.origin);
    } else {
      by_range[s.in_range].push_back(std::move(s.term));
    }
  }
  for (auto& [in_range, terms] : by_range) {
    for (Term& t : density::merge_like_terms(a, m, std::move(terms)))
      affine.summands.push_back({std::move(t), in_range});
  }
  return affine;
}

/// Returns the atoms of other elements of the same chain in the term, by how many steps each is before this one.
std::map<std::int64_t, std::size_t> partners(const Algebra& a, const Term& t, std::size_t atom) {
  std::map<std::int64_t, std::size_t> out;
  for (std::size_t k = 0; k < t.atoms.size(); ++k) {
    if (k == atom || t.atoms[k].variable != t.atoms[atom].variable) continue;
    if (const auto lag = lag_between(a, t.atoms[k], t.atoms[atom])) out[*lag] = k;
  }
  return out;
}

/// Returns the natural parameter of each statistic that the uses of the block add up to at the element.
std::map<math::Stat, Affine> collected(Algebra& a, const model::Model& m, const Conditionals& c, const Block& b,
                                       const std::vector<Use>& uses, const Element& element) {
  std::map<math::Stat, std::vector<Summand>> summands_by_stat;
  for (const Use& u : uses) {
    Term t = c.density.terms[u.term];
    const math::Stat stat = t.atoms[u.atom].stat;
    const std::size_t rank = t.atoms[u.atom].event.size();
    std::erase_if(t.multiplicities, [&](const auto& x) { return density::has_factor_per_copy(m, b.variable, x); });
    Gatherer g(a, m, std::move(t), u.atom);
    for (std::size_t x = 0; x < element.axes.size(); ++x)
      g.solve_axis(x, element.axes[x]);
    for (std::size_t x = 0; x < rank; ++x)
      g.solve_event(x, element.event[x]);
    Summand s = g.finish();
    // A statistic with two event indices gets the symmetric part of its coefficient, half of each order, unless a guard
    // makes both indices equal.
    const bool diagonal = rank == 2 && std::any_of(s.term.guards.begin(), s.term.guards.end(), [&](const auto& x) {
                            return !x.present && x.relation == density::Relation::equal &&
                                   x.left == a.index(element.event[0]) && x.right == a.index(element.event[1]);
                          });
    if (rank == 2 && !diagonal) {
      s.term.coef = a.multiply(a.number(0.5), s.term.coef);
      summands_by_stat[stat].push_back(swapped(a, s, element));
    }
    summands_by_stat[stat].push_back(std::move(s));
  }
  std::map<math::Stat, Affine> out;
  for (auto& [stat, summands] : summands_by_stat)
    out[stat] = folded(a, m, std::move(summands));
  return out;
}

}  // namespace

void count_unused_index_vars(Algebra& a, Term& t) {
  for (std::size_t k = t.index_vars.size(); k-- > 0;) {
    const IndexVarId b = t.index_vars[k];
    if (mentioned(a, t, b)) continue;
    const std::optional<IndexId> row = a[b].parent;
    const model::PlateId plate = a[b].plate;
    t.index_vars.erase(t.index_vars.begin() + static_cast<std::ptrdiff_t>(k));
    t.coef = a.multiply(t.coef, a.coef(density::CoefExtent{plate, row}));
  }
}

std::size_t event_of_lag(const Block& b, std::int64_t lag) {
  return b.chain->factor == ChainFactor::categories ? static_cast<std::size_t>(lag) : 1;
}

Element generic_element(Algebra& a, const model::Model& m, const Block& b) {
  Element out;
  const model::Variable& v = m[b.variable];
  for (model::PlateId p : v.axes) {
    std::optional<IndexId> parent;
    if (m[p].parent && !out.axes.empty()) parent = a.index(out.axes.back());
    out.axes.push_back(a.bound({m[p].name, p, parent, false}));
  }
  std::vector<model::PlateId> event = v.event;
  // The statistic of a category has the value as its index.
  if (v.value_plate) event = {*v.value_plate};
  // A vector's statistics have up to two indices over its one axis; a chain of categories has one more for each lag.
  const std::int64_t more = v.value_plate && b.chain ? b.chain->max_lag : 1;
  if (event.size() == 1) event.insert(event.end(), static_cast<std::size_t>(more), event[0]);
  for (model::PlateId p : event) {
    std::string name = m[p].name;
    if (model::is_joint(v)) name = name.substr(0, name.find('('));  // "coordinate", without the members' names
    out.event.push_back(a.bound({std::move(name), p, std::nullopt, false}));
  }
  return out;
}

std::map<math::Stat, Affine> natural_parameters(Algebra& a, const model::Model& m, const Conditionals& c,
                                                const Block& b, const Element& element) {
  return collected(a, m, c, b, b.uses, element);
}

ChainPotentials chain_potentials(Algebra& a, const model::Model& m, const Conditionals& c, const Block& b,
                                 const Element& element) {
  std::vector<Use> alone;
  std::map<Lags, std::vector<Summand>> summands_by_lags;
  for (const Use& u : b.uses) {
    Term t = c.density.terms[u.term];
    const std::map<std::int64_t, std::size_t> others = partners(a, t, u.atom);
    if (others.empty()) {
      alone.push_back(u);
      continue;
    }
    if (others.begin()->first < 0) continue;  // the potential is written once, for the last element
    std::erase_if(t.multiplicities, [&](const auto& x) { return density::has_factor_per_copy(m, b.variable, x); });
    const std::size_t rank = t.atoms[u.atom].event.size();
    Gatherer g(a, m, std::move(t), u.atom);
    for (std::size_t x = 0; x < element.axes.size(); ++x)
      g.solve_axis(x, element.axes[x]);
    Lags lags;
    // Atoms are dropped from the back, so that the positions of the others stay right.
    std::set<std::size_t, std::greater<>> dropped;
    if (rank > 0) g.solve_event(0, element.event[0]);
    for (const auto& [lag, atom] : others) {
      if (rank > 0) g.solve_event_of(atom, 0, element.event[event_of_lag(b, lag)]);
      lags.push_back(lag);
      dropped.insert(atom);
    }
    for (const std::size_t atom : dropped)
      g.drop(atom);
    summands_by_lags[lags].push_back(g.finish());
  }
  ChainPotentials out{collected(a, m, c, b, alone, element), {}};
  for (auto& [lags, summands] : summands_by_lags)
    out.joint[lags] = folded(a, m, std::move(summands));
  return out;
}

}  // namespace lehr::conditionals
