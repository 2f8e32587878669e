// Arithmetic of polynomials: sums, products, renaming and substitution of index variables in whole terms.
//
// Products rename index variables that clash, so a square of a sum has two independent sums. Nested index variables
// (whose parent is another index) follow every change of their parent.
#include "compiler/density/poly.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lehr::density {
namespace {

/// Returns the term with `s` applied to its coefficient, multiplicities, atoms and guards. The list of its index
/// variables stays.
Term apply(Algebra& a, Term t, const Algebra::Substitution& s) {
  t.coef = a.substitute(t.coef, s);
  for (Multiplicity& m : t.multiplicities)
    m.count = a.substitute(m.count, s);
  for (Atom& atom : t.atoms) {
    for (IndexId& i : atom.axes)
      i = a.substitute(i, s);
    for (IndexId& i : atom.event)
      i = a.substitute(i, s);
  }
  for (Guard& g : t.guards) {
    if (g.present) {
      for (IndexId& i : g.element)
        i = a.substitute(i, s);
    } else {
      g.left = a.substitute(g.left, s);
      g.right = a.substitute(g.right, s);
    }
  }
  return t;
}

/// Returns the term with a fresh index variable in place of each whose parent changes under `s`, everywhere in the
/// term. Example: with d := e, the sum over tokens of d becomes one over tokens of e.
Term follow_parents(Algebra& a, Term t, const Algebra::Substitution& s) {
  for (std::size_t k = 0; k < t.index_vars.size(); ++k) {
    const IndexVarId b = t.index_vars[k];
    const std::optional<IndexId> parent = a[b].parent;
    if (!parent) continue;
    const IndexId moved = a.substitute(*parent, s);
    if (moved == *parent) continue;
    const IndexVarId fresh = a.fresh_like(b, moved);
    t.index_vars[k] = fresh;
    const auto to_fresh = a.replace(b, a.index(fresh));
    t = apply(a, std::move(t), to_fresh);
    t = follow_parents(a, std::move(t), to_fresh);
  }
  return t;
}

}  // namespace

Poly constant(CoefId c) { return {Term{c, {}, {}, {}, {}, 0}}; }
Poly constant(Algebra& a, double v) { return v == 0 ? Poly{} : constant(a.number(v)); }

Poly add(Poly a, const Poly& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Poly scale(Algebra& a, CoefId c, Poly p) {
  for (Term& t : p)
    t.coef = a.multiply(c, t.coef);
  std::erase_if(p, [&](const Term& t) { return a.literal(t.coef) == 0.0; });
  return p;
}

Term substitute(Algebra& a, Term t, IndexVarId b, IndexId by) {
  std::erase(t.index_vars, b);
  const auto s = a.replace(b, by);
  t = apply(a, std::move(t), s);
  return follow_parents(a, std::move(t), s);
}

bool mentions_with_offset(Algebra& a, const Term& t, IndexVarId b) {
  bool found = false;
  const Algebra::Substitution look = [&](IndexId i) -> std::optional<IndexId> {
    const auto* ref = std::get_if<IndexVarRef>(&a[i]);
    found = found || (ref && ref->bound == b && ref->offset != 0);
    return std::nullopt;
  };
  follow_parents(a, apply(a, t, look), look);
  return found;
}

Term rename_index_vars(Algebra& a, Term t) {
  // Parents stand before their children. Renaming a parent gives its children fresh names, which are renamed once more
  // when the loop reaches them.
  for (std::size_t k = 0; k < t.index_vars.size(); ++k) {
    const IndexVarId b = t.index_vars[k];
    const IndexVarId fresh = a.fresh_like(b, a[b].parent);
    t.index_vars[k] = fresh;
    const auto s = a.replace(b, a.index(fresh));
    t = follow_parents(a, apply(a, std::move(t), s), s);
  }
  return t;
}

Poly multiply(Algebra& a, const Poly& p, const Poly& q) {
  Poly out;
  for (const Term& l : p) {
    for (const Term& right : q) {
      const bool clash = std::any_of(right.index_vars.begin(), right.index_vars.end(), [&](IndexVarId b) {
        return std::find(l.index_vars.begin(), l.index_vars.end(), b) != l.index_vars.end();
      });
      const Term r = clash ? rename_index_vars(a, right) : right;
      Term t = l;
      t.coef = a.multiply(l.coef, r.coef);
      if (a.literal(t.coef) == 0.0) continue;
      t.multiplicities.insert(t.multiplicities.end(), r.multiplicities.begin(), r.multiplicities.end());
      t.atoms.insert(t.atoms.end(), r.atoms.begin(), r.atoms.end());
      t.index_vars.insert(t.index_vars.end(), r.index_vars.begin(), r.index_vars.end());
      t.guards.insert(t.guards.end(), r.guards.begin(), r.guards.end());
      out.push_back(std::move(t));
    }
  }
  return out;
}

Poly with_index_var(Poly p, IndexVarId b) {
  for (Term& t : p)
    t.index_vars.push_back(b);
  return p;
}

Poly with_guard(Poly p, const Guard& g) {
  for (Term& t : p)
    t.guards.push_back(g);
  return p;
}

std::optional<CoefId> as_coefficient(Algebra& a, const model::Model& m, const Poly& p) {
  std::vector<CoefId> summands;
  for (const Term& raw : p) {
    for (const Term& t : normalise(a, m, raw)) {
      if (!t.atoms.empty() || !t.guards.empty() || !t.multiplicities.empty()) return std::nullopt;
      CoefId c = t.coef;
      // From the inside outwards: children stand behind their parents.
      for (auto b = t.index_vars.rbegin(); b != t.index_vars.rend(); ++b)
        c = a.coef(CoefSum{*b, c});
      summands.push_back(c);
    }
  }
  return a.add(summands);
}

Poly compacted(Algebra& a, const model::Model& m, const Poly& p) {
  const auto is_data = [](const Term& t) { return t.atoms.empty() && t.guards.empty() && t.multiplicities.empty(); };
  Poly data, out;
  std::copy_if(p.begin(), p.end(), std::back_inserter(data), is_data);
  const std::optional<CoefId> data_sum = as_coefficient(a, m, data);
  // The sum of all data takes the position of the first data term, so the order of the others stays.
  bool first = true;
  for (const Term& t : p) {
    if (!data_sum || !is_data(t)) out.push_back(t);
    else if (std::exchange(first, false)) out.push_back(constant(*data_sum)[0]);
  }
  return merge_like_terms(a, m, std::move(out));
}

void collect(const Algebra& a, const Atom& x, std::set<IndexVarId>& out) {
  for (IndexId i : x.axes)
    a.collect(i, out);
  for (IndexId i : x.event)
    a.collect(i, out);
}

void collect(const Algebra& a, const Guard& g, std::set<IndexVarId>& out) {
  for (IndexId i : g.element)
    a.collect(i, out);
  if (g.present) return;
  a.collect(g.left, out);
  a.collect(g.right, out);
}

}  // namespace lehr::density
