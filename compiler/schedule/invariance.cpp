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

/// Returns true if the factor is a Normal vector.
bool is_vector(const Block& b) {
  return has_form(b, Stat::comp, Stat::comp2, math::ParameterRole::location, math::ParameterRole::precision);
}
/// Returns true if the factor is a Normal number.
bool is_normal(const Block& b) {
  return has_form(b, Stat::value, Stat::square, math::ParameterRole::location, math::ParameterRole::precision);
}
/// Returns true if the factor is a Gamma number.
bool is_gamma(const Block& b) {
  return has_form(b, Stat::value, Stat::log, math::ParameterRole::other, math::ParameterRole::spread);
}

/// Finds the invariances of one plate.
class Finder {
 public:
  /// Prepares the search over the plate.
  Finder(const model::Model& m, Schedule& s, PlateId plate)
      : m_(m), s_(s), c_(s.conditionals), a_(s.conditionals.density.algebra), plate_(plate) {}

  /// Returns the invariances over the plate.
  std::vector<Invariance> find() {
    std::vector<Invariance> out;
    for (const auto& signs : connected()) {
      if (std::optional<Invariance> x = check(signs)) out.push_back(std::move(*x));
    }
    return out;
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
    if (s_.storage[b.index()] != Storage::stored || (block.chain && s_.stage_of[b.index()])) return false;
    if (s_.local[b.index()] && !s_.stage_of[b.index()] && !block.chain) return false;
    if (std::ranges::any_of(v.axes, [&](PlateId p) { return m_[m_[p].set].parent.has_value(); })) return false;
    const auto axes = std::ranges::count_if(v.axes, [&](PlateId p) { return is_plate(p); });
    if (is_vector(block)) return axes == 0 && v.event.size() == 1 && is_plate(v.event[0]);
    return axes == 1 && is_normal(block) && !model::mask_of(m_, v);
  }

  /// Returns the axis of the variable that runs over the plate; none if its vectors do.
  std::optional<std::size_t> axis_of(BlockId b) const {
    if (is_vector(c_[b])) return std::nullopt;
    const model::Variable& v = variable(b);
    return static_cast<std::size_t>(std::ranges::find_if(v.axes, [&](PlateId p) { return is_plate(p); }) -
                                    v.axes.begin());
  }

  /// Returns the components of an atom: an index for each power of the variable.
  std::vector<IndexId> components(const Atom& x) const {
    const auto axis = axis_of(block_of(x));
    if (!axis) return x.event;
    return std::vector<IndexId>(x.stat == Stat::square ? 2 : 1, x.axes[*axis]);
  }

  /// Returns sets of variables that products over the plate connect, with signs such that both factors of a product
  /// have opposite ones. A set without such signs is left out.
  std::vector<Signs> connected() const {
    std::map<BlockId, std::set<BlockId>> beside;
    for (const Term& t : c_.density.terms) {
      for (const Atom& x : t.atoms) {
        for (const Atom& y : t.atoms) {
          const bool linear = (x.stat == Stat::value || x.stat == Stat::comp) && x.opaque.empty() &&
                              (y.stat == Stat::value || y.stat == Stat::comp) && y.opaque.empty();
          const BlockId a = block_of(x), b = block_of(y);
          if (linear && a != b && can_transform(a) && can_transform(b) && components(x) == components(y))
            beside[a].insert(b);
        }
      }
    }
    std::vector<Signs> out;
    std::set<BlockId> seen;
    for (const auto& [first, others] : beside) {
      if (seen.contains(first)) continue;
      Signs signs{{first, 1}};
      std::vector<BlockId> open{first};
      bool opposite = true;
      while (!open.empty()) {
        const BlockId b = open.back();
        open.pop_back();
        for (const BlockId next : beside.at(b)) {
          const auto [at, fresh] = signs.insert({next, -signs.at(b)});
          if (fresh) open.push_back(next);
          opposite = opposite && at->second == -signs.at(b);
        }
      }
      for (const auto& [b, sign] : signs)
        seen.insert(b);
      if (opposite) out.push_back(std::move(signs));
    }
    return out;
  }

  /// Returns the invariance of the variables if every term is invariant or a prior; otherwise nothing.
  std::optional<Invariance> check(const Signs& signs) {
    Invariance out{plate_};
    for (const auto& [b, sign] : signs) {
      if (!is_formed_first(s_, b)) return std::nullopt;
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
      else if (own.size() == 1 && is_prior(t, own[0])) priors.push_back(k);
      else if (!add_form(k, own, out)) return std::nullopt;
    }
    if ((out.diagonal && !out.forms.empty()) || !are_followers(out)) return std::nullopt;
    find_scales(priors, signs, out);
    for (const std::size_t k : priors)
      add_prior(k, signs, out);
    std::vector<bool> priced;
    for (const Transformed& v : out.variables)
      priced.push_back(!v.priors.empty());
    for (const QuadraticForm& x : out.forms)
      priced[x.variable] = true;
    const bool has_priors = std::ranges::find(priced, false) == priced.end();
    return has_priors ? std::optional(std::move(out)) : std::nullopt;
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

  /// Returns the index variable that the index is, if the term sums it over a whole plate.
  std::optional<IndexVarId> free_variable(const Term& t, IndexId i) const {
    const auto* x = std::get_if<IndexVarRef>(&a_[i]);
    const bool plain = x && x->offset == 0 && !a_[x->bound].parent && !a_[x->bound].selector &&
                       std::ranges::find(t.index_vars, x->bound) != t.index_vars.end();
    return plain ? std::optional(x->bound) : std::nullopt;
  }

  /// Returns true if the term mentions the index variable outside the atoms `own`, or among their axes.
  bool is_mentioned(const Term& t, IndexVarId b, const std::vector<std::size_t>& own) const {
    const auto mentions = [&](const auto& indices) {
      return std::ranges::any_of(indices, [&](IndexId i) { return a_.mentions(i, b); });
    };
    if (a_.mentions(t.coef, b)) return true;
    for (const density::Multiplicity& x : t.multiplicities) {
      if (a_.mentions(x.count, b)) return true;
    }
    for (const density::Guard& g : t.guards) {
      std::set<IndexVarId> in;
      density::collect(a_, g, in);
      if (in.contains(b)) return true;
    }
    for (const IndexVarId x : t.index_vars) {
      if (a_[x].parent && a_.mentions(*a_[x].parent, b)) return true;
    }
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      const bool other = std::ranges::find(own, k) == own.end();
      if (mentions(t.atoms[k].axes) || (other && mentions(t.atoms[k].event))) return true;
    }
    return false;
  }

  /// Returns the number of copies of an element that its mask gives, 1 or 0; none if the variable has no mask. A mask
  /// with a number for each entry has equal ones in an element, because none of the entries are data.
  std::optional<density::Multiplicity> mask_at(VariableId v, std::vector<IndexId> element, IndexId entry) {
    const std::optional<model::GivenId> mask = model::mask_of(m_, m_[v]);
    if (!mask) return std::nullopt;
    if (!m_[*mask].event.empty()) element.push_back(entry);
    return density::Multiplicity{v, a_.coef(density::CoefData{*mask, std::move(element)})};
  }

  /// Returns true if the term is a statistic of one element, for all elements that its mask leaves, times what is the
  /// same for all of them and does not belong to items.
  bool is_prior(const Term& t, std::size_t own) {
    const Atom& x = t.atoms[own];
    const auto mask = mask_at(x.variable, x.axes, components(x)[0]);
    const auto masks = mask ? std::vector{*mask} : std::vector<density::Multiplicity>();
    if (!t.guards.empty() || t.multiplicities != masks) return false;
    const auto axis = axis_of(block_of(x));
    std::set<IndexVarId> element;
    for (std::size_t k = 0; k < x.axes.size(); ++k) {
      const std::optional<IndexVarId> b = free_variable(t, x.axes[k]);
      if (!b || (k != axis && !element.insert(*b).second)) return false;
    }
    for (const IndexId i : components(x)) {
      const std::optional<IndexVarId> b = free_variable(t, i);
      if (!b || element.contains(*b)) return false;
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
    out.component = fresh(plate_);
    out.other = fresh(plate_);
    Atom one{c_[b].variable, {}, out.axis ? Stat::value : Stat::comp, {}, {}};
    Term sum{a_.number(1), {}, {}, {}, {}, {}};
    for (std::size_t k = 0; k < v.axes.size(); ++k) {
      if (k == out.axis) {
        one.axes.push_back(a_.index(out.component));
        continue;
      }
      const IndexVarId e = fresh(v.axes[k]);
      one.axes.push_back(a_.index(e));
      sum.index_vars.push_back(e);
    }
    if (const auto mask = mask_at(one.variable, one.axes, a_.index(density::IndexConstant{0})))
      sum.multiplicities.push_back(*mask);
    out.count = sum;
    sum.index_vars.push_back(out.component);
    Atom two = one;
    if (!out.axis) one.event = {a_.index(out.component)};
    sum.atoms = {one};
    out.first.term = sum;
    two.stat = out.axis ? Stat::square : Stat::comp2;
    if (!out.axis) {
      two.event = {a_.index(out.component), a_.index(out.other)};
      sum.index_vars.push_back(out.other);
    }
    sum.atoms = {two};
    out.second.term = sum;
    return out;
  }

  /// Adds the term to the forms if it is a sum of products of two components of one variable, over some of its
  /// elements, times what is the same for all of them: at most an atom of a follower, and factors that are not of
  /// items.
  bool add_form(std::size_t k, std::vector<std::size_t> own, Invariance& out) const {
    const Term& t = c_.density.terms[k];
    const BlockId b = block_of(t.atoms[own[0]]);
    std::vector<IndexId> products;
    for (const std::size_t x : own) {
      if (block_of(t.atoms[x]) != b || !is_vector(c_[b]) || s_.stage_of[b.index()]) return false;
      std::ranges::copy(t.atoms[x].event, std::back_inserter(products));
    }
    if (products.size() != 2 || !t.multiplicities.empty()) return false;
    std::set<IndexVarId> elements;
    for (const std::size_t x : own) {
      for (const IndexId i : t.atoms[x].axes)
        a_.collect(i, elements);
    }
    QuadraticForm form{0, t, {}, {}, t, products, {}, 0};
    while (out.variables[form.variable].block != b)
      ++form.variable;
    for (std::size_t x = own.size(); x-- > 0;)
      form.coefficient.atoms.erase(form.coefficient.atoms.begin() + static_cast<std::ptrdiff_t>(own[x]));
    form.coefficient.guards.clear();
    std::erase_if(form.coefficient.index_vars, [&](IndexVarId v) { return elements.contains(v); });
    if (!add_follower(form, products, out)) return false;
    // The moments have the row of the follower first.
    if (form.order == 1 && form.at[0] != products[0]) std::ranges::reverse(own);
    // The coefficient is without the elements, and the elements and guards are without components and rows.
    for (const IndexVarId v : form.coefficient.index_vars) {
      const auto in_guard = [&](const density::Guard& g) {
        std::set<IndexVarId> in;
        density::collect(a_, g, in);
        return in.contains(v);
      };
      if (elements.contains(v) || std::ranges::any_of(t.guards, in_guard)) return false;
    }
    Term rest = form.coefficient;
    const auto mentions_element = [&](IndexVarId v) { return is_mentioned(rest, v, {}); };
    if (std::ranges::any_of(elements, mentions_element)) return false;
    const auto is_global = [&](const Atom& y) { return !s_.local[block_of(y).index()] && y.opaque.empty(); };
    if (!std::ranges::all_of(rest.atoms, is_global)) return false;
    form.first = out.variables[form.variable].component;
    form.second = out.variables[form.variable].other;
    form.moments = moments_of(t, own, form);
    out.forms.push_back(std::move(form));
    return true;
  }

  /// Returns the sums of the products of two components over the elements in the term.
  Term moments_of(const Term& t, const std::vector<std::size_t>& own, const QuadraticForm& form) const {
    Term out{a_.number(1), {}, {}, {}, t.guards, t.origin};
    std::vector<IndexId> free{a_.index(form.first), a_.index(form.second)};
    std::set<IndexVarId> elements;
    for (const std::size_t x : own) {
      Atom atom = t.atoms[x];
      for (const IndexId i : atom.axes)
        a_.collect(i, elements);
      for (IndexId& i : atom.event) {
        i = free.front();
        free.erase(free.begin());
      }
      out.atoms.push_back(std::move(atom));
    }
    for (const IndexVarId v : t.index_vars) {
      if (elements.contains(v)) out.index_vars.push_back(v);
    }
    out.index_vars.push_back(form.first);
    out.index_vars.push_back(form.second);
    return out;
  }

  /// Takes the atom of a follower out of the coefficient of a form, if there is one whose entries belong to the
  /// products. Returns false if the components are not free, or belong to something else.
  bool add_follower(QuadraticForm& form, const std::vector<IndexId>& products, Invariance& out) const {
    Term& t = form.coefficient;
    for (const IndexId i : products) {
      if (!free_variable(t, i)) return false;
    }
    for (std::size_t k = 0; k < t.atoms.size(); ++k) {
      const Atom& x = t.atoms[k];
      if (!may_follow(block_of(x))) continue;
      const IndexId row = x.axes[0];
      if (!free_variable(t, row)) return false;
      const bool pair = x.stat == Stat::comp2;
      const std::vector<IndexId> order = pair ? x.event : std::vector{row, x.event[0]};
      if (!std::ranges::is_permutation(order, products) || order[0] == order[1]) return false;
      if (pair && std::ranges::find(products, row) != products.end()) return false;
      form.order = pair ? 2 : 1;
      form.at = {row};
      auto at = std::ranges::find(out.followers, block_of(x), &Follower::block);
      if (at == out.followers.end()) at = out.followers.insert(at, {block_of(x), {}});
      form.follower = static_cast<std::size_t>(at - out.followers.begin());
      t.atoms.erase(t.atoms.begin() + static_cast<std::ptrdiff_t>(k));
      // The entries of the row are summed by the product, not by the coefficient.
      for (const IndexId i : products) {
        const IndexVarId b = std::get<IndexVarRef>(a_[i]).bound;
        if (i != row && is_mentioned(t, b, {})) return false;
        if (i != row) std::erase(t.index_vars, b);
      }
      return true;
    }
    return true;
  }

  /// Returns true if the block is a matrix with Normal rows, whose axis and vectors run over the plate.
  bool may_follow(BlockId b) const {
    const Block& block = c_[b];
    const model::Variable& v = variable(b);
    return block.factor && block.has_entropy() && !block.chain && !block.mean && !v.auxiliary && !has_data(v) &&
           is_vector(block) && s_.storage[b.index()] == Storage::stored && !s_.local[b.index()] && v.axes.size() == 1 &&
           is_plate(v.axes[0]) && is_plate(v.event[0]) && !block.coupled();
  }

  /// Returns true if all other uses of the followers are sums over their entries of what does not belong to items; adds
  /// these uses.
  bool are_followers(Invariance& out) const {
    for (Follower& f : out.followers) {
      for (const Use& u : c_[f.block].uses) {
        const Term& t = c_.density.terms[u.term];
        const auto changes = [&](const Atom& x) {
          return std::ranges::any_of(out.variables, [&](const Transformed& v) { return v.block == block_of(x); });
        };
        if (std::ranges::any_of(t.atoms, changes)) continue;
        const Atom& own = t.atoms[u.atom];
        const bool linear = own.stat == Stat::comp || own.stat == Stat::comp2;
        const auto is_other = [&](const Atom& x) {
          return x == own || (block_of(x) != f.block && !s_.local[block_of(x).index()]);
        };
        if (!linear || !own.opaque.empty() || !t.multiplicities.empty() || !std::ranges::all_of(t.atoms, is_other))
          return false;
        f.rest.push_back(u);
      }
    }
    return true;
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
    prior.coefficient.multiplicities.clear();  // the mask of the element
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
  PlateId plate_;                        // the plate of the components
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
  std::string out = fmt::format("{} over {}", listed(x.variables, change), m[x.plate].name);
  std::vector<std::string> anew;
  std::ranges::transform(x.scales, std::back_inserter(anew), name);
  std::ranges::transform(x.followers, std::back_inserter(anew), name);
  if (!anew.empty()) out += fmt::format("; {} chosen anew", listed(anew));
  return out;
}

std::vector<Invariance> find_invariances(const model::Model& m, Schedule& s) {
  std::vector<Invariance> out;
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (m[PlateId(k)].set != PlateId(k) || m[PlateId(k)].parent) continue;
    for (Invariance& x : Finder(m, s, PlateId(k)).find())
      out.push_back(std::move(x));
  }
  return out;
}

}  // namespace lehr::schedule
