// What the kinds of chain have in common (chains.h): loops over sequences, log potentials gathered from the terms,
// expectations of products of elements, and entropies.
#include "compiler/lower/chains/chains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/conditionals/chain_lag.h"

namespace lehr::loops {

using conditionals::ChainFactor;

namespace {

/// Returns the offset of an atom's step: -1 for x[t - 1].
std::int64_t offset(const Algebra& a, const Atom& x) { return std::get<density::IndexVarRef>(a[x.axes.back()]).offset; }

/// Returns the name of the array of products: `pair`, with the lags unless it is of neighbours.
std::string together_name(const std::string& prefix, const model::Variable& var, const conditionals::Lags& lags) {
  const std::string name = prefix.empty() ? "pair." + var.name : prefix + var.name + ".pair";
  return lags == conditionals::Lags{1} ? name : fmt::format("{}.{}", name, fmt::join(lags, "."));
}

/// Returns the axes of the sequences: all but the last.
std::vector<model::PlateId> sequences(const model::Variable& v) { return {v.axes.begin(), v.axes.end() - 1}; }

/// Returns true if the guard says that there is an element before: t >= 1.
bool is_step_before(const Algebra& a, const Guard& g) {
  if (g.present || g.relation != density::Relation::greater_equal) return false;
  const auto* first = std::get_if<density::IndexConstant>(&a[g.right]);
  return first && first->value <= 1;
}

/// Returns the indices of the element at step t.
std::vector<ExprId> element_at(std::vector<ExprId> sequence, ExprId t) {
  sequence.push_back(t);
  return sequence;
}

}  // namespace

bool Chains::pairs_outlive_item(BlockId b) const {
  const auto stage = s_.stage_of[b.index()];
  if (std::get<schedule::ItemStage>(s_.steps[*stage]).refresh)
    return true;  // a refresh reads the pairs of chains, which it does not form
  for (const conditionals::Use& u : s_.conditionals[b].uses) {
    const Term& t = s_.conditionals.density.terms[u.term];
    const auto own = std::count_if(t.atoms.begin(), t.atoms.end(),
                                   [&](const Atom& x) { return s_.conditionals.block_of[x.variable.index()] == b; });
    const bool others = std::any_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& x) {
      const BlockId other = s_.conditionals.block_of[x.variable.index()];
      return other != b && s_.stage_of[other.index()] == stage;
    });
    if (own > 1 && others) return true;
  }
  return false;
}

void Chains::declare_chain(BlockId b) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Chain chain;
  // The pairs of a local chain are needed while its item is worked on, so they need no memory for every item.
  const bool one_an_item = s_.stage_of[b.index()].has_value() && var.axes.size() == 2;
  chain.local = one_an_item && !pairs_outlive_item(b);
  chain.summed = chain.local && only_pair_sums_read(b);
  for (const conditionals::Lags& lags : s_.conditionals[b].chain->joint)
    chain.products[lags] = {};
  if (!chain.local) {
    for (auto& [lags, buffer] : chain.products) {
      std::vector<model::PlateId> axes = var.axes;
      for (std::size_t k = 0; k <= lags.size(); ++k) {
        for (model::PlateId p : event_axes(var, 1))
          axes.push_back(p);
      }
      buffer = b_.buffer(together_name("E.", var, lags), Role::expectation, packed(axes));
    }
    chain.entropy = b_.buffer("H." + var.name, Role::expectation, packed(sequences(var)));
  }
  layout_.chains[b] = chain;
}

void Chains::local_chain(BlockId b) {
  const auto it = layout_.chains.find(b);
  if (it == layout_.chains.end() || !it->second.local) return;
  const model::Variable& var = m_[s_.conditionals[b].variable];
  for (auto& [lags, buffer] : it->second.products) {
    std::vector<SizeId> sizes;
    if (!it->second.summed) sizes.push_back(longest(var));
    for (std::size_t k = 0; k <= lags.size(); ++k) {
      for (model::PlateId p : event_axes(var, 1))
        sizes.push_back(layout_.size[m_[p].set.index()]);
    }
    buffer = work_array(together_name("", var, lags), sizes);
  }
  it->second.entropy = work_array("entropy." + var.name, {});
}

void Chains::for_sequences(const model::Variable& var, const std::vector<ExprId>& lead,
                           const std::function<void(const std::vector<ExprId>&)>& body) {
  terms_.for_elements(sequences(var), body, lead);
}

std::vector<ExprId> Chains::address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& events) {
  const Chain& chain = layout_.chains.at(b);
  std::vector<ExprId> at;
  if (!chain.local) at = terms_.address(m_[s_.conditionals[b].variable].axes, element);
  else if (!chain.summed) at = {element.back()};
  at.insert(at.end(), events.begin(), events.end());
  return at;
}

std::pair<conditionals::Lags, std::vector<const Atom*>> Chains::in_order(std::vector<const Atom*> atoms) const {
  std::ranges::sort(atoms, {}, [&](const Atom* x) { return offset(a_, *x); });
  conditionals::Lags lags;
  for (std::size_t k = atoms.size() - 1; k-- > 0;)
    lags.push_back(offset(a_, *atoms.back()) - offset(a_, *atoms[k]));
  return {lags, atoms};
}

ExprId Chains::expectation(const std::vector<const Atom*>& together, const Env& env) {
  const BlockId b = s_.conditionals.block_of[together[0]->variable.index()];
  const auto [lags, atoms] = in_order(together);
  std::vector<ExprId> element, events;
  for (IndexId i : atoms.back()->axes)
    element.push_back(terms_.index(i, env));
  for (const Atom* x : atoms) {
    for (IndexId i : x->event)
      events.push_back(terms_.index(i, env));
  }
  return b_.load(layout_.chains.at(b).products.at(lags), address(b, element, events));
}

std::vector<ExprId> Chains::entropy_address(BlockId b, const std::vector<ExprId>& sequence) {
  if (layout_.chains.at(b).local) return {};
  return terms_.address(sequences(m_[s_.conditionals[b].variable]), sequence);
}

void Chains::store_entropy(BlockId b, const std::vector<ExprId>& sequence, ExprId value) {
  model::Variable whole = m_[s_.conditionals[b].variable];
  // The copies are those of the sequence, not of its elements.
  whole.axes.pop_back();
  b_.store(layout_.chains.at(b).entropy, entropy_address(b, sequence),
           b_.mul(updates_.owned_multiplicity(whole, sequence), value));
}

ExprId Chains::chain_entropy(BlockId b, const std::vector<ExprId>& sequence) {
  return b_.load(layout_.chains.at(b).entropy, entropy_address(b, sequence));
}

void Chains::independent_pairs(BlockId b, const std::vector<ExprId>& sequence) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const math::Stat stat = var.value_plate     ? math::Stat::indicator
                          : var.event.empty() ? math::Stat::value
                                              : math::Stat::comp;
  const BufferId mean = layout_.expectation.at({b, stat});
  const ScalarId entropies = b_.local(b_.fresh("entropies"), b_.f(0));
  const Chain& chain = layout_.chains.at(b);
  clear_sums(b);
  b_.for_range("t", b_.i(0), terms_.axis_length(var.axes, sequence), [&](ExprId t) {
    const std::vector<ExprId> now = element_at(sequence, t);
    b_.accumulate(entropies, updates_.entropy(b, now));
    for (const auto& [lags, buffer] : chain.products) {
      b_.if_then(b_.less(b_.i(lags.back() - 1), t), [&, &lags = lags] { put_product(b, lags, now, mean); });
    }
  });
  // Updates::entropy counts the copies of the element already.
  b_.store(layout_.chains.at(b).entropy, entropy_address(b, sequence), b_.get(entropies));
}

void Chains::put_product(BlockId b, const conditionals::Lags& lags, const std::vector<ExprId>& last, BufferId values) {
  std::vector<std::vector<ExprId>> elements{last};
  for (const std::int64_t lag : lags) {
    std::vector<ExprId> before = last;
    before.back() = b_.sub(last.back(), b_.i(lag));
    elements.insert(elements.begin(), std::move(before));
  }
  const std::function<void(std::vector<ExprId>, std::optional<ExprId>)> from = [&](const std::vector<ExprId>& events,
                                                                                   std::optional<ExprId> product) {
    if (elements.empty()) return put(b, lags, address(b, last, events), *product);
    const std::vector<ExprId> element = elements.front();
    elements.erase(elements.begin());
    terms_.each_event(m_[s_.conditionals[b].variable], 1, [&](const std::vector<ExprId>& event) {
      std::vector<ExprId> all = events;
      all.insert(all.end(), event.begin(), event.end());
      const ExprId x = b_.load(values, updates_.parameter_address(b, element, event));
      from(all, product ? b_.mul(*product, x) : x);
    });
    elements.insert(elements.begin(), element);
  };
  from({}, std::nullopt);
}

void Chains::put(BlockId b, const conditionals::Lags& lags, const std::vector<ExprId>& at, ExprId value) {
  const Chain& chain = layout_.chains.at(b);
  if (chain.summed) b_.add_to(chain.products.at(lags), at, value);
  else b_.store(chain.products.at(lags), at, value);
}

void Chains::clear_sums(BlockId b) {
  if (!layout_.chains.at(b).summed) return;
  for (const auto& [lags, sums] : layout_.chains.at(b).products)
    b_.fill(sums, b_.f(0));
}

bool Chains::is_homogeneous(BlockId b, const Uses& uses) {
  return s_.conditionals[b].chain->max_lag == 1 && std::ranges::all_of(uses, [&](const auto& use) {
           return is_homogeneous(use.first, s_.conditionals[b].variable);
         });
}

bool Chains::is_homogeneous(const ArrayTerm& array_term, model::VariableId v) {
  const Term& term = *array_term.term;
  std::vector<std::size_t> pair;
  for (std::size_t k = 0; k < term.atoms.size(); ++k) {
    if (term.atoms[k].variable == v) pair.push_back(k);
  }
  if (pair.size() < 2 || !conditionals::lag_between(a_, term.atoms[pair[0]], term.atoms[pair[1]])) return true;
  const auto* step = std::get_if<density::IndexVarRef>(&a_[term.atoms[pair[0]].axes.back()]);
  if (!step) return false;
  const IndexVarId t = step->bound;
  const std::vector<Factor> factors = terms_.factors(array_term, pair, v);
  // The potential moves if some factor depends on the step.
  const bool moving =
      std::any_of(factors.begin(), factors.end(), [&](const Factor& f) { return f.index_vars.contains(t); });
  // The guard that there is a step before holds at all steps with a pair.
  const bool guarded = std::any_of(term.guards.begin(), term.guards.end(), [&](const Guard& g) {
    const std::set<IndexVarId> bounds =
        g.present ? terms_.index_variables(g.element) : terms_.index_variables({g.left, g.right});
    return bounds.contains(t) && !(bounds.size() == 1 && is_step_before(a_, g));
  });
  const bool nests = std::any_of(term.index_vars.begin(), term.index_vars.end(), [&](IndexVarId x) {
    return x != t && a_[x].parent && terms_.index_variables({*a_[x].parent}).contains(t);
  });
  return !moving && !guarded && !nests;
}

bool Chains::only_pair_sums_read(BlockId b) {
  const auto& stage = std::get<schedule::ItemStage>(s_.steps[*s_.stage_of[b.index()]]);
  const model::VariableId v = s_.conditionals[b].variable;
  return s_.conditionals[b].chain->max_lag == 1 &&
         std::ranges::all_of(stage.terms, [&](const schedule::ItemStage::LocalTerm& t) {
           ArrayTerm term{&t.term};
           if (t.statistic) term = {&t.term, s_.statistics[*t.statistic].table, &t.at};
           return is_homogeneous(term, v) && (!t.outer || std::ranges::count(t.term.atoms, v, &Atom::variable) < 2);
         });
}

void Chains::gather_potentials(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence,
                               const NaturalTarget& unary, bool homogeneous, const AddPotential& add) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  std::vector<bool> fixed(var.axes.size(), true);
  fixed.back() = false;
  std::vector<ExprId> lead = sequence;
  lead.resize(var.axes.size());
  for (const auto& [t, use] : uses) {
    const Atom& own = t.term->atoms[use];
    std::vector<std::size_t> all{use};
    std::vector<const Atom*> together{&own};
    for (std::size_t k = 0; k < t.term->atoms.size(); ++k) {
      const Atom& x = t.term->atoms[k];
      if (x.variable != own.variable || !conditionals::lag_between(a_, own, x)) continue;
      all.push_back(k);
      together.push_back(&x);
    }
    if (all.size() == 1) {
      updates_.contribute(b, t, use, fixed, lead, unary);
      continue;
    }
    if (std::ranges::min(all) < use) continue;  // the joint potential was formed at the first of its atoms
    const auto [lags, atoms] = in_order(together);
    const Atom& last = *atoms.back();
    Env env;
    // Step 1 stands for all steps: it is the first that has a step before it.
    if (homogeneous) env[std::get<density::IndexVarRef>(a_[last.axes.back()]).bound] = b_.i(1);
    std::vector<Factor> conditions;
    for (std::size_t x = 0; x + 1 < var.axes.size(); ++x) {
      const auto* bound = std::get_if<density::IndexVarRef>(&a_[last.axes[x]]);
      if (bound && bound->offset == 0 && !env.contains(bound->bound)) {
        env[bound->bound] = sequence[x];
        continue;
      }
      std::set<IndexVarId> bounds;
      a_.collect(last.axes[x], bounds);
      conditions.push_back({bounds, [this, i = last.axes[x], want = sequence[x]](const Env& e) {
                              return b_.equal(terms_.index(i, e), want);
                            }});
    }
    terms_.emit(*t.term, terms_.factors(t, all, s_.conditionals[b].variable), std::move(conditions), env, std::nullopt,
                [&, &lags = lags, &atoms = atoms](ExprId value, const Env& e) {
                  std::vector<ExprId> events;
                  for (const Atom* x : atoms) {
                    for (IndexId i : x->event)
                      events.push_back(terms_.index(i, e));
                  }
                  add(lags, terms_.index(last.axes.back(), e), events, value);
                });
  }
}

void Chains::update_chain(BlockId b, const Uses& uses, const std::vector<ExprId>& lead, const UpdateHooks& hooks) {
  for_sequences(m_[s_.conditionals[b].variable], lead, [&](const std::vector<ExprId>& sequence) {
    switch (s_.conditionals[b].chain->factor) {
      case ChainFactor::categories:
        return forward_backward(b, uses, sequence, hooks);
      case ChainFactor::gaussian:
        return kalman_smoother(b, uses, sequence, hooks);
    }
  });
}

}  // namespace lehr::loops
