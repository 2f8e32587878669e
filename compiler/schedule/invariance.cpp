// Finds invariances: connects variables by products over a plate, gives them signs, and checks every term.
//
// Rotations need more than scales: the components must be those of vectors, summed over the whole plate, and no guard,
// coefficient or other statistic may mention them. A variable of the items must be the first that its items update, so
// that the next sweep forms it from the transformed ones alone.
#include "compiler/schedule/invariance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/conditionals/shared_terms.h"
#include "compiler/density/poly.h"
#include "compiler/model/roles.h"
#include "compiler/schedule/quadratic_forms.h"
#include "compiler/support/printing.h"

namespace lehr::schedule {
namespace {

using conditionals::Block;
using conditionals::Use;
using density::Algebra;
using density::Atom;
using density::IndexId;
using density::IndexVarId;
using density::IndexVarRef;
using math::Stat;
using model::PlateId;
using model::VariableId;

/// Returns true if the factor of the block has exactly these two sufficient statistics, and parameters with these
/// roles.
bool has_form(const Block& b, Stat first, Stat second, math::ParameterRole x, math::ParameterRole y) {
  const auto& stats = b.factor->statistics;
  const auto has = [&](Stat s) { return std::ranges::find(stats, s, &math::StatisticRow::stat) != stats.end(); };
  return stats.size() == 2 && has(first) && has(second) && find_role(*b.factor, x) && find_role(*b.factor, y);
}

/// Returns true if the factor is a Normal number.
bool is_normal(const Block& b) {
  return has_form(b, Stat::value, Stat::square, math::ParameterRole::location, math::ParameterRole::precision);
}
/// Returns true if the factor is a Gamma number.
bool is_gamma(const Block& b) {
  return has_form(b, Stat::value, Stat::log, math::ParameterRole::other, math::ParameterRole::spread);
}

/// Finds the invariances of one plate, or of single numbers.
class Finder {
 public:
  /// Prepares the search over the plate.
  Finder(const model::Model& m, Schedule& s, PlateId plate)
      : m_(m), s_(s), c_(s.conditionals), a_(s.conditionals.density.algebra), plate_(plate), forms_(m, s, plate) {}

  /// Adds the invariances over the plate.
  void find(std::vector<Invariance>& out) {
    const std::vector<Edge> edges = find_edges(out);
    std::set<BlockId> seen;
    for (const Edge& e : edges) {
      if (seen.contains(e.from)) continue;
      const std::set<BlockId> set = connected_to(e.from, edges);
      seen.insert(set.begin(), set.end());
      for (const Signs& signs : candidates(set, edges)) {
        std::optional<Invariance> x = check(signs, out);
        if (!x) continue;
        out.push_back(std::move(*x));
        if (signs.size() == set.size()) break;
      }
    }
  }

 private:
  /// The variables that are transformed together, and the sign of each: 1, or -1 for the transposed inverse.
  using Signs = std::map<BlockId, int>;

  BlockId block_of(const Atom& x) const { return c_.block_of[x.variable.index()]; }
  const model::Variable& variable(BlockId b) const { return m_[c_[b].variable]; }
  bool is_plate(PlateId p) const { return m_[p].set == plate_; }

  /// Returns true if the block has factors that a transformation over the plate keeps in their family.
  bool can_transform(BlockId b) const {
    const Block& block = c_[b];
    const model::Variable& v = variable(b);
    if (!block.factor || !block.has_entropy() || block.mean || v.auxiliary || has_data(v)) return false;
    if (s_.storage[b.index()] != Storage::stored) return false;
    if (s_.local[b.index()] && !s_.stage_of[b.index()] && !block.chain) return false;
    const auto axes = std::ranges::count_if(v.axes, [&](PlateId p) { return is_plate(p); });
    // Of numbers, each component has every so many-th place in memory, so rows of different lengths come before it.
    for (std::size_t k = 0, own = 0; k < v.axes.size(); ++k) {
      if (is_plate(v.axes[k])) ++own;
      if (own > 0 && m_[m_[v.axes[k]].set].parent) return false;
    }
    if (is_vector(block)) return plate_.valid() && axes == 0 && v.event.size() == 1 && is_plate(v.event[0]);
    if (!v.auxiliary && m_[v.statement].limits.any()) return false;
    return axes == (plate_.valid() ? 1 : 0) && is_normal(block) && !model::mask_of(m_, v);
  }

  /// Returns the axis of the variable that runs over the plate; none if its vectors do, or if there is no plate.
  std::optional<std::size_t> axis_of(BlockId b) const {
    if (!plate_.valid() || is_vector(c_[b])) return std::nullopt;
    const model::Variable& v = variable(b);
    return static_cast<std::size_t>(std::ranges::find_if(v.axes, [&](PlateId p) { return is_plate(p); }) -
                                    v.axes.begin());
  }

  /// Returns the components of an atom: an index for each power of the variable.
  std::vector<IndexId> components(const Atom& x) const {
    const auto axis = axis_of(block_of(x));
    if (!axis) return powers_of(a_, x);
    return std::vector<IndexId>(x.stat == Stat::square ? 2 : 1, x.axes[*axis]);
  }

  /// Two variables with a product in some term, of one component of either.
  struct Edge {
    BlockId from, to;
    bool observed;  // true: the term is one of the likelihood
  };

  /// Returns true if an invariance that was found transforms both blocks.
  static bool are_together(BlockId a, BlockId b, const std::vector<Invariance>& found) {
    return std::ranges::any_of(found, [&](const Invariance& x) {
      const auto has = [&](BlockId y) {
        return std::ranges::find(x.variables, y, &Transformed::block) != x.variables.end();
      };
      return has(a) && has(b);
    });
  }

  /// Returns the blocks of numbers that are alone in a term of the likelihood, as the intercept of a regression: they
  /// are no factors of a product.
  std::set<BlockId> find_summands() const {
    std::set<BlockId> out;
    for (const Term& t : c_.density.terms) {
      std::set<BlockId> in;
      for (const Atom& x : t.atoms)
        in.insert(block_of(x));
      std::erase_if(in, [&](BlockId b) { return !can_transform(b); });
      if (in.size() == 1 && c_.density.origins[t.origin].observed) out.insert(*in.begin());
    }
    return out;
  }

  /// Returns the products, each in both directions. Those of numbers are left out where components of them are scaled
  /// one by one.
  std::vector<Edge> find_edges(const std::vector<Invariance>& found) const {
    const std::set<BlockId> summands = plate_.valid() ? std::set<BlockId>() : find_summands();
    const auto connects = [&](const Atom& x) {
      const bool linear = (x.stat == Stat::value || x.stat == Stat::comp) && x.opaque.empty();
      return linear && can_transform(block_of(x)) && !summands.contains(block_of(x));
    };
    std::vector<Edge> out;
    for (const Term& t : c_.density.terms) {
      for (const Atom& x : t.atoms) {
        for (const Atom& y : t.atoms) {
          const BlockId a = block_of(x), b = block_of(y);
          if (a != b && connects(x) && connects(y) && components(x) == components(y) &&
              (plate_.valid() || !are_together(a, b, found)))
            out.push_back({a, b, c_.density.origins[t.origin].observed});
        }
      }
    }
    return out;
  }

  /// Returns the block and all that are connected to it.
  static std::set<BlockId> connected_to(BlockId first, const std::vector<Edge>& edges) {
    std::set<BlockId> out{first};
    for (std::size_t before = 0; before != out.size();) {
      before = out.size();
      for (const Edge& e : edges) {
        if (out.contains(e.from)) out.insert(e.to);
      }
    }
    return out;
  }

  /// Gives connected variables signs, from `first` on: opposite ones to the factors of a product, or with `alike` equal
  /// ones to those of a product in a prior. Returns false if there are no such signs.
  static bool add_signs(BlockId first, const std::vector<Edge>& edges, bool alike, Signs& signs) {
    signs = {{first, 1}};
    for (std::size_t before = 0; before != signs.size();) {
      before = signs.size();
      for (const Edge& e : edges) {
        if (!signs.contains(e.from)) continue;
        const int sign = alike && !e.observed ? signs.at(e.from) : -signs.at(e.from);
        if (signs.insert({e.to, sign}).first->second != sign) return false;
      }
    }
    return true;
  }

  /// Returns the signs to try for a set of connected variables: such that the factors of all products have opposite
  /// ones, then such that those in priors have equal ones, as a state and its mean. Then pairs, as of three variables
  /// that are multiplied: each pair has an invariance of its own.
  std::vector<Signs> candidates(const std::set<BlockId>& set, const std::vector<Edge>& edges) const {
    std::vector<Signs> out;
    for (const bool alike : {false, true}) {
      Signs signs;
      if (add_signs(*set.begin(), edges, alike, signs) && (out.empty() || out[0] != signs)) out.push_back(signs);
    }
    if (set.size() == 2) return out;
    std::set<std::pair<BlockId, BlockId>> pairs;
    for (const Edge& e : edges) {
      if (set.contains(e.from) && e.from < e.to && e.observed && pairs.insert({e.from, e.to}).second)
        out.push_back({{e.from, 1}, {e.to, -1}});
    }
    return out;
  }

  /// Returns the invariance of the variables if every term is invariant or a prior; otherwise nothing.
  std::optional<Invariance> check(const Signs& signs, const std::vector<Invariance>& found) {
    Invariance out{plate_};
    out.diagonal = !plate_.valid();
    for (const auto& [b, sign] : signs) {
      if (!is_formed_first(s_, b) && !can_lead(b, signs, found)) return std::nullopt;
      out.diagonal = out.diagonal || axis_of(b).has_value();
      out.variables.push_back(transformed(b, sign < 0));
    }
    std::vector<std::size_t> priors;
    for (std::size_t k = 0; k < c_.density.terms.size(); ++k) {
      const Term& t = c_.density.terms[k];
      std::vector<std::size_t> own;
      for (std::size_t x = 0; x < t.atoms.size(); ++x) {
        if (signs.contains(block_of(t.atoms[x]))) own.push_back(x);
      }
      if (own.empty()) continue;
      if (std::ranges::any_of(own, [&](std::size_t x) { return !t.atoms[x].opaque.empty(); })) return std::nullopt;
      if (is_balanced(t, own, signs)) out.diagonal = out.diagonal || !is_contraction(t, own, signs);
      else if (!plate_.valid() && c_.density.origins[t.origin].observed) return std::nullopt;  // a sum, not a product
      else if (own.size() == 1 && is_prior(t, own[0])) priors.push_back(k);
      else if (!forms_.add(k, own, out)) return std::nullopt;
    }
    if (!forms_.complete_followers(out)) return std::nullopt;
    find_scales(priors, signs, out);
    for (const std::size_t k : priors)
      add_prior(k, signs, out);
    std::vector<bool> priced;
    for (const Transformed& v : out.variables)
      priced.push_back(!v.priors.empty());
    for (const QuadraticForm& x : out.forms) {
      for (const auto& v : x.variables)
        if (v) priced[*v] = true;
    }
    if (std::ranges::find(priced, false) != priced.end()) return std::nullopt;
    for (const auto& [b, sign] : signs)
      lead(b);
    return out;
  }

  /// Returns true if the item stage that begins the sweep can update the block before all its others but categories,
  /// so that it is formed first, and all blocks with it and of invariances that were found still are.
  bool can_lead(BlockId b, const Signs& signs, const std::vector<Invariance>& found) const {
    if (!s_.stage_of[b.index()] || !m_.guide.order.empty()) return false;
    const auto& stage = std::get<ItemStage>(s_.steps[*s_.stage_of[b.index()]]);
    const bool first = !s_.sweep.empty() && !s_.sweep[0].refresh && s_.sweep[0].step == *s_.stage_of[b.index()];
    const auto at = std::ranges::find(stage.blocks, b);
    const auto stays = [&](BlockId other) {
      const bool needed = signs.contains(other) || std::ranges::any_of(found, [&](const Invariance& x) {
                            return std::ranges::find(x.variables, other, &Transformed::block) != x.variables.end();
                          });
      const bool shares = conditionals::share_a_term(c_, b, {other});
      return !shares || (!needed && !is_discrete(variable(other).support) && !model::is_source(variable(other)));
    };
    return first && std::all_of(stage.blocks.begin(), at, stays);
  }

  /// Moves the block to the front of its item stage, unless it is formed first where it is.
  void lead(BlockId b) {
    if (is_formed_first(s_, b)) return;
    std::vector<BlockId>& blocks = std::get<ItemStage>(s_.steps[*s_.stage_of[b.index()]]).blocks;
    std::ranges::rotate(blocks, std::ranges::find(blocks, b));
  }

  /// Returns true if every component in the term occurs in as many statistics of either sign.
  bool is_balanced(const Term& t, const std::vector<std::size_t>& own, const Signs& signs) const {
    std::map<IndexId, int> powers;
    for (const std::size_t x : own) {
      for (const IndexId i : components(t.atoms[x]))
        powers[i] += signs.at(block_of(t.atoms[x]));
    }
    return std::ranges::all_of(powers, [](const auto& p) { return p.second == 0; });
  }

  /// Returns true if the term contracts each component: it is an index variable over the whole plate, in one statistic
  /// of either sign and nowhere else.
  bool is_contraction(const Term& t, const std::vector<std::size_t>& own, const Signs& signs) const {
    std::map<IndexId, std::vector<int>> uses;
    for (const std::size_t x : own) {
      for (const IndexId i : components(t.atoms[x]))
        uses[i].push_back(signs.at(block_of(t.atoms[x])));
    }
    return std::ranges::all_of(uses, [&](const auto& use) {
      const std::optional<IndexVarId> k = free_variable(t, use.first);
      return k && use.second.size() == 2 && !is_mentioned(t, *k, own);
    });
  }

  std::optional<IndexVarId> free_variable(const Term& t, IndexId i) const { return schedule::free_variable(a_, t, i); }
  bool is_mentioned(const Term& t, IndexVarId b, const std::vector<std::size_t>& own) const {
    return schedule::is_mentioned(a_, t, b, own);
  }

  /// Returns the numbers of copies that an element has in all terms with it alone: those of its plates (`times`), and
  /// of a mask 1 or 0. A mask with a number for each entry has equal ones in an element, because none of the entries
  /// are data.
  std::vector<density::Multiplicity> copies_of(VariableId v, const std::vector<IndexId>& element, IndexId entry) {
    std::vector<density::Multiplicity> out;
    for (std::size_t k = 0; k < element.size(); ++k) {
      const auto& times = m_[m_[v].axes[k]].times;
      if (!times) continue;
      const auto end = element.begin() + static_cast<std::ptrdiff_t>(k) + 1;
      std::vector<IndexId> at(end - std::ssize(m_[*times].axes), end);
      out.push_back({m_[v].axes[k], a_.coef(density::CoefData{*times, std::move(at)})});
    }
    const std::optional<model::GivenId> mask = model::mask_of(m_, m_[v]);
    if (!mask) return out;
    std::vector<IndexId> at = element;
    if (!m_[*mask].event.empty()) at.push_back(entry);
    out.push_back({v, a_.coef(density::CoefData{*mask, std::move(at)})});
    return out;
  }

  /// Returns the index variable of an element's axis, if the term sums it over a whole plate, or over the row of such
  /// an index variable in `parents`.
  std::optional<IndexVarId> element_variable(const Term& t, IndexId i, const std::set<IndexVarId>& parents) const {
    const auto* x = std::get_if<IndexVarRef>(&a_[i]);
    if (!x || !a_[x->bound].parent) return free_variable(t, i);
    const auto* row = std::get_if<IndexVarRef>(&a_[*a_[x->bound].parent]);
    const bool plain = x->offset == 0 && !a_[x->bound].selector && row && row->offset == 0 &&
                       parents.contains(row->bound) && std::ranges::find(t.index_vars, x->bound) != t.index_vars.end();
    return plain ? std::optional(x->bound) : std::nullopt;
  }

  /// Returns true if the term is a statistic of one element, for all elements that its mask leaves, times what is the
  /// same for all of them and does not belong to items.
  bool is_prior(const Term& t, std::size_t own) {
    const Atom& x = t.atoms[own];
    if (!t.guards.empty()) return false;
    if (!std::ranges::is_permutation(t.multiplicities, copies_of(x.variable, x.axes, components(x)[0]))) return false;
    const auto axis = axis_of(block_of(x));
    std::set<IndexVarId> element;
    for (std::size_t k = 0; k < x.axes.size(); ++k) {
      const std::optional<IndexVarId> b = element_variable(t, x.axes[k], element);
      if (!b || (k != axis && !element.insert(*b).second)) return false;
    }
    for (const IndexId i : components(x)) {
      const std::optional<IndexVarId> b = free_variable(t, i);
      if (plate_.valid() && (!b || element.contains(*b))) return false;
    }
    Term rest = t;
    rest.multiplicities.clear();
    rest.atoms.erase(rest.atoms.begin() + static_cast<std::ptrdiff_t>(own));
    const bool global = std::ranges::none_of(
        rest.atoms, [&](const Atom& y) { return s_.local[block_of(y).index()] || !y.opaque.empty(); });
    return global && std::ranges::none_of(element, [&](IndexVarId b) { return is_mentioned(rest, b, {}); });
  }

  /// Returns the description of a variable that is transformed, without its priors.
  Transformed transformed(BlockId b, bool inverse) {
    Transformed out{b, inverse, axis_of(b)};
    const model::Variable& v = variable(b);
    const auto fresh = [&](PlateId p) { return a_.bound({m_[m_[p].set].name, m_[p].set, std::nullopt, false}); };
    if (plate_.valid()) out.component = fresh(plate_);
    if (plate_.valid()) out.other = fresh(plate_);
    const bool vector = is_vector(c_[b]);
    Atom one{c_[b].variable, {}, vector ? Stat::comp : Stat::value, {}, {}};
    Term sum{a_.number(1), {}, {}, {}, {}, {}};
    for (std::size_t k = 0; k < v.axes.size(); ++k) {
      if (k == out.axis) {
        one.axes.push_back(a_.index(out.component));
        continue;
      }
      const PlateId p = m_[v.axes[k]].set;
      IndexVarId e;
      if (m_[p].parent) e = a_.bound({m_[p].name, p, one.axes.back(), false});
      else e = fresh(p);
      one.axes.push_back(a_.index(e));
      sum.index_vars.push_back(e);
    }
    sum.multiplicities = copies_of(one.variable, one.axes, a_.index(density::IndexConstant{0}));
    out.count = sum;
    if (plate_.valid()) sum.index_vars.push_back(out.component);
    Atom two = one;
    if (vector) one.event = {a_.index(out.component)};
    sum.atoms = {one};
    out.first.term = sum;
    two.stat = vector ? Stat::comp2 : Stat::square;
    if (vector) {
      two.event = {a_.index(out.component), a_.index(out.other)};
      sum.index_vars.push_back(out.other);
    }
    sum.atoms = {two};
    out.second.term = sum;
    return out;
  }

  /// Finds Gamma blocks that multiply priors of the invariance and occur otherwise only in terms without items.
  void find_scales(const std::vector<std::size_t>& priors, const Signs& signs, Invariance& out) const {
    std::set<BlockId> candidates;
    for (const std::size_t k : priors) {
      const Term& t = c_.density.terms[k];
      for (const Atom& x : t.atoms) {
        if (!signs.contains(block_of(x)) && is_gamma(c_[block_of(x)])) candidates.insert(block_of(x));
      }
    }
    for (const BlockId b : candidates) {
      RescaledPrior scale{b, !variable(b).axes.empty()};
      bool suits = c_[b].has_entropy() && !s_.local[b.index()] && !variable(b).auxiliary && !has_data(variable(b)) &&
                   variable(b).axes.size() <= 1 && s_.storage[b.index()] == Storage::stored;
      for (const Use& u : c_[b].uses) {
        const bool prior = std::ranges::find(priors, u.term) != priors.end();
        if (prior) suits = suits && scales_prior(c_.density.terms[u.term], u.atom, signs);
        else suits = suits && is_separate(c_.density.terms[u.term], u.atom);
        if (!prior) scale.rest.push_back(u);
      }
      if (suits) out.scales.push_back(std::move(scale));
    }
  }

  /// Returns true if the atom, of a scale, multiplies a single component of the prior: its square or its value. A scale
  /// with elements must have the component's.
  bool scales_prior(const Term& t, std::size_t scale, const Signs& signs) const {
    const Atom& g = t.atoms[scale];
    const auto x = std::ranges::find_if(t.atoms, [&](const Atom& y) { return signs.contains(block_of(y)); });
    const std::vector<IndexId> k = components(*x);
    const auto others = std::ranges::count_if(t.atoms, [&](const Atom& y) { return block_of(y) == block_of(g); });
    return g.stat == Stat::value && others == 1 && k.front() == k.back() && (g.axes.empty() || g.axes[0] == k.front());
  }

  /// Returns true if the term gives the scale a natural parameter that neither items nor neighbours decide.
  bool is_separate(const Term& t, std::size_t scale) const {
    const Atom& g = t.atoms[scale];
    const bool own = g.axes.empty() || free_variable(t, g.axes[0]).has_value();
    const auto is_own_copy = [&](const auto& x) { return density::has_factor_per_copy(m_, g.variable, x); };
    return own && g.opaque.empty() && std::ranges::none_of(t.multiplicities, is_own_copy) &&
           std::ranges::all_of(t.atoms, [&](const Atom& x) {
             return x == g || (block_of(x) != block_of(g) && !s_.local[block_of(x).index()]);
           });
  }

  /// Adds the term to the priors of its variable.
  void add_prior(std::size_t term, const Signs& signs, Invariance& out) const {
    const Term& t = c_.density.terms[term];
    const auto own = static_cast<std::size_t>(
        std::ranges::find_if(t.atoms, [&](const Atom& x) { return signs.contains(block_of(x)); }) - t.atoms.begin());
    const Atom& x = t.atoms[own];
    PriorTerm prior{t, components(x)};
    std::set<IndexVarId> element;
    for (std::size_t k = 0; k < x.axes.size(); ++k) {
      if (k != axis_of(block_of(x))) a_.collect(x.axes[k], element);
    }
    std::erase_if(prior.coefficient.index_vars, [&](IndexVarId b) { return element.contains(b); });
    prior.coefficient.multiplicities.clear();  // those of the element
    prior.coefficient.atoms.clear();
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      if (k == own) continue;
      const auto scale = std::ranges::find(out.scales, block_of(t.atoms[k]), &RescaledPrior::block);
      if (scale == out.scales.end()) prior.coefficient.atoms.push_back(t.atoms[k]);
      else prior.scale = static_cast<std::size_t>(scale - out.scales.begin());
    }
    std::ranges::find(out.variables, block_of(x), &Transformed::block)->priors.push_back(std::move(prior));
  }

  const model::Model& m_;                // the model
  Schedule& s_;                          // its schedule
  const conditionals::Conditionals& c_;  // the blocks
  Algebra& a_;                           // of the terms
  PlateId plate_;                        // the plate of the components; invalid for numbers
  FormFinder forms_;                     // finds terms that are neither invariant nor priors
};

}  // namespace

bool is_formed_first(const Schedule& s, BlockId b) {
  const auto stage = s.stage_of[b.index()];
  const bool begins = !s.sweep.empty() && !s.sweep[0].refresh;
  if (!stage) {
    const auto* update = begins ? std::get_if<BlockUpdate>(&s.steps[s.sweep[0].step]) : nullptr;
    return !s.conditionals[b].chain || (update && update->block == b);
  }
  if (!begins || s.sweep[0].step != *stage) return false;
  const std::vector<BlockId>& blocks = std::get<ItemStage>(s.steps[*stage]).blocks;
  const std::vector<BlockId> before(blocks.begin(), std::ranges::find(blocks, b));
  return before.empty() || !conditionals::share_a_term(s.conditionals, b, before);
}

bool Transformed::needs(std::size_t components) const {
  return std::ranges::any_of(priors, [&](const PriorTerm& p) { return p.components.size() == components; });
}

std::string describe(const model::Model& m, const Schedule& s, const Invariance& x) {
  const auto name = [&](const auto& y) { return m[s.conditionals[y.block].variable].name; };
  const auto change = [&](const Transformed& v) {
    const char* by = x.diagonal ? (v.inverse ? "/ c" : "* c") : (v.inverse ? "R^-T" : "R");
    return fmt::format("{} -> {} {}", name(v), name(v), by);
  };
  std::string out = listed(x.variables, change);
  if (x.plate.valid()) out += " over " + m[x.plate].name;
  std::vector<std::string> anew;
  std::ranges::transform(x.scales, std::back_inserter(anew), name);
  std::ranges::transform(x.followers, std::back_inserter(anew), name);
  if (!anew.empty()) out += fmt::format("; {} chosen anew", listed(anew));
  return out;
}

std::vector<Invariance> find_invariances(const model::Model& m, Schedule& s) {
  std::vector<Invariance> out;
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (m[PlateId(k)].set == PlateId(k) && !m[PlateId(k)].parent) Finder(m, s, PlateId(k)).find(out);
  }
  Finder(m, s, PlateId()).find(out);
  return out;
}

}  // namespace lehr::schedule
