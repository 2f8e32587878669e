// Index variables, index expressions, scopes and selectors of an expansion (expander.h).
//
// Example: in `x[n] ~ Normal(mu[z[n]], 1)` the index z[n] becomes the selector k of the statement's scope. Closing the
// scope multiplies every term by [z[n] = k] and sums over k.
#include "compiler/density/expander.h"
#include "compiler/support/overloaded.h"

namespace lehr::density {

IndexVarId Expander::open_index_var(model::IndexVarId id) {
  const model::IndexVar& b = m_[id];
  std::optional<IndexId> parent;
  if (b.parent) parent = bound_.at(*b.parent);
  const IndexVarId fresh = a_.bound({b.name, b.plate, parent, false});
  bound_[id] = a_.index(fresh);
  scopes_.back().index_vars.insert(fresh);
  return fresh;
}

IndexId Expander::index(const model::Index& i) {
  return std::visit(Overloaded{[&](const model::Index::Constant& c) { return a_.index(IndexConstant{c.value}); },
                               [&](const model::Index::Shifted& s) {
                                 // The model's index variable may stand for a shifted one of the algebra.
                                 const auto base = std::get<IndexVarRef>(a_[bound_.at(s.bound)]);
                                 return a_.index(base.bound, base.offset + s.offset);
                               },
                               [&](const model::Index::Lookup& l) {
                                 const auto& node = m_[l.category].node;
                                 if (const auto* g = std::get_if<model::GivenRef>(&node)) {
                                   return a_.index(IndexLookup{g->given, indices(g->indices)});
                                 }
                                 const auto& v = std::get<model::VariableRef>(node);
                                 std::vector<IndexId> axes = indices(v.indices);
                                 if (m_[v.variable].observed) return a_.index(IndexLookup{v.variable, std::move(axes)});
                                 return selector(v.variable, std::move(axes));
                               }},
                    i.form);
}

std::vector<IndexId> Expander::indices(const std::vector<model::Index>& list) {
  std::vector<IndexId> out;
  for (const model::Index& i : list)
    out.push_back(index(i));
  return out;
}

IndexId Expander::selector(model::VariableId v, std::vector<IndexId> axes) {
  // Each latent index has one selector: the one that is in scope already.
  for (const Scope& s : scopes_) {
    for (const Selector& existing : s.selectors) {
      if (existing.variable == v && existing.axes == axes) return a_.index(existing.bound);
    }
  }
  std::set<IndexVarId> mentioned;
  for (IndexId i : axes)
    a_.collect(i, mentioned);
  // The innermost scope that has introduced an index variable of the element, or else the statement.
  std::size_t home = 0;
  for (std::size_t s = 0; s < scopes_.size(); ++s) {
    for (IndexVarId b : mentioned) {
      if (scopes_[s].index_vars.contains(b)) home = s;
    }
  }
  const model::PlateId plate = m_[*m_[v].value_plate].set;
  const IndexVarId k = a_.bound({m_[plate].name, plate, std::nullopt, true});
  scopes_[home].index_vars.insert(k);
  scopes_[home].selectors.push_back({v, std::move(axes), k});
  return a_.index(k);
}

Poly Expander::close_scope(Poly p) {
  for (const Selector& s : scopes_.back().selectors) {
    const Atom atom{s.variable, s.axes, math::Stat::indicator, {a_.index(s.bound)}, {}};
    for (Term& t : p) {
      t.atoms.push_back(atom);
      t.index_vars.push_back(s.bound);
    }
  }
  scopes_.pop_back();
  return p;
}

}  // namespace lehr::density
