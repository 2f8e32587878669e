// Divides a term: the products and all that depends on their elements are the moments, the rest is the coefficient.
#include "compiler/schedule/quadratic_forms.h"

#include <algorithm>

#include "compiler/conditionals/gather.h"
#include "compiler/density/poly.h"
#include "compiler/model/roles.h"

namespace lehr::schedule {

using conditionals::Block;
using conditionals::Use;
using density::Algebra;
using density::Atom;
using density::IndexVarRef;
using math::Stat;

bool is_vector(const Block& b) {
  const auto& stats = b.factor->statistics;
  const auto has = [&](Stat s) { return std::ranges::find(stats, s, &math::StatisticRow::stat) != stats.end(); };
  return stats.size() == 2 && has(Stat::comp) && has(Stat::comp2) &&
         find_role(*b.factor, math::ParameterRole::location) && find_role(*b.factor, math::ParameterRole::precision);
}

std::vector<density::IndexId> powers_of(Algebra& a, const Atom& x) {
  if (!x.event.empty()) return x.event;
  return std::vector<density::IndexId>(x.stat == Stat::square ? 2 : 1, a.index(density::IndexConstant{0}));
}

std::optional<density::IndexVarId> free_variable(const Algebra& a, const Term& t, density::IndexId i) {
  const auto* x = std::get_if<IndexVarRef>(&a[i]);
  const bool plain = x && x->offset == 0 && !a[x->bound].parent && !a[x->bound].selector &&
                     std::ranges::find(t.index_vars, x->bound) != t.index_vars.end();
  return plain ? std::optional(x->bound) : std::nullopt;
}

bool is_mentioned(const Algebra& a, const Term& t, density::IndexVarId b, const std::vector<std::size_t>& own) {
  const auto mentions = [&](const auto& indices) {
    return std::ranges::any_of(indices, [&](density::IndexId i) { return a.mentions(i, b); });
  };
  if (a.mentions(t.coef, b)) return true;
  for (const density::Multiplicity& x : t.multiplicities) {
    if (a.mentions(x.count, b)) return true;
  }
  for (const density::Guard& g : t.guards) {
    std::set<density::IndexVarId> in;
    density::collect(a, g, in);
    if (in.contains(b)) return true;
  }
  for (const density::IndexVarId x : t.index_vars) {
    if (a[x].parent && a.mentions(*a[x].parent, b)) return true;
  }
  for (std::size_t k = 0; k < t.atoms.size(); ++k) {
    const bool other = std::ranges::find(own, k) == own.end();
    if (mentions(t.atoms[k].axes) || (other && mentions(t.atoms[k].event))) return true;
  }
  return false;
}

bool FormFinder::may_follow(BlockId b) const {
  const Block& block = c_[b];
  const model::Variable& v = m_[block.variable];
  return block.factor && block.has_entropy() && !block.chain && !block.mean && !v.auxiliary && !has_data(v) &&
         is_vector(block) && s_.storage[b.index()] == Storage::stored && !s_.local[b.index()] && v.axes.size() == 1 &&
         m_[v.axes[0]].set == plate_ && !block.coupled() && !model::mask_of(m_, v);
}

std::optional<FormFinder::Parts> FormFinder::parts_of(const Term& t, const std::vector<std::size_t>& own,
                                                      const Invariance& out) const {
  Parts parts;
  std::vector<Factor> products;
  for (const std::size_t x : own) {
    const auto at = std::ranges::find(out.variables, block_of(t.atoms[x]), &Transformed::block);
    if (at == out.variables.end() || at->axis) return std::nullopt;
    for (const IndexId i : powers_of(a_, t.atoms[x]))
      products.push_back({i, static_cast<std::size_t>(at - out.variables.begin())});
  }
  std::vector<IndexId> entries;
  for (std::size_t k = 0; k < t.atoms.size(); ++k) {
    const Atom& x = t.atoms[k];
    if (std::ranges::find(own, k) != own.end() || !may_follow(block_of(x))) continue;
    if (!x.opaque.empty() || (parts.row && *parts.row != x.axes[0])) return std::nullopt;
    parts.row = x.axes[0];
    std::ranges::copy(x.event, std::back_inserter(entries));
  }
  if (!parts.row) {
    parts.factors = products;
    return products.size() == 2 ? std::optional(parts) : std::nullopt;
  }
  // With one entry, the product has the row of the follower first.
  const bool single = entries.size() == 1;
  if (single) entries.insert(entries.begin(), *parts.row);
  if (entries.size() != 2 || entries[0] == entries[1] || !free_variable(a_, t, *parts.row)) return std::nullopt;
  if (!single && std::ranges::find(entries, *parts.row) != entries.end()) return std::nullopt;
  for (const IndexId i : entries) {
    const auto at = std::ranges::find(products, i, &Factor::index);
    parts.factors.push_back(at != products.end() ? *at : Factor{i, std::nullopt});
    if (!free_variable(a_, t, i)) return std::nullopt;
    if (at != products.end()) products.erase(at);
  }
  const bool has_row = !single || parts.factors[0].variable;
  return products.empty() && has_row ? std::optional(parts) : std::nullopt;
}

bool FormFinder::divide(const Term& t, const std::vector<std::size_t>& own, const std::set<IndexVarId>& inside,
                        QuadraticForm& form) const {
  Term &moments = form.moments.term, &rest = form.coefficient;
  const auto part = [&](const auto& x) -> Term& {
    std::set<IndexVarId> in;
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, density::Guard>) density::collect(a_, x, in);
    else a_.collect(x, in);
    return std::ranges::any_of(in, [&](IndexVarId b) { return inside.contains(b); }) ? moments : rest;
  };
  moments = rest = Term{a_.number(1), {}, {}, {}, {}, t.origin};
  for (const density::CoefId f : a_.factors(t.coef)) {
    Term& to = part(f);
    to.coef = a_.multiply(to.coef, f);
  }
  for (const density::Multiplicity& x : t.multiplicities)
    part(x.count).multiplicities.push_back(x);
  for (const density::Guard& g : t.guards)
    part(g).guards.push_back(g);
  for (std::size_t k = 0; k < t.atoms.size(); ++k) {
    const Atom& x = t.atoms[k];
    const bool is_own = std::ranges::find(own, k) != own.end();
    if (is_own) moments.atoms.push_back(x);
    if (is_own || may_follow(block_of(x))) continue;
    if (s_.local[block_of(x).index()] || !x.opaque.empty()) return false;
    rest.atoms.push_back(x);
  }
  return true;
}

bool FormFinder::divide_index_vars(const Term& t, const Parts& parts, const std::set<IndexVarId>& inside,
                                   QuadraticForm& form) const {
  Term &moments = form.moments.term, &rest = form.coefficient;
  for (const IndexVarId b : t.index_vars) {
    const bool is_factor = std::ranges::any_of(parts.factors, [&](const Factor& f) { return a_.mentions(f.index, b); });
    const bool is_row = parts.row && a_.mentions(*parts.row, b);
    const bool in_moments = is_mentioned(a_, moments, b, {}), in_rest = is_mentioned(a_, rest, b, {});
    if (is_row) {
      if (in_moments && !is_factor) return false;
      if (is_factor) moments.index_vars.push_back(b);
      rest.index_vars.push_back(b);
    } else if (is_factor) {
      if (parts.row ? in_rest : in_moments) return false;
      (parts.row ? moments : rest).index_vars.push_back(b);
    } else {
      const bool summed = in_moments || inside.contains(b);
      if (summed && in_rest) return false;
      (summed ? moments : rest).index_vars.push_back(b);
    }
  }
  return true;
}

void FormFinder::number_factors(const Parts& parts, QuadraticForm& form) const {
  Term& moments = form.moments.term;
  for (const IndexVarId b : {form.first, form.second}) {
    if (!b.valid()) continue;  // a number
    const Factor& f = parts.factors[b == form.first ? 0 : 1];
    if (parts.row)
      moments = density::substitute(a_, std::move(moments), std::get<IndexVarRef>(a_[f.index]).bound, a_.index(b));
    moments.index_vars.push_back(b);
  }
}

bool FormFinder::add(std::size_t term, const std::vector<std::size_t>& own, Invariance& out) const {
  const Term& t = c_.density.terms[term];
  const std::optional<Parts> parts = parts_of(t, own, out);
  if (!parts) return false;
  std::set<IndexVarId> inside;
  for (const std::size_t x : own) {
    for (const IndexId i : t.atoms[x].axes)
      a_.collect(i, inside);
  }
  for (const IndexVarId b : t.index_vars) {  // what is nested in the elements
    const auto mentions = [&](IndexVarId p) { return a_.mentions(*a_[b].parent, p); };
    if (a_[b].parent && std::ranges::any_of(inside, mentions)) inside.insert(b);
  }
  QuadraticForm form;
  form.term = term;
  for (std::size_t k = 0; k < 2; ++k) {
    const Factor& f = parts->factors[k];
    form.variables[k] = f.variable;
    if (!plate_.valid()) continue;
    const model::PlateId plate = parts->row ? a_[std::get<IndexVarRef>(a_[f.index]).bound].plate : plate_;
    (k == 0 ? form.first : form.second) = a_.bound({m_[m_[plate].set].name, m_[plate].set, std::nullopt, false});
    if (parts->row && f.index != *parts->row) a_.collect(f.index, inside);
  }
  if (!divide(t, own, inside, form)) return false;
  if (!parts->row) {
    std::vector<IndexId> numbers{a_.index(form.first), a_.index(form.second)};
    for (Atom& x : form.moments.term.atoms) {
      for (IndexId& i : x.event) {
        i = numbers.front();
        numbers.erase(numbers.begin());
      }
    }
  }
  if (!divide_index_vars(t, *parts, inside, form)) return false;
  number_factors(*parts, form);
  if (parts->row) form.at = {*parts->row};
  else form.at = {parts->factors[0].index, parts->factors[1].index};
  for (const Atom& x : t.atoms) {
    if (!may_follow(block_of(x))) continue;
    auto at = std::ranges::find(out.followers, block_of(x), &Follower::block);
    if (at == out.followers.end()) at = out.followers.insert(at, {block_of(x), {}});
    const auto n = static_cast<std::size_t>(at - out.followers.begin());
    form.followers.insert(form.followers.end(), x.event.size(), n);
  }
  out.forms.push_back(std::move(form));
  return true;
}

bool FormFinder::complete_followers(Invariance& out) const {
  const auto is_one_of = [](const auto& all, BlockId b) {
    return std::ranges::any_of(all, [&](const auto& x) { return x.block == b; });
  };
  for (Follower& f : out.followers) {
    for (const Use& u : c_[f.block].uses) {
      const Term& t = c_.density.terms[u.term];
      if (std::ranges::any_of(t.atoms, [&](const Atom& x) { return is_one_of(out.variables, block_of(x)); })) {
        // Priors keep their coefficients, so only forms may have a follower.
        const auto is_form = [&](const QuadraticForm& x) { return x.term == u.term; };
        if (std::ranges::none_of(out.forms, is_form)) return false;
        continue;
      }
      const Atom& own = t.atoms[u.atom];
      const bool linear = own.stat == Stat::comp || own.stat == Stat::comp2;
      const auto is_other = [&](const Atom& x) {
        return x == own || (!is_one_of(out.followers, block_of(x)) && !s_.local[block_of(x).index()]);
      };
      const auto is_own_copy = [&](const auto& x) { return density::has_factor_per_copy(m_, own.variable, x); };
      if (!linear || !own.opaque.empty() || std::ranges::any_of(t.multiplicities, is_own_copy) ||
          !std::ranges::all_of(t.atoms, is_other))
        return false;
      f.rest.push_back(u);
    }
  }
  return true;
}

}  // namespace lehr::schedule
