// The normal form of a term (density.h).
//
// Four rewriting steps are repeated until none applies. Guards that are equalities are substituted or decided. An
// indicator whose value nothing else reads is dropped, since the indicators of all values sum to 1. Two atoms of one
// element are merged into one statistic. If two atoms of one variable may or may not belong to one element, the term is
// split into both cases:
//     sum(i, j) x[i] * x[j]   ->   sum(i) x[i]^2   +   sum(i, j | i != j) x[i] * x[j]
// It terminates, because every split decides one axis of one pair of atoms.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "compiler/density/poly.h"
#include "compiler/density/print_density.h"
#include "compiler/support/overloaded.h"

namespace lehr::density {
namespace {

using math::Stat;

/// Returns an index as an index variable with an offset, so that `t` can be compared with `t-1`; nothing for other
/// indices.
std::optional<IndexVarRef> as_bound(const Algebra& a, IndexId i) {
  if (const auto* b = std::get_if<IndexVarRef>(&a[i])) return *b;
  return std::nullopt;
}

/// Returns true if the indices `l` and `r` certainly differ in the term: by a guard, as constants or by their offsets.
bool differ(const Algebra& a, const Term& t, IndexId l, IndexId r) {
  for (const Guard& g : t.guards) {
    if (g.present || (g.relation != Relation::not_equal && g.relation != Relation::less)) continue;
    if ((g.left == l && g.right == r) || (g.left == r && g.right == l)) return true;
  }
  const auto* cl = std::get_if<IndexConstant>(&a[l]);
  const auto* cr = std::get_if<IndexConstant>(&a[r]);
  if (cl && cr) return cl->value != cr->value;
  const auto bl = as_bound(a, l), br = as_bound(a, r);
  return bl && br && bl->bound == br->bound && bl->offset != br->offset;
}

/// Returns true if anything in the term mentions the index variable `b` besides the event indices of the atom `except`.
bool used_elsewhere(const Algebra& a, const Term& t, IndexVarId b, const Atom* except) {
  if (a.mentions(t.coef, b)) return true;
  for (const Multiplicity& m : t.multiplicities) {
    if (a.mentions(m.count, b)) return true;
  }
  for (const Guard& g : t.guards) {
    if (g.present) {
      for (IndexId i : g.element) {
        if (a.mentions(i, b)) return true;
      }
    } else if (a.mentions(g.left, b) || a.mentions(g.right, b)) {
      return true;
    }
  }
  for (IndexVarId other : t.index_vars) {
    if (a[other].parent && a.mentions(*a[other].parent, b)) return true;
  }
  for (const Atom& atom : t.atoms) {
    for (IndexId i : atom.axes) {
      if (a.mentions(i, b)) return true;
    }
    if (&atom == except) continue;
    for (IndexId i : atom.event) {
      if (a.mentions(i, b)) return true;
    }
  }
  return false;
}

/// Returns true if the plate has elements that `than` does not have: a stick-breaking plate has one more than its
/// sticks.
bool has_more_elements(const model::Model& m, model::PlateId plate, model::PlateId than) {
  return std::ranges::any_of(m.plates, [&](const model::Plate& p) {
    return p.stick && m[p.set].set == m[plate].set &&
           (m[*p.stick].set == m[than].set || has_more_elements(m, *p.stick, than));
  });
}

/// Returns the plate that an index expression is an element of; nothing for constants and coordinates.
std::optional<model::PlateId> plate_of(const Algebra& a, const model::Model& m, IndexId e) {
  if (const auto bound = as_bound(a, e)) return a[bound->bound].plate;
  const auto* lookup = std::get_if<IndexLookup>(&a[e]);
  if (!lookup) return std::nullopt;
  return std::visit([&](auto source) { return m[source].value_plate; }, lookup->source);
}

/// Returns true if every element that `e` can be is one that the plate of `b` has. Only then does b := e lose no
/// summand.
bool ranges_over(const Algebra& a, const model::Model& m, IndexVarId b, IndexId e) {
  const std::optional<model::PlateId> plate = plate_of(a, m, e);
  return !plate || !has_more_elements(m, *plate, a[b].plate);
}

/// Returns true if the guard `bound = by` can be solved by substitution, and sets `replaced` to the index variable that
/// is replaced. It must be summed in the term, have no offset and no parent, and not occur in `by`. If `by` is looked
/// up in data, the variable must not occur with an offset elsewhere: there is no index for from[e] - 1.
bool can_replace(Algebra& a, const model::Model& m, const Term& t, IndexId bound, IndexId by, IndexVarId& replaced) {
  const auto b = as_bound(a, bound);
  if (!b || b->offset != 0 || a[b->bound].parent || a.mentions(by, b->bound)) return false;
  if (std::find(t.index_vars.begin(), t.index_vars.end(), b->bound) == t.index_vars.end()) return false;
  const auto other = as_bound(a, by);
  if (other && (other->offset != 0 || a[other->bound].parent)) return false;
  if (!ranges_over(a, m, b->bound, by)) return false;
  const bool takes_offset = other || std::holds_alternative<IndexConstant>(a[by]);
  if (!takes_offset && mentions_with_offset(a, t, b->bound)) return false;
  replaced = b->bound;
  return true;
}

/// The result of one rewriting step: nothing to do, the term has changed, or the term is 0.
enum class Step { none, changed, zero };

/// Simplifies one guard: removes a repeated or decided one, substitutes an equality, or rewrites the atoms by it.
Step guards(Algebra& a, const model::Model& m, Term& t) {
  for (std::size_t k = 0; k < t.guards.size(); ++k) {
    const Guard g = t.guards[k];
    if (std::find(t.guards.begin(), t.guards.begin() + static_cast<std::ptrdiff_t>(k), g) !=
        t.guards.begin() + static_cast<std::ptrdiff_t>(k)) {
      t.guards.erase(t.guards.begin() + static_cast<std::ptrdiff_t>(k));
      return Step::changed;
    }
    if (g.present) continue;
    const auto* cl = std::get_if<IndexConstant>(&a[g.left]);
    const auto* cr = std::get_if<IndexConstant>(&a[g.right]);
    // Whether the guard is true, where that can be decided without the data.
    std::optional<bool> holds;
    if (cl && cr) {
      switch (g.relation) {
        case Relation::equal:
          holds = cl->value == cr->value;
          break;
        case Relation::not_equal:
          holds = cl->value != cr->value;
          break;
        case Relation::less:
          holds = cl->value < cr->value;
          break;
        case Relation::greater_equal:
          holds = cl->value >= cr->value;
          break;
      }
    } else if (g.left == g.right) {
      holds = g.relation == Relation::equal || g.relation == Relation::greater_equal;
    } else if (g.relation == Relation::equal) {
      Term rest = t;
      rest.guards.erase(rest.guards.begin() + static_cast<std::ptrdiff_t>(k));
      if (differ(a, rest, g.left, g.right)) holds = false;
    }
    if (holds) {
      if (!*holds) return Step::zero;
      t.guards.erase(t.guards.begin() + static_cast<std::ptrdiff_t>(k));
      return Step::changed;
    }
    if (g.relation != Relation::equal) continue;
    IndexVarId b;
    IndexId by = g.right;
    bool ok = can_replace(a, m, t, g.left, g.right, b);
    IndexVarId right_var;
    const bool swapped = can_replace(a, m, t, g.right, g.left, right_var);
    // A selector is replaced rather than an index variable of the statement, whose own plates stay.
    if (swapped && (!ok || (!a[b].selector && a[right_var].selector))) {
      ok = true;
      b = right_var;
      by = g.left;
    }
    if (ok) {
      t.guards.erase(t.guards.begin() + static_cast<std::ptrdiff_t>(k));
      t = substitute(a, std::move(t), b, by);
      return Step::changed;
    }
    // An equality that cannot be substituted stays. The atoms are rewritten to mention one side only, so that equal
    // elements are recognised.
    IndexId keep = std::min(g.left, g.right), drop = std::max(g.left, g.right);
    // If one side has elements that the other does not have, the atoms must name the side that exists for both.
    if (const auto x = as_bound(a, drop); x && x->offset == 0 && !ranges_over(a, m, x->bound, keep))
      std::swap(keep, drop);
    bool rewrote = false;
    const auto s = [&](IndexId i) -> std::optional<IndexId> {
      if (i != drop) return std::nullopt;
      rewrote = true;
      return keep;
    };
    for (Atom& atom : t.atoms) {
      for (IndexId& i : atom.axes)
        i = a.substitute(i, s);
      for (IndexId& i : atom.event)
        i = a.substitute(i, s);
    }
    if (rewrote) return Step::changed;
  }
  return Step::none;
}

/// Drops sum_k [z = k] if nothing else mentions k, because the indicators of all values sum to 1.
Step drop_unused_selector(const Algebra& a, const model::Model& m, Term& t) {
  for (std::size_t k = 0; k < t.atoms.size(); ++k) {
    const Atom& atom = t.atoms[k];
    if (atom.stat != Stat::indicator || !atom.opaque.empty()) continue;
    const auto b = as_bound(a, atom.event[0]);
    if (!b || b->offset != 0 || std::find(t.index_vars.begin(), t.index_vars.end(), b->bound) == t.index_vars.end())
      continue;
    if (used_elsewhere(a, t, b->bound, &atom)) continue;
    const auto& values = m[atom.variable].value_plate;
    // The sum must cover all values of the category.
    if (values && has_more_elements(m, *values, a[b->bound].plate)) continue;
    std::erase(t.index_vars, b->bound);
    t.atoms.erase(t.atoms.begin() + static_cast<std::ptrdiff_t>(k));
    return Step::changed;
  }
  return Step::none;
}

/// Returns the exponent if the atom is a power of its variable: 1 for x, 2 for x^2. Returns 0 for other functions.
int degree(const Atom& x) {
  if (!x.opaque.empty()) return x.opaque.functions.empty() ? x.opaque.power : 0;
  return x.stat == Stat::value ? 1 : x.stat == Stat::square ? 2 : 0;
}

/// Returns the statistic that is that power of a positive variable; nothing for 0 and for powers that no family has.
std::optional<Stat> power_of_positive(int degree) {
  constexpr std::pair<int, Stat> kPowers[] = {
      {1, Stat::value}, {2, Stat::square}, {-1, Stat::inverse}, {-2, Stat::inverse_square}};
  for (const auto& [power, stat] : kPowers) {
    if (power == degree) return stat;
  }
  return std::nullopt;
}

/// Returns the exponent of a statistic that is a power of a positive variable, or 0 for other statistics.
int positive_degree(Stat s) {
  for (const int d : {1, 2, -1, -2}) {
    if (power_of_positive(d) == s) return d;
  }
  return 0;
}

/// Merges two statistics of a category z with a number x that it switches. Both are of one value of z, so a guard makes
/// the values equal; x may be squared at most. Returns false if there is no such statistic. Two indicators are merged
/// before.
bool merge_switched(Term& t, Atom& out, const Atom& l, const Atom& r) {
  const auto power = [](const Atom& x) {
    return x.stat == Stat::switched ? 1 : x.stat == Stat::switched_square ? 2 : 0;
  };
  const int both = power(l) + power(r);
  if (both > 2) return false;
  out.stat = both == 1 ? Stat::switched : Stat::switched_square;
  t.guards.push_back({Relation::equal, l.event[0], r.event[0], std::nullopt, {}});
  return true;
}

/// Merges two statistics of a vector with the precision that scales it: the precision may occur once, and the vector's
/// numbers twice. Returns false if there is no such statistic.
bool merge_scaled(Atom& out, const Atom& l, const Atom& r) {
  constexpr Stat kProducts[2][3] = {{Stat::value, Stat::comp, Stat::comp2},
                                    {Stat::value, Stat::weighted, Stat::weighted2}};
  const auto scales = [](const Atom& x) {
    return x.stat == Stat::value || x.stat == Stat::weighted || x.stat == Stat::weighted2;
  };
  const auto is_mergeable = [&](const Atom& x) { return scales(x) || x.stat == Stat::comp || x.stat == Stat::comp2; };
  const std::size_t entries = l.event.size() + r.event.size();
  if (!is_mergeable(l) || !is_mergeable(r) || (scales(l) && scales(r)) || entries > 2) return false;
  out.stat = kProducts[scales(l) || scales(r)][entries];
  out.event = l.event;
  out.event.insert(out.event.end(), r.event.begin(), r.event.end());
  return true;
}

/// Replaces the atoms i and j, two statistics of one element, by their product. If no family has the product as a
/// statistic, the atom becomes opaque.
void merge_pair(const model::Model& m, Term& t, std::size_t i, std::size_t j) {
  const Atom l = t.atoms[i], r = t.atoms[j];
  t.atoms.erase(t.atoms.begin() + static_cast<std::ptrdiff_t>(j));
  Atom& out = t.atoms[i];
  const auto is = [&](Stat x, Stat y) { return (l.stat == x && r.stat == y) || (l.stat == y && r.stat == x); };
  const math::Support support = m[l.variable].support;
  if (l.opaque.empty() && r.opaque.empty()) {
    if (is(Stat::indicator, Stat::indicator)) {
      t.guards.push_back({Relation::equal, l.event[0], r.event[0], std::nullopt, {}});
      return;
    }
    if (support == math::Support::scaled && merge_scaled(out, l, r)) return;
    if (is(Stat::complement, Stat::complement)) return;
    if (is(Stat::value, Stat::value)) {
      // A bit is its own square; the square of a spin is 1.
      if (support == math::Support::bit) return;
      if (support == math::Support::spin) {
        t.atoms.erase(t.atoms.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
      out.stat = Stat::square;
      return;
    }
    if (is(Stat::value, Stat::inverse)) {
      t.atoms.erase(t.atoms.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (const int a = positive_degree(l.stat), b = positive_degree(r.stat);
        support == math::Support::positive && a != 0 && b != 0) {
      if (a + b == 0) {
        t.atoms.erase(t.atoms.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
      if (const auto stat = power_of_positive(a + b)) {
        out.stat = *stat;
        return;
      }
    }
    if (is(Stat::value, Stat::log) && support == math::Support::positive &&
        std::ranges::find(m.guide.point, l.variable) != m.guide.point.end()) {
      out.stat = Stat::value_log;
      return;
    }
    if (support == math::Support::switched && merge_switched(t, out, l, r)) return;
    if (is(Stat::comp, Stat::comp) && (support == math::Support::vector || support == math::Support::sparse)) {
      out.stat = Stat::comp2;
      out.event = {l.event[0], r.event[0]};
      return;
    }
  }
  // No family has this product as a statistic.
  const int power = degree(l) > 0 && degree(r) > 0 ? degree(l) + degree(r) : 0;
  out.opaque = {power > 0 ? fmt::format("{}^{}", m[l.variable].name, power)
                          : print_statistic(m, l) + " * " + print_statistic(m, r),
                power,
                power == 0,
                {}};
}

/// Returns true for x and 1 - x of one bit, whose product is 0.
bool excludes(const Atom& l, const Atom& r) {
  return l.opaque.empty() && r.opaque.empty() &&
         ((l.stat == Stat::value && r.stat == Stat::complement) ||
          (l.stat == Stat::complement && r.stat == Stat::value));
}

/// Merges the first pair of atoms that certainly belong to one element.
Step merge_atoms(const model::Model& m, Term& t) {
  for (std::size_t i = 0; i < t.atoms.size(); ++i) {
    for (std::size_t j = i + 1; j < t.atoms.size(); ++j) {
      if (t.atoms[i].variable == t.atoms[j].variable && t.atoms[i].axes == t.atoms[j].axes) {
        if (excludes(t.atoms[i], t.atoms[j])) return Step::zero;
        merge_pair(m, t, i, j);
        return Step::changed;
      }
    }
  }
  return Step::none;
}

/// Splits the term at the first pair of atoms of one variable that may or may not belong to one element. It returns the
/// case in which their first undecided axis agrees; `t` becomes the case in which it does not. Returns nothing if all
/// pairs are decided.
std::optional<Term> split(const Algebra& a, Term& t) {
  for (std::size_t i = 0; i < t.atoms.size(); ++i) {
    for (std::size_t j = i + 1; j < t.atoms.size(); ++j) {
      const Atom &l = t.atoms[i], &r = t.atoms[j];
      if (l.variable != r.variable) continue;
      std::optional<std::size_t> axis;
      bool distinct = false;
      for (std::size_t x = 0; x < l.axes.size() && !distinct; ++x) {
        if (l.axes[x] == r.axes[x]) continue;
        if (differ(a, t, l.axes[x], r.axes[x])) distinct = true;
        else if (!axis) axis = x;
      }
      if (distinct || !axis) continue;
      Term equal = t;
      const Guard g{Relation::equal, l.axes[*axis], r.axes[*axis], std::nullopt, {}};
      equal.guards.push_back(g);
      Guard unequal = g;
      unequal.relation = Relation::not_equal;
      t.guards.push_back(unequal);
      return equal;
    }
  }
  return std::nullopt;
}

}  // namespace

bool has_factor_per_copy(const model::Model& m, model::VariableId v, const Multiplicity& x) {
  if (const auto* owner = std::get_if<model::VariableId>(&x.owner)) return *owner == v || m[*owner].joint == v;
  const model::PlateId copies = m[std::get<model::PlateId>(x.owner)].set;
  return std::any_of(m[v].axes.begin(), m[v].axes.end(), [&](model::PlateId p) { return m[p].set == copies; });
}

bool certainly_different(const Density& d, const Term& t, IndexId l, IndexId r) { return differ(d.algebra, t, l, r); }

std::vector<Term> normalise(Algebra& a, const model::Model& m, Term term) {
  std::vector<Term> out;
  std::deque<Term> work{std::move(term)};
  std::size_t total = 0;
  while (!work.empty() && total <= kMaxTerms) {
    Term t = std::move(work.front());
    work.pop_front();
    bool zero = a.literal(t.coef) == 0.0;
    while (!zero) {
      // The cheap steps come first, and splitting last: each of them may decide a pair.
      Step s = guards(a, m, t);
      if (s == Step::none) s = drop_unused_selector(a, m, t);
      if (s == Step::none) s = merge_atoms(m, t);
      if (s == Step::zero) zero = true;
      if (s != Step::none) continue;
      std::optional<Term> equal = split(a, t);
      if (!equal) break;
      work.push_back(std::move(*equal));
    }
    total += weight(t);
    if (!zero) out.push_back(std::move(t));
  }
  return out;
}

}  // namespace lehr::density
