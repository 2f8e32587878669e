// Divides each term into an inner part, which is summed over items, and an outer part (schedule.h).
//
// A factor of the term is inner if it mentions the item or something nested in it, or is an atom of a local block. An
// index of the outer part that depends on the item becomes an axis of the statistic, as do index variables that both
// parts mention. Example, LDA:
//     sum(d, n) count[d, n] * [z[d, n] = k] * log beta[k][w[d, n]]
//       ->   sum(k, v) S[k, v] * log beta[k][v],   S[k, v] = sum(d, n | w[d, n] = v) count[d, n] * [z[d, n] = k]
// Without an item stage in the term, the inner part is of data alone, or of the atoms that mention the items: a cached
// sum.
#include "compiler/schedule/regroup.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>

#include "compiler/conditionals/gather.h"
#include "compiler/density/poly.h"
#include "compiler/model/roles.h"
#include "compiler/schedule/residual.h"
#include "compiler/schedule/shared_statistics.h"
#include "compiler/schedule/shift.h"
#include "runtime/threshold.h"

namespace lehr::schedule {
namespace {

using conditionals::Conditionals;
using density::Algebra;
using density::Atom;
using density::CoefId;
using density::Guard;
using density::IndexId;
using density::IndexVarId;

/// The number of terms above which sums of constants become factors, so that fewer loops are compiled.
constexpr Threshold<std::size_t> kLargeModel("regroup.large_model", 250);

/// Divides the terms of one schedule and registers the statistics.
class TermDivider {
 public:
  /// Starts with no statistics. `sizes` are those of the plates, or empty.
  TermDivider(const model::Model& m, const std::vector<std::int64_t>& sizes, Schedule& s)
      : m_(m), sizes_(sizes), s_(s), c_(s.conditionals), a_(s.conditionals.density.algebra) {}

  /// Restricts symmetric sums (of x_i x_j) to one order of their two axes. Called after all terms are divided.
  void halve_symmetric_sums() {
    for (std::size_t k = 0; k < s_.statistics.size(); ++k) {
      Statistic& x = s_.statistics[k];
      x.symmetric = symmetric_axes(x);
      if (!x.symmetric) continue;
      const Guard half{density::Relation::greater_equal, x.at[x.symmetric->first], x.at[x.symmetric->second], {}, {}};
      x.inner.guards.push_back(half);
      if (!x.stage) continue;
      for (ItemStage::LocalTerm& t : std::get<ItemStage>(s_.steps[*x.stage]).terms) {
        if (t.statistic == k) t.term.guards.push_back(half);
      }
    }
  }

  /// Divides one term: at its item stage if it has local atoms, else at the items that only data mention. It stays
  /// whole if it cannot be divided.
  void term(const Term& t) {
    std::optional<std::size_t> stage;
    std::optional<IndexVarId> item;
    for (const Atom& atom : t.atoms) {
      const auto at = s_.stage_of[c_.block_of[atom.variable.index()].index()];
      if (!at) continue;
      stage = at;
      item = std::get<density::IndexVarRef>(a_[atom.axes[0]]).bound;
    }
    if (stage) {
      local(t, *stage, *item);
      return;
    }
    const std::set<IndexVarId> items = data_items(t);
    if (items.empty() || !split(t, items, std::nullopt, IndexVarId())) s_.outer.push_back({t, std::nullopt, {}});
  }

  /// Replaces a sum over items by what its other atoms are multiplied by: a statistic of the stage that has local atoms
  /// in it. The index variables `stay` are not summed. Without local atoms the sum stays as it is. Returns false if it
  /// cannot be divided.
  bool sum_items(OuterTerm& t, const std::vector<IndexVarId>& stay) {
    const auto own = std::ranges::find_if(t.term.atoms, [&](const Atom& x) { return is_local(x); });
    if (own == t.term.atoms.end()) return true;
    const std::size_t stage = *s_.stage_of[c_.block_of[own->variable.index()].index()];
    const IndexVarId item = std::get<density::IndexVarRef>(a_[own->axes[0]]).bound;
    DividedTerm divided{with_nested(t.term, {item}), {}, {}, {}, {}};
    const auto is_inside = [&](const Atom& x) { return is_local(x); };
    if (!divide(t.term, is_inside, divided) || pairs_in_chain(divided) || !name_axes(divided, 1)) return false;
    std::set<IndexVarId> in_inner, in_outer;
    collect(divided.inner, in_inner);
    collect(divided.outer, in_outer);
    for (const IndexVarId b : t.term.index_vars) {
      const bool stays = std::ranges::find(stay, b) != stay.end();
      if (!stays && in_inner.contains(b) && in_outer.contains(b)) return false;
      if (stays || !(in_inner.contains(b) || divided.inside.contains(b))) divided.outer.index_vars.push_back(b);
      else divided.inner.index_vars.push_back(b);
      if (!stays || !in_inner.contains(b)) continue;
      const IndexVarId summed = a_.fresh_like(b, std::nullopt);
      divided.inner = density::substitute(a_, std::move(divided.inner), b, a_.index(summed));
      divided.inner.index_vars.push_back(summed);
      divided.stat.at.push_back(a_.index(summed));
      divided.stat.axes.push_back(m_[a_[b].plate].set);
      divided.outer_at.push_back(a_.index(b));
    }
    t = add(std::move(divided), stage, item);
    return true;
  }

  /// Divides a term that no update reads, as term() does, but not at the index variables of `outside`. Returns false if
  /// it has local atoms and cannot be divided.
  bool divide_alone(OuterTerm& t, const std::vector<IndexId>& outside) {
    std::optional<std::size_t> stage;
    std::set<IndexVarId> items;
    for (const Atom& x : t.term.atoms) {
      const auto at = s_.stage_of[c_.block_of[x.variable.index()].index()];
      if (!at) continue;
      const auto* item = std::get_if<density::IndexVarRef>(&a_[x.axes[0]]);
      if (!item || (stage && stage != at)) return false;
      stage = at;
      items = {item->bound};
    }
    if (!stage) items = data_items(t.term);
    for (const IndexId i : outside)
      std::erase_if(items, [&](IndexVarId b) { return a_.mentions(i, b); });
    if (items.empty()) return true;
    const IndexVarId item = stage ? *items.begin() : IndexVarId();
    std::optional<DividedTerm> divided = named(
        t.term, std::move(items), [&](const Atom& x) { return stage && is_local(x); }, 1);
    if (divided) t = add(std::move(*divided), stage, item);
    return divided || !stage;
  }

  /// Makes a cached sum of a term that stayed whole, unless its data can be summed once into a table. The atoms that
  /// mention the items are summed with the data; the other atoms read the sum. The sum must have no axes over plates of
  /// items, so it stays short. Example: in sum(n) -1/2 tau U[user[n]]^2 V[item[n]]^2 the sum over n is cached for tau.
  void cache_sum(OuterTerm& t) {
    if (t.statistic || t.residual) return;
    const std::set<IndexVarId> items = data_items(t.term);
    if (items.empty() || sum_into_table(t, items)) return;
    DividedTerm divided{with_nested(t.term, items), {}, {}, {}, {}};
    const auto is_inside = [&](const Atom& x) { return mentions(x, divided); };
    if (!divide(t.term, is_inside, divided) || !can_cache(t.term, divided) || !distribute_index_vars(t.term, divided))
      return;
    if (std::ranges::any_of(divided.stat.axes, [&](model::PlateId p) { return model::is_item_plate(m_, m_[p].set); }))
      return;
    OuterTerm cached = add(std::move(divided), std::nullopt, IndexVarId());
    cached.undivided = std::move(t.term);
    t = std::move(cached);
  }

 private:
  /// Returns two axes of the statistic along which its sums are symmetric, or nothing.
  std::optional<std::pair<std::size_t, std::size_t>> symmetric_axes(const Statistic& x) {
    const auto bound = [&](std::size_t axis) -> std::optional<IndexVarId> {
      const auto* b = std::get_if<density::IndexVarRef>(&a_[x.at[axis]]);
      const bool own = b && b->offset == 0 && !a_[b->bound].parent &&
                       std::ranges::find(x.inner.index_vars, b->bound) != x.inner.index_vars.end();
      return own ? std::optional(b->bound) : std::nullopt;
    };
    for (std::size_t second = 1; second < x.at.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        const auto a = bound(first), b = bound(second);
        if (a && b && *a != *b && x.axes[first] == x.axes[second] && is_symmetric(x.inner, *a, *b))
          return std::pair(first, second);
      }
    }
    return std::nullopt;
  }

  /// Returns true if the term stays as it is when the two index variables change places. Statistics with two event
  /// indices are symmetric themselves.
  bool is_symmetric(const Term& t, IndexVarId a, IndexVarId b) {
    const auto swap = [&](IndexId i) -> std::optional<IndexId> {
      const auto* x = std::get_if<density::IndexVarRef>(&a_[i]);
      if (!x || (x->bound != a && x->bound != b)) return std::nullopt;
      return a_.index(x->bound == a ? b : a, x->offset);
    };
    if (a_.substitute(t.coef, swap) != t.coef || !t.multiplicities.empty()) return false;
    for (const Guard& g : t.guards) {
      std::set<IndexVarId> mentioned;
      density::collect(a_, g, mentioned);
      if (mentioned.contains(a) || mentioned.contains(b)) return false;
    }
    std::vector<Atom> left = t.atoms;
    for (Atom x : t.atoms) {
      for (IndexId& i : x.axes)
        i = a_.substitute(i, swap);
      for (IndexId& i : x.event)
        i = a_.substitute(i, swap);
      if (x.event.size() == 2 && x.event[0] > x.event[1]) std::swap(x.event[0], x.event[1]);
      const auto same = std::ranges::find_if(left, [&](Atom y) {
        if (y.event.size() == 2 && y.event[0] > y.event[1]) std::swap(y.event[0], y.event[1]);
        return y == x;
      });
      if (same == left.end()) return false;
      left.erase(same);
    }
    return std::ranges::none_of(t.index_vars,
                                [&](IndexVarId x) { return a_[x].parent && mentions_any(*a_[x].parent, a, b); });
  }

  /// Returns true if the index mentions `a` or `b`.
  bool mentions_any(IndexId i, IndexVarId a, IndexVarId b) const { return a_.mentions(i, a) || a_.mentions(i, b); }

  /// Returns true if an item stage updates the atom's block.
  bool is_local(const Atom& a) const { return s_.stage_of[c_.block_of[a.variable.index()].index()].has_value(); }

  /// Returns the index variables `roots` and all of the term that are nested in them.
  std::set<IndexVarId> with_nested(const Term& t, std::set<IndexVarId> roots) const {
    bool grew = true;
    while (grew) {
      grew = false;
      for (IndexVarId b : t.index_vars) {
        if (roots.contains(b) || !a_[b].parent) continue;
        std::set<IndexVarId> mentioned;
        a_.collect(*a_[b].parent, mentioned);
        for (IndexVarId r : mentioned) {
          if (roots.contains(r)) grew = roots.insert(b).second || grew;
        }
      }
    }
    return roots;
  }

  /// Returns the index variables of the term that no atom has as an index itself, though the data depend on them. Data
  /// can be summed over these. It is empty if the term reads no data.
  std::set<IndexVarId> data_items(const Term& t) const {
    std::set<IndexVarId> mentioned;
    for (const Atom& x : t.atoms) {
      for (IndexId i : x.axes)
        direct(i, mentioned);
      for (IndexId i : x.event)
        direct(i, mentioned);
    }
    std::set<IndexVarId> out;
    for (IndexVarId b : t.index_vars) {
      if (!mentioned.contains(b) && !a_[b].selector) out.insert(b);
    }
    // A nested index variable is summed together with its parent or not at all.
    for (IndexVarId b : t.index_vars) {
      if (!a_[b].parent || out.contains(b)) continue;
      std::set<IndexVarId> parents;
      a_.collect(*a_[b].parent, parents);
      for (IndexVarId p : parents)
        out.erase(p);
    }
    // A sum of numbers alone visits no data, so there is nothing to save.
    bool reads_data = !t.multiplicities.empty();
    for (const Guard& g : t.guards)
      reads_data = reads_data || g.present.has_value();
    for (IndexVarId b : out) {
      reads_data = reads_data || a_.mentions(t.coef, b) || a_[b].parent;
      for (const Atom& x : t.atoms) {
        for (IndexId i : x.axes)
          reads_data = reads_data || a_.mentions(i, b);
        for (IndexId i : x.event)
          reads_data = reads_data || a_.mentions(i, b);
      }
    }
    return reads_data ? out : std::set<IndexVarId>{};
  }

  /// Adds the index variables that are an index themselves, outside lookups.
  void direct(IndexId i, std::set<IndexVarId>& out) const {
    if (const auto* b = std::get_if<density::IndexVarRef>(&a_[i])) out.insert(b->bound);
    const auto* coordinate = std::get_if<density::IndexCoordinate>(&a_[i]);
    for (std::size_t k = 0; coordinate && k < coordinate->indices.size(); ++k)
      direct(coordinate->indices[k], out);
  }

  /// Divides a term with local atoms at the item of its stage. A term that cannot be divided becomes a local and an
  /// outer term, and its local factors are then stored.
  void local(const Term& t, std::size_t stage, IndexVarId item) {
    auto& step = std::get<ItemStage>(s_.steps[stage]);
    const bool alone = std::all_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& a) { return is_local(a); });
    if (!alone && split(t, {item}, stage, item)) return;
    step.terms.push_back({t, std::nullopt, {}, item});
    if (alone) return;
    step.terms.back().outer = s_.outer.size();
    s_.outer.push_back({t, std::nullopt, {}});
    for (const Atom& x : t.atoms)
      s_.storage[c_.block_of[x.variable.index()].index()] = Storage::stored;
  }

  /// A term that is being divided.
  struct DividedTerm {
    std::set<IndexVarId> inside;    // the items and what is nested in them: summed in the inner part
    Term inner, outer;              // the two parts
    Statistic stat;                 // the axes of the statistic, and where the inner part is added
    std::vector<IndexId> outer_at;  // the entry of the statistic that the outer part reads, one index for each axis
  };

  /// Returns `t` divided at `items`, with axes for all that the items name in the outer part. `is_inside` says which
  /// atoms are inner. Returns nothing if more than `most` axes are lookups, or if nothing is summed.
  std::optional<DividedTerm> named(const Term& t, std::set<IndexVarId> items,
                                   const std::function<bool(const Atom&)>& is_inside, std::size_t most) {
    DividedTerm divided{with_nested(t, std::move(items)), {}, {}, {}, {}};
    if (!divide(t, is_inside, divided)) return std::nullopt;
    if (pairs_in_chain(divided) || !name_axes(divided, most) || !distribute_index_vars(t, divided)) return std::nullopt;
    return divided;
  }

  /// Divides `t` at `items` and registers the result. Returns false if that does not pay: more than one axis is a
  /// lookup, or nothing is summed.
  bool split(const Term& t, std::set<IndexVarId> items, std::optional<std::size_t> stage, IndexVarId item) {
    std::optional<DividedTerm> divided = named(
        t, std::move(items), [&](const Atom& x) { return stage && is_local(x); }, 1);
    if (!divided) return false;
    s_.outer.push_back(add(std::move(*divided), stage, item));
    return true;
  }

  /// Replaces the term by a table of its data, summed by the elements that they name. The table must be no longer than
  /// the loop over the items. Returns false if not.
  bool sum_into_table(OuterTerm& t, const std::set<IndexVarId>& items) {
    if (sizes_.empty()) return false;
    std::optional<DividedTerm> divided = named(
        t.term, items, [](const Atom&) { return false; }, std::numeric_limits<std::size_t>::max());
    if (!divided) return false;
    double cells = 1;          // the length of the table
    std::int64_t visited = 0;  // the length of the longest loop that it saves
    for (const model::PlateId p : divided->stat.axes)
      cells *= static_cast<double>(sizes_[p.index()]);
    for (const IndexVarId b : divided->inner.index_vars)
      visited = std::max(visited, sizes_[m_[a_[b].plate].set.index()]);
    if (!(cells <= static_cast<double>(visited))) return false;
    t = add(std::move(*divided), std::nullopt, IndexVarId());
    return true;
  }

  /// Returns true if an index of the atom depends on the items.
  bool mentions(const Atom& x, const DividedTerm& divided) const {
    const auto inside = [&](IndexId i) { return depends(i, divided); };
    return std::ranges::any_of(x.axes, inside) || std::ranges::any_of(x.event, inside);
  }

  /// Returns true if the inner part can be a cached sum: both parts have atoms, of different blocks, none local or of a
  /// chain, and no outer variable owns a multiplicity.
  bool can_cache(const Term& t, const DividedTerm& divided) const {
    if (divided.inner.atoms.empty() || divided.outer.atoms.empty()) return false;
    const auto block = [&](const Atom& x) { return c_.block_of[x.variable.index()]; };
    if (std::ranges::any_of(t.atoms, [&](const Atom& x) { return is_local(x) || c_[block(x)].chain; })) return false;
    return std::ranges::none_of(divided.outer.atoms, [&](const Atom& x) {
      return std::ranges::any_of(divided.inner.atoms, [&](const Atom& y) { return block(x) == block(y); }) ||
             std::ranges::any_of(t.multiplicities,
                                 [&](const auto& n) { return density::has_factor_per_copy(m_, x.variable, n); });
    });
  }

  /// Returns true if a coefficient, index or guard mentions an index variable that is summed in the inner part.
  template <class Part>
  bool depends(const Part& part, const DividedTerm& divided) const {
    std::set<IndexVarId> mentioned;
    if constexpr (std::is_same_v<Part, Guard>) density::collect(a_, part, mentioned);
    else a_.collect(part, mentioned);
    return std::any_of(mentioned.begin(), mentioned.end(), [&](IndexVarId b) { return divided.inside.contains(b); });
  }

  /// Distributes coefficients, guards, atoms and multiplicities to the two parts. The inner part is one number for
  /// everyone who reads it, so a multiplicity that an outer variable owns goes to the outer part. Returns false if that
  /// multiplicity depends on the items.
  bool divide(const Term& t, const std::function<bool(const Atom&)>& is_inside, DividedTerm& divided) {
    divided.inner.origin = divided.outer.origin = t.origin;
    divided.inner.coef = divided.outer.coef = a_.number(1);
    for (CoefId f : a_.factors(t.coef)) {
      CoefId& part = depends(f, divided) ? divided.inner.coef : divided.outer.coef;
      part = a_.multiply(part, f);
    }
    for (const Atom& x : t.atoms)
      (is_inside(x) ? divided.inner : divided.outer).atoms.push_back(x);
    for (const density::Multiplicity& n : t.multiplicities) {
      const bool owned = std::ranges::any_of(
          divided.outer.atoms, [&](const Atom& x) { return density::has_factor_per_copy(m_, x.variable, n); });
      if (owned && depends(n.count, divided)) return false;
      (owned ? divided.outer : divided.inner).multiplicities.push_back(n);
    }
    std::set<IndexVarId> in_inner, in_outer;
    collect(divided.inner, in_inner);
    collect(divided.outer, in_outer);
    const auto is_inner = [&](const Guard& g) {
      std::set<IndexVarId> mentioned;
      density::collect(a_, g, mentioned);
      return std::all_of(mentioned.begin(), mentioned.end(),
                         [&](IndexVarId b) { return in_inner.contains(b) && !in_outer.contains(b); });
    };
    for (const Guard& g : t.guards)
      (depends(g, divided) || is_inner(g) ? divided.inner : divided.outer).guards.push_back(g);
    guard_lags(divided.inner, divided.outer);
    return true;
  }

  /// Returns true if the outer part has two elements of a chain, one of which depends on the item. They have one
  /// expectation together, which no table has.
  bool pairs_in_chain(const DividedTerm& divided) const {
    const std::vector<Atom>& atoms = divided.outer.atoms;
    return std::any_of(atoms.begin(), atoms.end(), [&](const Atom& x) {
      return c_[c_.block_of[x.variable.index()]].chain && depends(x.axes.back(), divided) &&
             std::count_if(atoms.begin(), atoms.end(), [&](const Atom& y) { return y.variable == x.variable; }) > 1;
    });
  }

  /// Makes an axis of each item-dependent index of the outer atoms. Returns false if more than `most` of them are
  /// lookups, or an axis would be over a nested plate.
  bool name_axes(DividedTerm& divided, std::size_t most) {
    std::size_t lookups = 0;
    const auto axis_for = [&](IndexId i, model::PlateId plate) {
      const auto it = std::find(divided.stat.at.begin(), divided.stat.at.end(), i);
      if (it != divided.stat.at.end()) return divided.outer_at[std::size_t(it - divided.stat.at.begin())];
      const IndexVarId fresh = a_.bound({m_[m_[plate].set].name, m_[plate].set, std::nullopt, false});
      divided.stat.at.push_back(i);
      divided.stat.axes.push_back(m_[plate].set);
      divided.outer_at.push_back(a_.index(fresh));
      divided.outer.index_vars.push_back(fresh);
      if (!std::holds_alternative<density::IndexVarRef>(a_[i])) ++lookups;
      return divided.outer_at.back();
    };
    for (Atom& x : divided.outer.atoms) {
      const model::Variable& var = m_[x.variable];
      for (std::size_t k = 0; k < x.axes.size(); ++k) {
        if (!depends(x.axes[k], divided)) continue;
        if (m_[var.axes[k]].parent) return false;  // a nested plate of an outer block: keep the term whole
        x.axes[k] = axis_for(x.axes[k], var.axes[k]);
      }
      const std::vector<model::PlateId> event = event_plates(x);
      for (std::size_t k = 0; k < x.event.size(); ++k) {
        if (depends(x.event[k], divided)) x.event[k] = axis_for(x.event[k], event[k]);
      }
    }
    return lookups <= most;
  }

  /// Distributes the index variables: those inside are summed in the inner part, the others in the part that mentions
  /// them, and one that both parts mention becomes an axis. Returns false if that is impossible or nothing is summed.
  bool distribute_index_vars(const Term& t, DividedTerm& divided) {
    std::set<IndexVarId> in_inner, in_outer;
    collect(divided.inner, in_inner);
    collect(divided.outer, in_outer);
    for (IndexId i : divided.stat.at)
      a_.collect(i, in_inner);
    const auto inner_only = [&](IndexVarId b) {
      return divided.inside.contains(b) || (in_inner.contains(b) && !in_outer.contains(b));
    };
    // A nested index variable that is summed inside needs its row there: sum(i in g) 1 is a statistic over g.
    for (bool grew = true; grew;) {
      const std::size_t before = in_inner.size();
      for (IndexVarId b : t.index_vars) {
        if (inner_only(b) && a_[b].parent) a_.collect(*a_[b].parent, in_inner);
      }
      grew = in_inner.size() != before;
    }
    bool summed = false;
    for (IndexVarId b : t.index_vars) {
      if (inner_only(b)) {
        if (in_outer.contains(b)) return false;
        divided.inner.index_vars.push_back(b);
        summed = true;
      } else if (in_inner.contains(b)) {
        if (a_[b].parent) return false;
        const IndexVarId fresh = a_.fresh_like(b, std::nullopt);
        divided.outer = density::substitute(a_, std::move(divided.outer), b, a_.index(fresh));
        for (IndexId& i : divided.outer_at)
          i = a_.substitute(i, a_.replace(b, a_.index(fresh)));
        divided.outer.index_vars.push_back(fresh);
        divided.inner.index_vars.push_back(b);
        divided.stat.at.push_back(a_.index(b));
        divided.stat.axes.push_back(m_[a_[b].plate].set);
        divided.outer_at.push_back(a_.index(fresh));
      } else {
        divided.outer.index_vars.push_back(b);
      }
    }
    return summed;
  }

  /// Copies guards that keep a lag inside its plate from the outer part to the inner one, because neither may read
  /// outside.
  void guard_lags(Term& inner, const Term& outer) const {
    std::set<IndexVarId> in_inner;
    collect(inner, in_inner);
    for (const Guard& g : outer.guards) {
      if (g.present || g.relation == density::Relation::equal || g.relation == density::Relation::not_equal) continue;
      std::set<IndexVarId> mentioned;
      density::collect(a_, g, mentioned);
      if (std::includes(in_inner.begin(), in_inner.end(), mentioned.begin(), mentioned.end()))
        inner.guards.push_back(g);
    }
  }

  /// Returns the plates of the atom's event indices.
  std::vector<model::PlateId> event_plates(const Atom& x) const {
    const model::Variable& var = m_[x.variable];
    if (var.value_plate) return {*var.value_plate};
    std::vector<model::PlateId> out = var.event;
    if (x.event.size() == 2 && out.size() == 1) out.push_back(out[0]);
    return out;
  }

  /// Adds all index variables that the term mentions to `out`.
  void collect(const Term& t, std::set<IndexVarId>& out) const {
    a_.collect(t.coef, out);
    for (const density::Multiplicity& x : t.multiplicities)
      a_.collect(x.count, out);
    for (const Guard& g : t.guards)
      density::collect(a_, g, out);
    for (const Atom& x : t.atoms)
      density::collect(a_, x, out);
  }

  /// Registers a divided term and returns its outer part.
  OuterTerm add(DividedTerm divided, std::optional<std::size_t> stage, IndexVarId item) {
    divided.stat.stage = stage;
    divided.stat.inner = std::move(divided.inner);
    return statistics_.add(std::move(divided.stat), std::move(divided.outer), std::move(divided.outer_at), item);
  }

  const model::Model& m_;                   // the model
  const std::vector<std::int64_t>& sizes_;  // of the plates, or empty
  Schedule& s_;                             // the result
  const Conditionals& c_;                   // the blocks
  Algebra& a_;                              // of the terms
  SharedStatistics statistics_{s_};         // those of `s_`, to be found again
};

}  // namespace

void regroup(const model::Model& m, const PlanOptions& options, Schedule& s) {
  TermDivider splitter(m, options.sizes, s);
  std::vector<Term> terms = s.conditionals.density.terms;
  for (Term& t : terms) {
    // Thousands of loops that add up a constant compile slowly, so in a large model the constant is multiplied by the
    // size.
    if (terms.size() > options.thresholds[kLargeModel])
      conditionals::count_unused_index_vars(s.conditionals.density.algebra, t);
    splitter.term(t);
  }
  find_residuals(m, s);
  for (OuterTerm& t : s.outer)
    splitter.cache_sum(t);
  std::erase_if(s.invariances, [&](Invariance& x) {
    bool divides = true;
    for (Transformed& v : x.variables) {
      if (v.needs(1)) divides = divides && splitter.sum_items(v.first, {v.component});
      if (v.needs(2)) divides = divides && splitter.sum_items(v.second, {v.component, v.other});
    }
    for (QuadraticForm& f : x.forms)
      divides = divides && splitter.sum_items(f.moments, {f.first, f.second});
    return !divides;
  });
  std::erase_if(s.shifts, [&](Shift& x) {
    const auto cannot = [&](Shift::Derivative& d) {
      if (!splitter.divide_alone(d.term, d.components)) return true;
      // The division has renamed index variables.
      const std::size_t order = d.components.size();
      d.components =
          constants_of(s.conditionals.density.algebra, d.term.term.coef, x.step).value_or(std::vector<IndexId>());
      return d.components.size() != order;
    };
    return std::ranges::any_of(x.gradient, cannot) || std::ranges::any_of(x.curvature, cannot);
  });
  splitter.halve_symmetric_sums();
}

}  // namespace lehr::schedule
