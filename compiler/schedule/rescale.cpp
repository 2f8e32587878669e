// Finds changes of scale: for every term with powers of two positive variables, it tries whether a change of the one is
// made up for by the other, and looks at what the derivatives of all terms leave.
#include "compiler/schedule/rescale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/density/poly.h"
#include "compiler/math/exponent.h"
#include "compiler/model/roles.h"
#include "compiler/schedule/shift.h"
#include "compiler/schedule/try_pairs.h"

namespace lehr::schedule {
namespace {

using conditionals::Block;
using density::Algebra;
using density::Atom;
using density::IndexId;
using density::IndexVarId;
using math::Stat;
using model::PlateId;

/// Returns the power of a positive number that a statistic is; 0 for its logarithm, nothing for others.
std::optional<int> power_of_statistic(Stat s) { return s == Stat::log ? std::optional(0) : math::exponent(s); }

/// One of two variables whose scales change: by c or by 1 / c.
struct ScaledSide {
  BlockId block;
  int sign = 1;                          // of log c
  std::optional<std::size_t> axis = {};  // the axis that runs over the components; none: one scale for all elements
};

/// A change of scale that is tried.
struct ScaleCandidate {
  std::optional<PlateId> components;  // the plate of the scales
  ScaledSide first, second;
};

/// Finds the changes of scale of a model.
class ScaleFinder {
 public:
  ScaleFinder(const model::Model& m, Schedule& s)
      : m_(m), s_(s), c_(s.conditionals), a_(s.conditionals.density.algebra) {}

  /// Two blocks, of which one makes up for a change of the other.
  using Pair = std::pair<BlockId, BlockId>;

  /// Returns the changes of scale that leave the product of two atoms of a term alone. Each two atoms are tried once.
  std::vector<ScaleCandidate> candidates(const Term& t, std::size_t k, std::size_t l) const {
    return l < k ? candidates(t.atoms[l], t.atoms[k]) : std::vector<ScaleCandidate>();
  }

  /// Returns the pair of the candidate, in both orders.
  static std::vector<Pair> variables(const ScaleCandidate& c) {
    return {{c.first.block, c.second.block}, {c.second.block, c.first.block}};
  }

  /// Returns the change in words: "theta -> theta * c, beta -> beta / c over k".
  std::string describe(const ScaleCandidate& c) const {
    const auto change = [&](const ScaledSide& side) {
      const std::string& name = variable(side.block).name;
      return fmt::format("{} -> {} {} c", name, name, side.sign > 0 ? "*" : "/");
    };
    std::string out = fmt::format("{}, {}", change(c.first), change(c.second));
    if (c.components) out += fmt::format(" over {}", m_[*c.components].name);
    return out;
  }

  /// Returns the change of scale if the likelihood is invariant.
  std::optional<Shift> check(const ScaleCandidate& c, const Term&) const {
    const std::optional<density::Poly> first = derivative(c_.density.terms, c);
    if (!first || !std::ranges::all_of(*first, [&](const Term& t) { return is_cheap(t, c); })) return std::nullopt;
    const std::optional<density::Poly> second = derivative(*first, c);
    Shift out{c.components, ArrayId(s_.arrays), {}, {}, {}, describe(c), largest_power(*first, c)};
    if (!second || !collect(*first, 1, out.gradient) || !collect(*second, 2, out.curvature)) return std::nullopt;
    const auto is_mixed = [](const Shift::Derivative& d) { return d.components[0] != d.components[1]; };
    if (std::ranges::any_of(out.curvature, is_mixed)) return std::nullopt;
    for (const ScaledSide* side : {&c.first, &c.second}) {
      out.gradient.push_back(of_entropy(*side));
      out.moved.push_back(moved(*side));
    }
    ++s_.arrays;
    return out;
  }

 private:
  BlockId block_of(const Atom& x) const { return c_.block_of[x.variable.index()]; }
  const model::Variable& variable(BlockId b) const { return m_[c_[b].variable]; }

  /// Returns the power whose natural parameter, but for its sign, is the parameter of the factor with the role of a
  /// spread: 1 of a Gamma, -1 of an InverseGamma. Its other statistic is the logarithm. Nothing for other factors.
  static std::optional<int> power_of_spread(const Block& b) {
    if (!b.factor || b.factor->statistics.size() != 2 || !find_role(*b.factor, math::ParameterRole::spread))
      return std::nullopt;
    std::optional<int> out;
    bool log = false;
    for (const math::StatisticRow& row : b.factor->statistics) {
      const std::optional<int> power = power_of_statistic(row.stat);
      if (!power) return std::nullopt;
      if (*power == 0) log = true;
      else out = power;
    }
    return log ? out : std::nullopt;
  }

  /// Returns true if the block has positive numbers whose factors stay in their family. Variables of items are left
  /// out: where their factors are in a spill file, a change could not be undone.
  bool can_scale(BlockId b) const {
    const Block& block = c_[b];
    const model::Variable& v = variable(b);
    if (v.support != math::Support::positive || !power_of_spread(block)) return false;
    if (!block.has_entropy() || block.chain || block.mean || has_data(v) || model::times_plate(m_, v)) return false;
    if (s_.storage[b.index()] != Storage::stored || s_.local[b.index()]) return false;
    const auto is_nested = [&](PlateId p) { return m_[m_[p].set].parent.has_value(); };
    return std::ranges::none_of(v.axes, is_nested);
  }

  /// Returns the changes of scale that leave the product of two atoms alone: for each index that both have, and by one
  /// scale.
  std::vector<ScaleCandidate> candidates(const Atom& x, const Atom& y) const {
    const std::optional<int> p = power_of_statistic(x.stat), q = power_of_statistic(y.stat);
    const BlockId a = block_of(x), b = block_of(y);
    if (a == b || !p || !q || *p == 0 || std::abs(*p) != std::abs(*q) || !x.opaque.empty() || !y.opaque.empty())
      return {};
    if (!can_scale(a) || !can_scale(b)) return {};
    const int sign = -*p / *q;
    std::vector<ScaleCandidate> out;
    for (std::size_t k = 0; k < x.axes.size(); ++k) {
      const auto at = std::ranges::find(y.axes, x.axes[k]);
      const PlateId plate = m_[variable(a).axes[k]].set;
      if (at == y.axes.end() || !std::holds_alternative<density::IndexVarRef>(a_[x.axes[k]])) continue;
      const auto l = static_cast<std::size_t>(at - y.axes.begin());
      if (m_[variable(b).axes[l]].set == plate) out.push_back({plate, {a, 1, k}, {b, sign, l}});
    }
    out.push_back({std::nullopt, {a, 1, {}}, {b, sign, {}}});
    return out;
  }

  /// Returns the side of a change that the atom belongs to; null if it does not change.
  const ScaledSide* side_of(const ScaleCandidate& c, const Atom& x) const {
    for (const ScaledSide* side : {&c.first, &c.second})
      if (block_of(x) == side->block) return side;
    return nullptr;
  }

  /// Returns the logarithm of the scale of an element, times a number.
  density::CoefId step(const ScaledSide& side, const std::vector<IndexId>& element, int times) const {
    const IndexId component = side.axis ? element[*side.axis] : a_.index(density::IndexConstant{0});
    return a_.multiply({a_.number(side.sign * times), a_.coef(density::CoefArray{ArrayId(s_.arrays), {component}})});
  }

  /// Adds the derivative of the term by the logarithms of the scales. Returns false if it is none of powers.
  bool add_derivative(const Term& t, const ScaleCandidate& c, density::Poly& to) const {
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      const Atom& x = t.atoms[k];
      const ScaledSide* side = side_of(c, x);
      if (!side) continue;
      const std::optional<int> power = power_of_statistic(x.stat);
      if (!power || !x.opaque.empty()) return false;
      Term by = t;
      if (*power == 0) by.atoms.erase(by.atoms.begin() + static_cast<std::ptrdiff_t>(k));
      by.coef = a_.multiply({by.coef, step(*side, x.axes, *power == 0 ? 1 : *power)});
      to.push_back(std::move(by));
    }
    return true;
  }

  /// Returns the derivative of all terms in normal form, like terms added up.
  std::optional<density::Poly> derivative(const std::vector<Term>& terms, const ScaleCandidate& c) const {
    density::Poly sum, out;
    for (const Term& t : terms)
      if (!add_derivative(t, c, sum)) return std::nullopt;
    for (const Term& t : sum)
      std::ranges::move(density::normalise(a_, m_, t), std::back_inserter(out));
    return density::merge_like_terms(a_, m_, std::move(out));
  }

  /// Returns true if what is left of a derivative is no part of the likelihood. Of observed statements, those that have
  /// products of both variables may leave terms of one number, such as the priors of weights that the compiler has
  /// added.
  bool is_cheap(const Term& t, const ScaleCandidate& c) const {
    const auto is_local = [&](const Atom& x) { return s_.local[block_of(x).index()]; };
    if (!c_.density.origins[t.origin].observed) return std::ranges::count_if(t.atoms, is_local) <= 1;
    const auto has = [&](const Term& x, BlockId b) {
      return std::ranges::any_of(x.atoms, [&](const Atom& y) { return block_of(y) == b; });
    };
    return t.atoms.size() <= 1 && std::ranges::any_of(c_.density.terms, [&](const Term& x) {
             return x.origin == t.origin && has(x, c.first.block) && has(x, c.second.block);
           });
  }

  /// Returns the largest power of the scales in the terms.
  int largest_power(const density::Poly& terms, const ScaleCandidate& c) const {
    int out = 1;
    for (const Term& t : terms) {
      int sum = 0;
      for (const Atom& x : t.atoms)
        if (const ScaledSide* side = side_of(c, x)) sum += side->sign * power_of_statistic(x.stat).value_or(0);
      out = std::max(out, std::abs(sum));
    }
    return out;
  }

  /// Writes the terms as derivatives. Returns false if constants_of() gives none for one of them.
  bool collect(const density::Poly& terms, std::size_t order, std::vector<Shift::Derivative>& out) const {
    for (const Term& t : terms) {
      std::optional<std::vector<IndexId>> components = constants_of(a_, t.coef, ArrayId(s_.arrays));
      if (!components || components->size() != order) return false;
      out.push_back({{t, std::nullopt, {}}, std::move(*components)});
    }
    return true;
  }

  /// Adds an index variable for each axis of the block to the term; returns the element.
  std::vector<IndexId> add_element(BlockId b, Term& to) const {
    std::vector<IndexId> out;
    for (const PlateId p : variable(b).axes) {
      to.index_vars.push_back(a_.bound({m_[m_[p].set].name, m_[p].set, std::nullopt, false}));
      out.push_back(a_.index(to.index_vars.back()));
    }
    return out;
  }

  /// Returns the derivative of the entropies of the side: log c for each element that counts.
  Shift::Derivative of_entropy(const ScaledSide& side) const {
    Term t{a_.number(1), {}, {}, {}, {}, 0};
    const std::vector<IndexId> element = add_element(side.block, t);
    t.coef = step(side, element, 1);
    const model::VariableId v = c_[side.block].variable;
    if (const auto mask = model::mask_of(m_, m_[v]))
      t.multiplicities.push_back({v, a_.coef(density::CoefData{*mask, element})});
    const IndexId component = side.axis ? element[*side.axis] : a_.index(density::IndexConstant{0});
    return {{std::move(t), std::nullopt, {}}, {component}};
  }

  /// Returns the logarithms of what the spreads of all factors of the side are multiplied by.
  Shift::Moved moved(const ScaledSide& side) const {
    Shift::Moved out{side.block, Term{a_.number(1), {}, {}, {}, {}, 0}, {}, {}};
    out.axes = add_element(side.block, out.by);
    out.by.coef = step(side, out.axes, -*power_of_spread(c_[side.block]));
    return out;
  }

  const model::Model& m_;                // the model
  Schedule& s_;                          // its schedule
  const conditionals::Conditionals& c_;  // the blocks
  Algebra& a_;                           // of the terms
};

}  // namespace

std::vector<Shift> find_changes_of_scale(const model::Model& m, Schedule& s) {
  return try_pairs(ScaleFinder(m, s), s.conditionals.density.terms);
}

}  // namespace lehr::schedule
