// Finds shifts: for every term with two linear atoms, it tries whether a shift of the one is made up for by the other,
// and checks this by the derivatives of all terms that have one of them.
#include "compiler/schedule/shift.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/conditionals/shared_terms.h"
#include "compiler/density/poly.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/schedule/invariance.h"
#include "compiler/schedule/try_pairs.h"

namespace lehr::schedule {
namespace {

using conditionals::Block;
using density::Algebra;
using density::Atom;
using density::CoefId;
using density::IndexId;
using density::IndexVarId;
using math::Stat;
using model::PlateId;

/// A variable that a shift moves: a block, or one member of a joint block.
struct Target {
  BlockId block;
  std::optional<std::size_t> member = {};
  auto operator<=>(const Target&) const = default;
};

/// One linear occurrence of a target in an atom: the number of the target that is meant, and what is left of the atom.
struct Occurrence {
  std::vector<IndexId> element;  // the indices of the number: axes, then its entry
  std::optional<Atom> rest;      // of a product of two numbers, the other one
};

/// Where an index of a displacement comes from: a position in Occurrence::element, or none, which stands for the
/// component.
using Origin = std::optional<std::size_t>;

/// How the numbers of a target move: by sign * c, or by sign * sum_k w c[k] with a number w of another variable.
struct Displacement {
  Target target;
  double sign = 1;
  Origin component = {};            // which index of the number is the component; none: there is none, or a sum
  std::optional<Atom> factor = {};  // w, whose indices `from` replaces
  std::vector<Origin> from = {};    // by index of w, axes and then its entry
};

/// A shift that is tried.
struct Candidate {
  std::optional<PlateId> components;  // the plate of the constants
  Displacement shifted, made_up;      // what is shifted, and what makes up for it
};

/// Finds the shifts of a model.
class ShiftFinder {
 public:
  ShiftFinder(const model::Model& m, Schedule& s)
      : m_(m), s_(s), c_(s.conditionals), a_(s.conditionals.density.algebra) {}

  /// What is shifted, and what makes up for it.
  using Pair = std::pair<Target, Target>;

  /// Returns the shifts of the number of atom k that the number of atom l might make up for.
  std::vector<Candidate> candidates(const Term& t, std::size_t k, std::size_t l) const {
    const Atom &x = t.atoms[k], &y = t.atoms[l];
    if (!is_linear(x) || !is_linear(y) || block_of(x) == block_of(y)) return {};
    if (!can_move(block_of(x)) || !can_move(block_of(y)) || s_.stage_of[block_of(y).index()]) return {};
    if (model::is_joint(variable(block_of(x)))) return {};
    std::vector<Candidate> out;
    const std::vector<IndexId> of_x = element_of(x, entry(x)), of_y = element_of(y, entry(y));
    for (const double sign : {1.0, -1.0}) {
      add_plain(x, y, of_x, of_y, sign, out);
      for (const Atom& w : t.atoms) {
        if (is_linear(w) && is_stored(block_of(w), {block_of(x), block_of(y)})) add_product(x, y, w, of_y, sign, out);
      }
    }
    return out;
  }

  /// Returns the pair of the candidate. Without a factor, the second makes up for the first as the first for the
  /// second.
  static std::vector<Pair> variables(const Candidate& c) {
    std::vector<Pair> out = {{c.shifted.target, c.made_up.target}};
    if (!c.made_up.factor) out.emplace_back(c.made_up.target, c.shifted.target);
    return out;
  }

  /// Returns the shift if the statement that it comes from, and all of the likelihood, are invariant.
  std::optional<Shift> check(const Candidate& c, const Term& from_term) const {
    Shift out{c.components, ArrayId(s_.arrays), {}, {}, {}, {}};
    std::map<std::size_t, density::Poly> by_origin;
    for (const Term& t : c_.density.terms) {
      const auto moves = [&](const Atom& x) {
        return block_of(x) == c.shifted.target.block || block_of(x) == c.made_up.target.block;
      };
      if (std::ranges::none_of(t.atoms, moves)) continue;
      std::optional<density::Poly> first = derivative(t, c, out);
      if (!first) return std::nullopt;
      std::ranges::move(*first, std::back_inserter(by_origin[t.origin]));
    }
    density::Poly first, second;
    for (const auto& [from, sum] : by_origin) {
      const bool invariant = normal_form(sum).empty();
      if (!invariant && (from == from_term.origin || c_.density.origins[from].observed)) return std::nullopt;
      add_expectations(sum, invariant, first);
      for (const Term& t : sum) {
        const std::optional<density::Poly> twice = derivative(t, c, out);
        if (!twice) return std::nullopt;
        add_expectations(*twice, invariant, second);
      }
    }
    if (!collect(first, 1, out.gradient) || !collect(second, 2, out.curvature)) return std::nullopt;
    ++s_.arrays;
    for (const Displacement* d : {&c.shifted, &c.made_up}) {
      if (!s_.stage_of[d->target.block.index()]) out.moved.push_back(moved(*d, out));
    }
    out.text = describe(c);
    return out;
  }

  /// Returns the shift in words: "z -> z - c, m -> m + W c over latent".
  std::string describe(const Candidate& c) const {
    const Displacement& d = c.made_up;
    const std::string z = name(c.shifted.target), y = name(d.target),
                      by = d.factor ? m_[d.factor->variable].name + " c" : "c";
    std::string out = fmt::format("{} -> {} - c, {} -> {} {} {}", z, z, y, y, d.sign > 0 ? "+" : "-", by);
    if (c.components) out += fmt::format(" over {}", m_[*c.components].name);
    return out;
  }

 private:
  BlockId block_of(const Atom& x) const { return c_.block_of[x.variable.index()]; }
  const model::Variable& variable(BlockId b) const { return m_[c_[b].variable]; }

  /// Returns true if the atom is a number of a variable: neither a product nor a function of it.
  static bool is_linear(const Atom& x) { return x.opaque.empty() && (x.stat == Stat::value || x.stat == Stat::comp); }

  /// Returns the target that a linear atom is a number of.
  Target target_of(const Atom& x) const {
    const auto* coordinate = x.event.empty() ? nullptr : std::get_if<density::IndexCoordinate>(&a_[x.event[0]]);
    return {block_of(x), coordinate ? std::optional(coordinate->member) : std::nullopt};
  }

  /// Returns the indices of the number that an entry of an atom is.
  std::vector<IndexId> element_of(const Atom& x, std::optional<IndexId> entry) const {
    std::vector<IndexId> out = x.axes;
    if (!entry) return out;
    const auto* coordinate = std::get_if<density::IndexCoordinate>(&a_[*entry]);
    if (coordinate) out.insert(out.end(), coordinate->indices.begin(), coordinate->indices.end());
    else out.push_back(*entry);
    return out;
  }

  /// Returns the plates of the indices that number a member's coordinates.
  std::vector<PlateId> own_plates(const model::Member& member) const {
    const model::Variable& v = m_[member.variable];
    std::vector<PlateId> out;
    for (const std::size_t axis : member.own)
      out.push_back(v.axes[axis]);
    out.insert(out.end(), v.event.begin(), v.event.end());
    return out;
  }

  /// Returns true if the block has Normal factors whose means a shift can move, and is stored or formed first.
  bool can_move(BlockId b) const {
    const Block& block = c_[b];
    const model::Variable& v = variable(b);
    if (!block.factor || !block.has_entropy() || block.chain || block.mean || has_data(v)) return false;
    if (v.auxiliary && !model::is_joint(v)) return false;
    if (!find_role(*block.factor, math::ParameterRole::location)) return false;
    if (s_.storage[b.index()] != Storage::stored || (s_.local[b.index()] && !s_.stage_of[b.index()])) return false;
    const auto is_nested = [&](PlateId p) { return m_[m_[p].set].parent.has_value(); };
    if (std::ranges::any_of(v.axes, is_nested)) return false;
    for (std::size_t k = 0; v.auxiliary && k < v.auxiliary->members.size(); ++k) {
      if (std::ranges::any_of(own_plates(v.auxiliary->members[k]), is_nested)) return false;
    }
    return is_formed_first(s_, b);
  }

  /// Returns the entry of a vector that the linear atom is.
  static std::optional<IndexId> entry(const Atom& x) {
    return x.event.empty() ? std::nullopt : std::optional(x.event[0]);
  }

  /// Returns true if expected numbers of the block are in memory between sweeps, and the shift does not move it.
  bool is_stored(BlockId b, const std::set<BlockId>& moved) const {
    return !moved.contains(b) && s_.storage[b.index()] == Storage::stored && !s_.local[b.index()] && c_[b].factor;
  }

  /// Adds the shift of all numbers by one constant; of vectors, by one constant for each entry, which both have.
  void add_plain(const Atom& x, const Atom& y, const std::vector<IndexId>& of_x, const std::vector<IndexId>& of_y,
                 double sign, std::vector<Candidate>& out) const {
    Candidate c{std::nullopt, {target_of(x), -1}, {target_of(y), sign}};
    if (x.stat == Stat::comp) {
      const auto at = std::ranges::find(of_y, x.event[0]);
      if (at == of_y.end()) return;
      c.components = variable(block_of(x)).event[0];
      c.shifted.component = of_x.size() - 1;
      c.made_up.component = static_cast<std::size_t>(at - of_y.begin());
    }
    out.push_back(std::move(c));
  }

  /// Adds the shift by one constant for each component of x that w has as well, if every other index of w is one of y.
  void add_product(const Atom& x, const Atom& y, const Atom& w, const std::vector<IndexId>& of_y, double sign,
                   std::vector<Candidate>& out) const {
    if (w.event.size() == 1 && std::holds_alternative<density::IndexCoordinate>(a_[w.event[0]])) return;
    const std::vector<IndexId> of_x = element_of(x, entry(x));
    const std::vector<PlateId> plates = plates_of(block_of(x));
    std::vector<IndexId> of_w = w.axes;
    of_w.insert(of_w.end(), w.event.begin(), w.event.end());
    Candidate c{std::nullopt, {target_of(x), -1}, {target_of(y), sign}};
    c.made_up.factor = w;
    for (const IndexId i : of_w) {
      const auto at = std::ranges::find(of_y, i), own = std::ranges::find(of_x, i);
      if (at != of_y.end()) {
        c.made_up.from.emplace_back(static_cast<std::size_t>(at - of_y.begin()));
        continue;
      }
      if (own == of_x.end() || c.shifted.component) return;
      c.shifted.component = static_cast<std::size_t>(own - of_x.begin());
      c.components = plates[*c.shifted.component];
      c.made_up.from.emplace_back();
    }
    if (x.stat == Stat::comp && c.shifted.component != of_x.size() - 1) return;
    out.push_back(std::move(c));
  }

  /// Returns the plates of the indices of a number of the block.
  std::vector<PlateId> plates_of(BlockId b) const {
    std::vector<PlateId> out = variable(b).axes;
    out.insert(out.end(), variable(b).event.begin(), variable(b).event.end());
    return out;
  }

  /// Returns the linear occurrences of the target in the atom; nothing if it occurs otherwise.
  std::optional<std::vector<Occurrence>> occurrences(const Atom& x, const Target& target) const {
    std::vector<Occurrence> out;
    if (block_of(x) != target.block) return out;
    if (!x.opaque.empty()) return std::nullopt;
    if (x.stat == Stat::value) return std::vector<Occurrence>{{x.axes, std::nullopt}};
    if (x.stat == Stat::square) {
      Atom rest = x;
      rest.stat = Stat::value;
      return std::vector<Occurrence>{{x.axes, rest}, {x.axes, rest}};
    }
    if (x.stat != Stat::comp && x.stat != Stat::comp2) return std::nullopt;
    for (std::size_t k = 0; k < x.event.size(); ++k) {
      const auto* coordinate = std::get_if<density::IndexCoordinate>(&a_[x.event[k]]);
      if (target.member && !coordinate) return std::nullopt;
      if (target.member && coordinate->member != *target.member) continue;
      Occurrence o{element_of(x, x.event[k]), std::nullopt};
      if (x.stat == Stat::comp2) {
        o.rest = x;
        o.rest->stat = Stat::comp;
        o.rest->event = {x.event[1 - k]};
      }
      out.push_back(std::move(o));
    }
    return out;
  }

  /// Returns a new index variable over the plate.
  IndexVarId variable_over(PlateId p) const { return a_.bound({m_[m_[p].set].name, m_[p].set, std::nullopt, false}); }

  /// Multiplies the term by what a number moves by. A component that w alone has is summed.
  void multiply(Term& t, const Displacement& d, const std::vector<IndexId>& element, const Shift& shift) const {
    IndexId component = a_.index(density::IndexConstant{0});
    if (d.component) {
      component = element[*d.component];
    } else if (shift.components) {
      const IndexVarId b = variable_over(*shift.components);
      t.index_vars.push_back(b);
      component = a_.index(b);
    }
    t.coef = a_.multiply({t.coef, a_.number(d.sign), a_.coef(density::CoefArray{shift.step, {component}})});
    if (!d.factor) return;
    Atom w = *d.factor;
    for (std::size_t k = 0; k < d.from.size(); ++k)
      (k < w.axes.size() ? w.axes[k] : w.event[k - w.axes.size()]) = d.from[k] ? element[*d.from[k]] : component;
    t.atoms.push_back(std::move(w));
  }

  /// Returns the derivative of the term along the shift, as terms in which one element may have several atoms;
  /// nothing if the term is no polynomial in what moves.
  std::optional<density::Poly> derivative(const Term& t, const Candidate& c, const Shift& shift) const {
    density::Poly out;
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      for (const Displacement* d : {&c.shifted, &c.made_up}) {
        const auto all = occurrences(t.atoms[k], d->target);
        if (!all) return std::nullopt;
        for (const Occurrence& o : *all) {
          Term by = t;
          if (o.rest) by.atoms[k] = *o.rest;
          else by.atoms.erase(by.atoms.begin() + static_cast<std::ptrdiff_t>(k));
          multiply(by, *d, o.element, shift);
          out.push_back(std::move(by));
        }
      }
    }
    return out;
  }

  /// Returns true if two atoms of the term are of one variable.
  static bool repeats(const Term& t) {
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      for (std::size_t l = 0; l < k; ++l) {
        if (t.atoms[k].variable == t.atoms[l].variable) return true;
      }
    }
    return false;
  }

  /// Returns the normal form of the terms, with like terms added up.
  density::Poly normal_form(const density::Poly& p) const {
    density::Poly out;
    for (const Term& t : p)
      std::ranges::move(density::normalise(a_, m_, t), std::back_inserter(out));
    return density::merge_like_terms(a_, m_, std::move(out));
  }

  /// Adds the terms whose expectations the derivative of the ELBO has. Those of an invariant statement cancel, but for
  /// the difference between products of expectations and expectations of products.
  void add_expectations(const density::Poly& terms, bool invariant, density::Poly& to) const {
    for (const Term& t : terms) {
      if (!invariant) to.push_back(t);
      if (!invariant || !repeats(t)) continue;
      to.push_back(t);
      for (Term& together : density::normalise(a_, m_, t)) {
        together.coef = a_.multiply(a_.number(-1), together.coef);
        to.push_back(std::move(together));
      }
    }
  }

  /// Writes the terms as derivatives, like terms added up. Returns false if constants_of() gives none for one of them,
  /// or if no expectation of a statistic is formed.
  bool collect(density::Poly terms, std::size_t order, std::vector<Shift::Derivative>& out) const {
    const auto is_formed = [&](const Atom& x) {
      return x.opaque.empty() && std::ranges::any_of(c_[block_of(x)].uses, [&](const conditionals::Use& u) {
               return c_.density.terms[u.term].atoms[u.atom].stat == x.stat;
             });
    };
    for (Term& t : density::merge_like_terms(a_, m_, std::move(terms))) {
      std::optional<std::vector<IndexId>> components = constants_of(a_, t.coef, ArrayId(s_.arrays));
      if (!components || components->size() != order || !std::ranges::all_of(t.atoms, is_formed)) return false;
      out.push_back({{std::move(t), std::nullopt, {}}, std::move(*components)});
    }
    return true;
  }

  /// Returns what the mean of a target moves by, for all of its numbers.
  Shift::Moved moved(const Displacement& d, const Shift& shift) const {
    const model::Variable& v = variable(d.target.block);
    Shift::Moved out{d.target.block, Term{a_.number(1), {}, {}, {}, {}, 0}, {}, {}};
    std::vector<IndexId> element;
    const auto add = [&](PlateId p) {
      const IndexVarId b = variable_over(p);
      out.by.index_vars.push_back(b);
      element.push_back(a_.index(b));
      return element.back();
    };
    for (const PlateId p : v.axes)
      out.axes.push_back(add(p));
    if (d.target.member) {
      const model::Member& member = v.auxiliary->members[*d.target.member];
      std::vector<IndexId> own;
      for (const PlateId p : own_plates(member))
        own.push_back(add(p));
      out.event.push_back(a_.index(density::IndexCoordinate{c_[d.target.block].variable, *d.target.member, own}));
    } else {
      for (const PlateId p : v.event)
        out.event.push_back(add(p));
    }
    multiply(out.by, d, element, shift);
    return out;
  }

  /// Returns the name of a target.
  std::string name(const Target& x) const {
    const model::Variable& v = variable(x.block);
    return x.member ? m_[v.auxiliary->members[*x.member].variable].name : v.name;
  }

  const model::Model& m_;                // the model
  Schedule& s_;                          // its schedule
  const conditionals::Conditionals& c_;  // the blocks
  Algebra& a_;                           // of the terms
};

}  // namespace

std::optional<std::vector<IndexId>> constants_of(const Algebra& a, CoefId c, ArrayId step) {
  std::optional<std::vector<IndexId>> out;
  const auto* sum = std::get_if<density::CoefAdd>(&a[c]);
  for (const CoefId part : sum ? sum->parts : std::vector{c}) {
    std::vector<IndexId> here;
    for (const CoefId f : a.factors(part)) {
      const auto* array = std::get_if<density::CoefArray>(&a[f]);
      if (array && array->array == step) here.push_back(array->indices[0]);
    }
    if (out && *out != here) return std::nullopt;
    out = std::move(here);
  }
  return out;
}

std::vector<Shift> find_shifts(const model::Model& m, Schedule& s) {
  return try_pairs(ShiftFinder(m, s), s.conditionals.density.terms);
}

}  // namespace lehr::schedule
