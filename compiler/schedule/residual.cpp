// Finds the residual form (Residual in schedule.h) of terms
//     sum(e, e', r, r' | r != r' or r < r') c(e, e') * A(e, r) * B(e', r').
// No factor may mention both r and r'. In the square of sum(r) U[user[e], r] * V[item[e], r] the factors that mention r
// are those that mention r' after r and r' have changed places, and one sum serves for both.
#include "compiler/schedule/residual.h"

#include <algorithm>
#include <set>

#include "compiler/density/poly.h"

namespace lehr::schedule {
namespace {

using density::Algebra;
using density::Atom;
using density::CoefId;
using density::Guard;
using density::IndexId;
using density::IndexVarId;

/// Recognises the pairs of a sum in a term.
class Matcher {
 public:
  /// Reads the blocks of `s`, and adds index expressions to its algebra.
  Matcher(const model::Model& m, Schedule& s) : m_(m), s_(s), c_(s.conditionals), a_(s.conditionals.density.algebra) {}

  /// Returns the residual form of the term by the first guard r != r' or r < r' that gives one, or nothing.
  std::optional<Residual> match(const Term& t) {
    for (const Guard& g : t.guards) {
      const std::optional<IndexVarId> l = plain(g.left), r = plain(g.right);
      if (g.present || !l || !r) continue;
      if (g.relation != density::Relation::not_equal && g.relation != density::Relation::less) continue;
      if (std::optional<Residual> out = match(t, g, *l, *r)) return out;
    }
    return std::nullopt;
  }

 private:
  /// Returns the block of the atom.
  BlockId block(const Atom& a) const { return c_.block_of[a.variable.index()]; }

  /// Returns true if the term has an atom of the block.
  bool has(const Term& t, BlockId b) const {
    return std::any_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& a) { return block(a) == b; });
  }

  /// Returns the index variable that `i` is, if it has no offset; else nothing.
  std::optional<IndexVarId> plain(IndexId i) const {
    if (!i.valid()) return std::nullopt;
    const auto* b = std::get_if<density::IndexVarRef>(&a_[i]);
    return b && b->offset == 0 ? std::optional(b->bound) : std::nullopt;
  }

  /// Returns the term as pairs over `r` and `other`, which the guard `distinct` keeps different; nothing if it has
  /// another form.
  std::optional<Residual> match(const Term& t, const Guard& distinct, IndexVarId r, IndexVarId other) {
    if (m_[a_[r].plate].set != m_[a_[other].plate].set || a_[r].parent != a_[other].parent) return std::nullopt;
    for (IndexVarId b : t.index_vars) {
      if (a_[b].parent && (a_.mentions(*a_[b].parent, r) || a_.mentions(*a_[b].parent, other))) return std::nullopt;
    }
    Residual out;
    out.ordered = distinct.relation == density::Relation::less;
    out.sides.resize(2);
    out.sides[0].along = r;
    out.sides[1].along = other;
    if (!distribute(t, distinct, out)) return std::nullopt;
    const Residual::Side &first = out.sides[0], &second = out.sides[1];
    if (first.summand.atoms.empty() || second.summand.atoms.empty()) return std::nullopt;
    if (!out.ordered && mirror(first.summand, second.summand.coef, second.summand.atoms, r, other))
      out.sides.pop_back();
    std::copy_if(t.index_vars.begin(), t.index_vars.end(), std::back_inserter(out.common.index_vars),
                 [&](IndexVarId b) { return b != r && b != other; });
    for (Residual::Side& side : out.sides) {
      for (const Atom& x : side.summand.atoms) {
        const BlockId b = block(x);
        if (c_[b].chain || s_.stage_of[b.index()] || has(out.common, b)) return std::nullopt;
      }
      if (!set_axes(out.common, side)) return std::nullopt;
      side.gradient = out.common;
      side.gradient.coef = a_.multiply(out.common.coef, side.summand.coef);
      if (out.sides.size() == 1) side.gradient.coef = a_.multiply(a_.number(2), side.gradient.coef);
      std::ranges::copy(side.summand.atoms, std::back_inserter(side.gradient.atoms));
      side.gradient.index_vars.push_back(side.along);
    }
    for (const Atom& x : out.sides[0].summand.atoms) {
      const auto keeps = [&](const Residual::Side& side) { return runs(side, block(x)); };
      if (std::ranges::all_of(out.sides, keeps)) out.maintained_by.push_back(block(x));
    }
    return out;
  }

  /// Distributes coefficients, atoms and guards of the term to the two sides and to what depends on neither index
  /// variable. Returns false if a part of the term mentions both, or a guard mentions either.
  bool distribute(const Term& t, const Guard& distinct, Residual& out) {
    const IndexVarId r = out.sides[0].along, other = out.sides[1].along;
    out.common.origin = t.origin;
    out.common.coef = a_.number(1);
    out.common.multiplicities = t.multiplicities;
    for (Residual::Side& side : out.sides) {
      side.summand.origin = t.origin;
      side.summand.coef = a_.number(1);
    }
    // The part that a factor belongs to, by the index variables that it mentions; null if it mentions both.
    const auto part = [&](const std::set<IndexVarId>& mentioned) -> Term* {
      const bool first = mentioned.contains(r), second = mentioned.contains(other);
      if (first && second) return nullptr;
      return first ? &out.sides[0].summand : second ? &out.sides[1].summand : &out.common;
    };
    for (const density::Multiplicity& x : t.multiplicities) {
      if (a_.mentions(x.count, r) || a_.mentions(x.count, other)) return false;
    }
    for (CoefId f : a_.factors(t.coef)) {
      std::set<IndexVarId> mentioned;
      a_.collect(f, mentioned);
      Term* const to = part(mentioned);
      if (!to) return false;
      to->coef = a_.multiply(to->coef, f);
    }
    for (const Atom& x : t.atoms) {
      std::set<IndexVarId> mentioned;
      density::collect(a_, x, mentioned);
      Term* const to = part(mentioned);
      if (!to) return false;
      to->atoms.push_back(x);
    }
    for (const Guard& g : t.guards) {
      if (g == distinct) continue;
      std::set<IndexVarId> mentioned;
      density::collect(a_, g, mentioned);
      if (part(mentioned) != &out.common) return false;
      out.common.guards.push_back(g);
    }
    return true;
  }

  /// Returns true if `summand` becomes the given coefficient and atoms when `r` and `other` change places.
  bool mirror(const Term& summand, CoefId coef, std::vector<Atom> atoms, IndexVarId r, IndexVarId other) {
    const auto swap = [&](IndexId i) -> std::optional<IndexId> {
      const auto* b = std::get_if<density::IndexVarRef>(&a_[i]);
      if (!b || (b->bound != r && b->bound != other)) return std::nullopt;
      return a_.index(b->bound == r ? other : r, b->offset);
    };
    if (a_.substitute(summand.coef, swap) != coef || summand.atoms.size() != atoms.size()) return false;
    for (Atom x : summand.atoms) {
      for (IndexId& i : x.axes)
        i = a_.substitute(i, swap);
      for (IndexId& i : x.event)
        i = a_.substitute(i, swap);
      const auto found = std::find(atoms.begin(), atoms.end(), x);
      if (found == atoms.end()) return false;
      atoms.erase(found);
    }
    return true;
  }

  /// Sets the axes of S, and the index variables and guards of A. Returns false if S cannot be a packed array because
  /// the row of a nested index variable is no axis.
  bool set_axes(const Term& common, Residual::Side& x) {
    Term& summand = x.summand;
    std::set<IndexVarId> needed;
    a_.collect(summand.coef, needed);
    for (const Atom& atom : summand.atoms)
      density::collect(a_, atom, needed);
    for (std::size_t before = 0; before != needed.size();) {
      before = needed.size();
      for (IndexVarId b : std::set<IndexVarId>(needed)) {
        if (a_[b].parent) a_.collect(*a_[b].parent, needed);
      }
    }
    for (IndexVarId b : common.index_vars) {
      if (!needed.contains(b)) continue;
      if (a_[b].parent && (x.at.empty() || *a_[b].parent != x.at.back())) return false;
      summand.index_vars.push_back(b);
      x.axes.push_back(m_[a_[b].plate].set);
      x.at.push_back(a_.index(b));
    }
    summand.index_vars.push_back(x.along);
    for (const Guard& g : common.guards) {
      std::set<IndexVarId> mentioned;
      density::collect(a_, g, mentioned);
      if (std::includes(needed.begin(), needed.end(), mentioned.begin(), mentioned.end())) summand.guards.push_back(g);
    }
    return true;
  }

  /// Returns true if S can be kept up to date while the block `b`, with a factor in A, is updated. Its elements at
  /// different r must be updated in sequence and its other elements independently, and A must have one element of it.
  bool runs(const Residual::Side& x, BlockId b) const {
    const auto own = std::ranges::find_if(x.summand.atoms, [&](const Atom& y) { return block(y) == b; });
    const auto same_block = [&](const Atom& y) { return block(y) == b; };
    if (std::ranges::count_if(x.summand.atoms, same_block) != 1) return false;
    std::set<IndexVarId> bounds;
    for (std::size_t axis = 0; axis < own->axes.size(); ++axis) {
      const std::optional<IndexVarId> i = plain(own->axes[axis]);
      const bool along = i == x.along;
      if (c_[b].sequential[axis] != along) return false;
      if (along && m_[m_[m_[own->variable].axes[axis]].set].parent) return false;
      if (i ? !bounds.insert(*i).second : !std::holds_alternative<density::IndexLookup>(a_[own->axes[axis]]))
        return false;
    }
    return bounds.contains(x.along);
  }

  const model::Model& m_;                // the model
  Schedule& s_;                          // its schedule
  const conditionals::Conditionals& c_;  // the blocks
  Algebra& a_;                           // of the terms
};

}  // namespace

void find_residuals(const model::Model& m, Schedule& s) {
  Matcher matcher(m, s);
  for (OuterTerm& t : s.outer) {
    if (t.statistic) continue;
    std::optional<Residual> found = matcher.match(t.term);
    if (!found) continue;
    for (Residual::Side& side : found->sides)
      side.sums = ArrayId(s.arrays++);
    t.residual = s.residuals.size();
    s.residuals.push_back(std::move(*found));
  }
}

}  // namespace lehr::schedule
