// Joint blocks of a mean m and its precision: products of their statistics at one element become statistics of
// NormalGamma (precision t) or NormalWishart (matrix L). Index variables that occur in these two atoms alone are summed
// inside the statistic:
//     t m -> weighted,   t m^2 -> weighted_square,   sum_l L_jl m_l -> (L m)_j,   sum_jl L_jl m_j m_l -> m' L m
#include <algorithm>

#include "compiler/conditionals/conditionals.h"
#include "compiler/density/poly.h"

namespace lehr::conditionals {
namespace {

using density::Atom;
using density::IndexId;
using density::IndexVarId;
using density::Term;
using math::Stat;

/// Returns the index variable that `i` is, if it is summed in the term and nothing but the event indices of the atoms
/// `x` and `y` mentions it. Returns nothing otherwise.
std::optional<IndexVarId> private_index_var(const density::Algebra& a, const Term& t, IndexId i, std::size_t x,
                                            std::size_t y) {
  const auto* b = std::get_if<density::IndexVarRef>(&a[i]);
  if (!b || b->offset != 0 || std::find(t.index_vars.begin(), t.index_vars.end(), b->bound) == t.index_vars.end())
    return std::nullopt;
  if (a.mentions(t.coef, b->bound)) return std::nullopt;
  for (const density::Guard& g : t.guards) {
    if (!g.present && (a.mentions(g.left, b->bound) || a.mentions(g.right, b->bound))) return std::nullopt;
  }
  for (std::size_t k = 0; k < t.atoms.size(); ++k) {
    if (k == x || k == y) continue;
    for (IndexId e : t.atoms[k].event) {
      if (a.mentions(e, b->bound)) return std::nullopt;
    }
    for (IndexId e : t.atoms[k].axes) {
      if (a.mentions(e, b->bound)) return std::nullopt;
    }
  }
  return b->bound;
}

/// Replaces atom p of the precision and atom q of the mean, both of one element, by one atom. Returns false if the
/// product is no joint statistic.
bool contract(const density::Algebra& a, Term& t, std::size_t p, std::size_t q) {
  Atom& precision = t.atoms[p];
  const Atom mean = t.atoms[q];
  if (!precision.opaque.empty() || !mean.opaque.empty()) return false;
  if (precision.stat == Stat::value && mean.stat == Stat::value) {
    precision.stat = Stat::weighted;
  } else if (precision.stat == Stat::value && mean.stat == Stat::square) {
    precision.stat = Stat::weighted_square;
  } else if (precision.stat == Stat::entry && mean.stat == Stat::comp) {
    const IndexId shared = mean.event[0];
    const bool second = precision.event[1] == shared;
    if (!second && precision.event[0] != shared) return false;
    const auto b = private_index_var(a, t, shared, p, q);
    if (!b) return false;
    std::erase(t.index_vars, *b);
    precision.event = {precision.event[second ? 0 : 1]};
    precision.stat = Stat::weighted;
  } else if (precision.stat == Stat::entry && mean.stat == Stat::comp2) {
    const bool same =
        (precision.event == mean.event) || (precision.event[0] == mean.event[1] && precision.event[1] == mean.event[0]);
    const auto j = private_index_var(a, t, mean.event[0], p, q), l = private_index_var(a, t, mean.event[1], p, q);
    if (!same || !j || !l) return false;
    std::erase(t.index_vars, *j);
    std::erase(t.index_vars, *l);
    precision.event.clear();
    precision.stat = Stat::weighted_square;
  } else {
    return false;
  }
  t.atoms.erase(t.atoms.begin() + static_cast<std::ptrdiff_t>(q));
  return true;
}

}  // namespace

void contract_joint(density::Density& d, const model::Model& m, model::VariableId mean, model::VariableId precision) {
  for (Term& t : d.terms) {
    bool again = true;
    while (again) {
      again = false;
      for (std::size_t p = 0; p < t.atoms.size() && !again; ++p) {
        for (std::size_t q = 0; q < t.atoms.size() && !again; ++q) {
          if (t.atoms[p].variable != precision || t.atoms[q].variable != mean) continue;
          if (t.atoms[p].axes == t.atoms[q].axes) again = contract(d.algebra, t, p, q);
        }
      }
    }
  }
  d.terms = density::merge_like_terms(d.algebra, m, std::move(d.terms));
}

}  // namespace lehr::conditionals
