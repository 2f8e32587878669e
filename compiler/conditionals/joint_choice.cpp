// Joint factors are chosen by agglomeration. At first each Normal variable is a set of its own. Then the two coupled
// sets whose common factor has the fewest coordinates are merged, until no two can be.
//
//   y[n] ~ Normal(mean = a + b * x[n] + u[g[n]], ...)     {a}, {b}, {u}  ->  {a, b}, {u}  ->  {a, b, u}
//
// The last step is left out if u has very many elements.
#include "compiler/conditionals/joint_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "compiler/conditionals/chain_lag.h"
#include "compiler/conditionals/join.h"
#include "compiler/model/walk.h"

namespace lehr::conditionals {
namespace {

using density::Atom;
using density::Term;
using math::Stat;
using model::Model;
using model::PlateId;
using model::VariableId;

/// The most numbers that the matrices of all elements of a chosen factor may have together.
constexpr double kMaxMatrixNumbers = 1 << 24;

/// Returns the degree of a statistic of a Normal variable: 1 for x and x_j, 2 for x^2 and x_j x_l; 3 for others, which
/// no Normal factor has.
int degree(const Atom& x) {
  if (!x.opaque.empty()) return 3;
  if (x.stat == Stat::value || x.stat == Stat::comp) return 1;
  return x.stat == Stat::square || x.stat == Stat::comp2 ? 2 : 3;
}

/// One choice of joint factors.
class Choice {
 public:
  Choice(const Expanded& expanded, std::vector<std::int64_t> sizes, std::vector<VariableId> of_items)
      : m_(expanded.model), d_(expanded.density), sizes_(std::move(sizes)), of_items_(std::move(of_items)) {}

  /// Returns the layout of a factor of these variables.
  model::JointGuide layout(std::vector<VariableId> members) const { return candidate(std::move(members)).guide; }

  /// Merges sets of variables as long as two can be merged. Returns those that need a joint factor.
  JointChoice all() {
    std::vector<Candidate> sets;
    for (std::size_t k = 0; k < m_.variables.size(); ++k)
      if (is_candidate(VariableId(k))) sets.push_back(candidate({VariableId(k)}));
    merge(sets, [](const Candidate& c) { return c.is_small; });
    const auto needs_one = [](const Candidate& c) {
      return c.guide.members.size() > 1 || !c.guide.coordinates.empty();
    };
    JointChoice out;
    for (const Candidate& c : sets)
      if (c.is_small && needs_one(c)) add(c, out.dense);
    merge(sets, [](const Candidate& c) { return c.is_possible; });
    for (const Candidate& c : sets)
      if (c.is_possible && !c.is_small && needs_one(c) && c.is_one && std::isfinite(c.count) && !stands_by_products(c))
        add(c, out.large);
    return out;
  }

 private:
  /// A set of variables that may share a factor.
  struct Candidate {
    model::JointGuide guide;
    double count = 0;          // coordinates of the factor
    bool is_possible = false;  // true: they can share a factor
    bool is_small = false;     // true: and its matrix may be dense
    bool is_one = false;       // true: the factor has one element
  };

  /// Merges the coupled sets whose common factor is `good`, the one with the fewest coordinates first.
  void merge(std::vector<Candidate>& sets, const std::function<bool(const Candidate&)>& good) const {
    for (;;) {
      std::optional<Candidate> best;
      for (std::size_t i = 0; i < sets.size(); ++i) {
        for (std::size_t j = i + 1; j < sets.size(); ++j) {
          if (!are_coupled(sets[i].guide, sets[j].guide)) continue;
          std::vector<VariableId> both = sets[i].guide.members;
          std::ranges::copy(sets[j].guide.members, std::back_inserter(both));
          Candidate merged = candidate(std::move(both));
          if (good(merged) && (!best || merged.count < best->count)) best = std::move(merged);
        }
      }
      if (!best) return;
      std::erase_if(sets, [&](const Candidate& c) { return best->guide.has(c.guide.members[0]); });
      sets.push_back(std::move(*best));
    }
  }

  /// Returns true if a term has a member together with two Normal variables that are none, u[i] + dot(V[i], W[j]):
  /// sweeps alternate between these anyway, so that an expensive factor of the others saves none.
  bool stands_by_products(const Candidate& c) const {
    return std::ranges::any_of(d_.terms, [&](const Term& t) {
      bool member = false;
      std::set<VariableId> others;
      for (const Atom& x : t.atoms) {
        if (c.guide.has(x.variable)) member = true;
        else if (degree(x) < 3 && is_normal(m_, x.variable)) others.insert(x.variable);
      }
      return member && others.size() > 1;
    });
  }

  /// Adds the factor of a set, in order of the first members.
  static void add(const Candidate& c, std::vector<model::JointGuide>& to) {
    model::JointGuide guide = c.guide;
    std::ranges::sort(guide.members, {}, &VariableId::value);
    const auto first = [](const model::JointGuide& g) { return g.members[0].value; };
    to.insert(std::ranges::upper_bound(to, first(guide), {}, first), std::move(guide));
  }

  /// Returns true for a latent variable whose factor is Normal and that no guide names.
  bool is_candidate(VariableId id) const {
    const model::Variable& v = m_[id];
    if (v.observed || v.clamped || v.auxiliary || !is_normal(m_, id)) return false;
    if (m_[v.statement].limits.any()) return false;
    const auto names_it = [&](const model::JointGuide& joint) { return joint.has(id); };
    const auto is_in = [&](const std::vector<VariableId>& all) { return std::ranges::find(all, id) != all.end(); };
    if (std::ranges::any_of(m_.guide.joint, names_it) || is_in(m_.guide.point) || is_in(m_.guide.independent))
      return false;
    return std::ranges::none_of(d_.terms, [&](const Term& t) {
      return std::ranges::any_of(t.atoms, [&](const Atom& x) {
        return (x.variable == id && degree(x) > 2) || (x.variable != id && degree_of(t, id, x.variable) > 2);
      });
    });
  }

  /// Returns the degree of a term in two Normal variables together; 0 if one of them is not in it, or not Normal, as
  /// points of bounds are not. It is above 2 for factors of one another, W[d] and z[n] of dot(W[d], z[n])^2: they keep
  /// factors of their own, of which the basis can be changed (schedule/invariance.h).
  int degree_of(const Term& t, VariableId a, VariableId b) const {
    int of_a = 0, of_b = 0;
    for (const Atom& x : t.atoms) {
      of_a += x.variable == a ? degree(x) : 0;
      of_b += x.variable == b ? degree(x) : 0;
    }
    const bool is_point = m_[b].auxiliary && m_[b].auxiliary->kind == model::Auxiliary::Kind::bound;
    return of_a > 0 && of_b > 0 && is_normal(m_, b) && !is_point ? of_a + of_b : 0;
  }

  /// Returns true if a term has atoms of both sets.
  bool are_coupled(const model::JointGuide& a, const model::JointGuide& b) const {
    return std::ranges::any_of(d_.terms, [&](const Term& t) {
      return std::ranges::any_of(t.atoms, [&](const Atom& x) { return a.has(x.variable); }) &&
             std::ranges::any_of(t.atoms, [&](const Atom& x) { return b.has(x.variable); });
    });
  }

  /// Adds the plates over which two atoms of one term differ. A distance of a few steps on the last axis of both is
  /// none, as a chain of vectors has it, if `chain` is true.
  void add_crossed(const Atom& x, const Atom& y, bool chain, std::set<PlateId>& to) const {
    if (chain && x.axes.size() == y.axes.size() && !x.axes.empty() && lag_between(d_.algebra, x, y)) return;
    for (std::size_t i = 0; i < x.axes.size(); ++i) {
      const PlateId p = m_[m_[x.variable].axes[i]].set;
      for (std::size_t j = 0; j < y.axes.size(); ++j)
        if (m_[m_[y.variable].axes[j]].set == p && x.axes[i] != y.axes[j]) to.insert(p);
    }
  }

  /// Returns true if all members end with the same ordered plate, so that they can be one chain of vectors.
  bool may_be_chain(const std::vector<VariableId>& members) const {
    const auto last = [&](VariableId v) {
      return m_[v].axes.empty() ? std::optional<PlateId>() : std::optional(m_[m_[v].axes.back()].set);
    };
    const std::optional<PlateId> p = last(members[0]);
    return p && m_[*p].ordered && std::ranges::all_of(members, [&](VariableId v) { return last(v) == p; });
  }

  /// Returns the set of these variables with its layout, and whether it can be one factor.
  Candidate candidate(std::vector<VariableId> members) const {
    Candidate out{{.members = std::move(members), .chosen = true}};
    const bool chain = may_be_chain(out.guide.members);
    std::set<PlateId> crossed;
    for (const Term& t : d_.terms) {
      int all = 0;
      for (const Atom& x : t.atoms) {
        if (!out.guide.has(x.variable)) continue;
        all += degree(x);
        for (const Atom& y : t.atoms)
          if (&x != &y && out.guide.has(y.variable)) add_crossed(x, y, chain, crossed);
      }
      if (all > 2) return out;
    }
    for (const PlateId p : crossed) {
      const auto lies_on = [&](VariableId v) {
        return std::ranges::any_of(m_[v].axes, [&](PlateId axis) { return m_[axis].set == p; });
      };
      if (std::ranges::all_of(out.guide.members, lies_on)) out.guide.coordinates.push_back(p);
    }
    if (why_not_coordinates(m_, out.guide)) return out;
    const std::vector<model::Member> layout = member_layouts(m_, out.guide);
    for (const model::Member& x : layout)
      if (!x.own.empty() && is_improper(x.variable)) return out;
    double elements = 1;
    if (!std::ranges::all_of(layout, [&](const model::Member& x) { return !is_of_items(x.variable) || has_items(x); }))
      return out;
    for (const std::size_t axis : layout[0].shared)
      elements *= std::max(1.0, size_of(m_[m_[layout[0].variable].axes[axis]].set).value_or(1));
    for (const model::Member& member : layout)
      out.count += coordinates(member);
    out.is_possible = true;
    out.is_one = layout[0].shared.empty();
    out.is_small =
        out.count <= thresholds_[kMaxJointCoordinates] && elements * out.count * out.count <= kMaxMatrixNumbers;
    return out;
  }

  /// Returns true if the prior has no normaliser. Several coordinates of such a variable may be unidentified together,
  /// though each is identified given the others.
  bool is_improper(VariableId v) const {
    return std::ranges::any_of(d_.origins,
                               [&](const density::Origin& o) { return o.improper && o.statement == m_[v].statement; });
  }
  /// Returns true if the variable must stay one of items.
  bool is_of_items(VariableId v) const { return std::ranges::find(of_items_, v) != of_items_.end(); }
  /// Returns true if the factor has an element for each item that the member has.
  static bool has_items(const model::Member& member) {
    return std::ranges::find(member.shared, std::size_t{0}) != member.shared.end();
  }

  /// Returns the number of coordinates of a member; infinite if a size is unknown, but for that of a vector.
  double coordinates(const model::Member& member) const {
    double out = 1;
    const std::vector<PlateId> event = m_[member.variable].event;
    for (const PlateId p : model::coordinate_plates(m_, member)) {
      const bool of_vector = std::ranges::any_of(event, [&](PlateId e) { return m_[e].set == p; });
      out *= size_of(p).value_or(of_vector ? 1 : std::numeric_limits<double>::infinity());
    }
    return out;
  }

  /// Returns the number of elements of a plate, or nothing if it is unknown.
  std::optional<double> size_of(PlateId p) const {
    const std::int64_t n = p.index() < sizes_.size() ? sizes_[p.index()] : -1;
    return n < 0 ? std::optional<double>() : std::optional(static_cast<double>(n));
  }

  const Model& m_;
  const density::Density& d_;
  std::vector<std::int64_t> sizes_;
  std::vector<VariableId> of_items_;
  Thresholds thresholds_ = thresholds_of_environment();
};

}  // namespace

JointChoice choose_joint_factors(const Expanded& expanded, const std::vector<std::int64_t>& sizes,
                                 const std::vector<VariableId>& of_items) {
  return Choice(expanded, sizes, of_items).all();
}

model::JointGuide joint_layout(const Expanded& expanded, std::vector<VariableId> members) {
  return Choice(expanded, {}, {}).layout(std::move(members));
}

}  // namespace lehr::conditionals
