// Decides which auxiliary variables of links are integrated out where a bit, a spin or a category is drawn.
//
// For this the lowering must know, for one element of the drawn block, which elements of the auxiliary share a term
// with it. Simple cases are described exactly (CollapsedAuxiliary::pairs); in all others any element may.
#include "compiler/conditionals/collapse.h"

#include <algorithm>

#include "compiler/conditionals/shared_terms.h"
#include "compiler/density/poly.h"

namespace lehr::conditionals {
namespace {

using density::Algebra;
using density::Atom;
using density::IndexId;
using density::IndexVarId;
using density::IndexVarRef;
using density::Term;

/// Returns true if the block is the auxiliary variable of a link, is drawn, and has a log normaliser to integrate it
/// out by.
bool is_auxiliary(const model::Model& m, const Block& b) {
  using Kind = model::Auxiliary::Kind;
  const auto& x = m[b.variable].auxiliary;
  return b.drawn && x && (x->kind == Kind::bound || x->kind == Kind::value) &&
         !std::holds_alternative<math::Number>(b.factor->log_normaliser->form);
}

/// Returns true if the block is drawn by computing the log odds of each value: a bit, a spin or a category.
bool is_drawn_by_values(const model::Model& m, const Block& b) {
  if (!b.drawn) return false;
  const math::Support s = m[b.variable].support;
  return s == math::Support::bit || s == math::Support::spin || (s == math::Support::category && b.factor->softmax);
}

/// Returns the index variables that name the element of an atom, if each axis has a different one without an offset;
/// else nothing.
std::optional<std::set<IndexVarId>> own_index_vars(const Algebra& a, const Atom& x) {
  std::set<IndexVarId> out;
  for (const IndexId i : x.axes) {
    const auto* b = std::get_if<IndexVarRef>(&a[i]);
    if (!b || b->offset != 0 || !out.insert(b->bound).second) return std::nullopt;
  }
  return out;
}

/// Returns a term with the two atoms, without event indices, and with the index variables of `t` that they mention.
Term pair_of(const density::Density& d, const Term& t, const Atom& auxiliary, const Atom& own) {
  Term out;
  out.origin = t.origin;
  std::set<IndexVarId> mentioned;
  for (Atom x : {auxiliary, own}) {
    x.event.clear();
    for (const IndexId i : x.axes)
      d.algebra.collect(i, mentioned);
    out.atoms.push_back(std::move(x));
  }
  std::ranges::copy_if(t.index_vars, std::back_inserter(out.index_vars),
                       [&](IndexVarId b) { return mentioned.contains(b); });
  return out;
}

/// How the element of the block relates to that of the auxiliary: it is a function of it; each axis is a function of it
/// or a free index variable (plain); or neither.
enum class Relation { function, plain, other };

/// Returns how the second atom's element relates to the first one's.
Relation relation_of(const Algebra& a, const Term& pair) {
  const std::set<IndexVarId> auxiliary = *own_index_vars(a, pair.atoms[0]);
  std::set<IndexVarId> free, mentioned;
  bool plain = true;
  for (const IndexId i : pair.atoms[1].axes) {
    const auto* b = std::get_if<IndexVarRef>(&a[i]);
    if (b && !auxiliary.contains(b->bound)) {
      plain = plain && b->offset == 0 && free.insert(b->bound).second;
      continue;
    }
    a.collect(i, mentioned);
  }
  plain = plain && std::ranges::all_of(mentioned, [&](IndexVarId b) { return auxiliary.contains(b); });
  return !plain ? Relation::other : free.empty() ? Relation::function : Relation::plain;
}

/// Describes which elements of the auxiliary share a term with the block. Returns nothing if the auxiliary cannot be
/// integrated out: its elements have complicated indices, it shares a term with another auxiliary, or the block is a
/// chain that needs a simple relation.
std::optional<CollapsedAuxiliary> beside(const model::Model& m, const Conditionals& c, const Block& block,
                                         BlockId auxiliary) {
  const density::Density& d = c.density;
  CollapsedAuxiliary out{auxiliary, {}};
  std::set<std::string> pairs;  // the keys of the pairs so far, up to names of index variables
  bool functions = true, plain = true;
  for (const Use& u : c[auxiliary].uses) {
    const Term& t = d.terms[u.term];
    const Atom& element = t.atoms[u.atom];
    if (!own_index_vars(d.algebra, element)) return std::nullopt;
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      const Atom& x = t.atoms[k];
      if (k != u.atom && m[x.variable].auxiliary && m[x.variable].auxiliary->kind != model::Auxiliary::Kind::joint)
        return std::nullopt;
      if (x.variable != block.variable) continue;
      if (!pairs.insert(density::index_key(d.algebra, t, {element.axes, x.axes})).second) continue;
      out.pairs.push_back(pair_of(d, t, element, x));
      const Relation r = relation_of(d.algebra, out.pairs.back());
      functions = functions && r == Relation::function;
      plain = plain && r != Relation::other;
    }
  }
  const bool single = out.pairs.size() == 1;
  if (block.chain && !(single && functions)) return std::nullopt;
  if (functions || (single && plain)) return out;
  // No exact description: any element of the auxiliary may share a term.
  Term any = out.pairs[0];
  std::set<IndexVarId> own = *own_index_vars(d.algebra, any.atoms[0]);
  any.atoms.pop_back();
  std::erase_if(any.index_vars, [&](IndexVarId b) { return !own.contains(b); });
  out.pairs = {any};
  return out;
}

}  // namespace

std::vector<CollapsedAuxiliary> collapsed_auxiliaries(const model::Model& m, const Conditionals& c, BlockId block) {
  std::vector<CollapsedAuxiliary> out;
  if (!is_drawn_by_values(m, c[block])) return out;
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    const BlockId auxiliary(k);
    if (!is_auxiliary(m, c[auxiliary]) || !share_a_term(c, auxiliary, {block})) continue;
    if (std::optional<CollapsedAuxiliary> x = beside(m, c, c[block], auxiliary)) out.push_back(std::move(*x));
  }
  return out;
}

void make_lookup_axes_sequential(const model::Model& m, Conditionals& c) {
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    for (const CollapsedAuxiliary& x : collapsed_auxiliaries(m, c, BlockId(k))) {
      for (const Term& t : x.pairs) {
        for (std::size_t axis = 0; t.atoms.size() > 1 && axis < t.atoms[1].axes.size(); ++axis) {
          if (std::holds_alternative<density::IndexLookup>(c.density.algebra[t.atoms[1].axes[axis]]))
            c.blocks[k].sequential[axis] = true;
        }
      }
    }
  }
}

}  // namespace lehr::conditionals
