// Local bounds whose argument is switched by latent categories or bits: one tangent point for each value of the switch.
//
// The log joint is sum_k [z = k] f_k. Only f_k depends on the point for k, so each point is as tight as without a
// switch, and the weight E[z = k] cancels in its update. For bits this means to expand the density once for each value:
//     log g(a + s b), s a bit   ->   s log g(a + b) + (1 - s) log g(a)
#include <algorithm>

#include "compiler/density/expander.h"
#include "compiler/math/walk.h"
#include "compiler/model/expectations.h"
#include "compiler/model/walk.h"

namespace lehr::density {

namespace {

/// The number of bits whose values are expanded, since the number of points doubles with each. Further bits stay in the
/// argument of the bound.
constexpr std::size_t kMostBits = 3;

/// Returns true for a bit or a spin.
bool is_binary(const model::Variable& v) { return v.support == math::Support::bit || v.support == math::Support::spin; }

/// Returns true if the formula contains an absolute value.
bool takes_absolute(const math::Expr& e) {
  const auto* f = std::get_if<math::Apply>(&e->form);
  return (f && f->function == Function::abs) || std::ranges::any_of(math::children_of(e), takes_absolute);
}

}  // namespace

std::vector<IndexId> Expander::free_selectors(const Poly& p) const {
  if (draws_) return {};
  std::set<IndexVarId> selectors;
  for (const Term& t : p) {
    std::set<IndexVarId> mentioned;
    a_.collect(t.coef, mentioned);
    for (const Atom& x : t.atoms)
      collect(a_, x, mentioned);
    for (IndexVarId b : mentioned) {
      if (a_[b].selector && std::ranges::find(t.index_vars, b) == t.index_vars.end()) selectors.insert(b);
    }
  }
  std::vector<IndexId> out;
  for (IndexVarId b : selectors)
    out.push_back(a_.index(b));
  return out;
}

bool Expander::needs_local_bound(const model::Distribution& d, const math::Expr& formula) const {
  return takes_absolute(formula) || std::ranges::any_of(d.parameters, [&](const model::Parameter& p) {
           const auto& node = m_[p.value].node;
           const auto* f = std::get_if<model::Apply>(&node);
           return (f && (f->function == Function::logistic || f->function == Function::probit)) ||
                  std::holds_alternative<model::Softmax>(node) || std::holds_alternative<model::OrderedLogistic>(node);
         });
}

bool Expander::uses_only_own_indices(const std::vector<model::Index>& list) const {
  const auto& own = m_[*statement_].index_vars;
  return std::ranges::all_of(list, [&](const model::Index& i) {
    if (const auto* s = std::get_if<model::Index::Shifted>(&i.form))
      return std::ranges::find(own, s->bound) != own.end();
    const auto* lookup = std::get_if<model::Index::Lookup>(&i.form);
    if (!lookup) return true;
    const auto& node = m_[lookup->category].node;
    if (const auto* g = std::get_if<model::GivenRef>(&node)) return uses_only_own_indices(g->indices);
    return uses_only_own_indices(std::get<model::VariableRef>(node).indices);
  });
}

std::vector<Expander::Element> Expander::switching_bits(const model::Distribution& d) {
  std::vector<model::ExprId> roots;
  for (const model::Parameter& p : d.parameters)
    roots.push_back(p.value);
  std::vector<Element> out;
  for (const model::ExprId id : model::nodes_under(m_, roots)) {
    const auto* ref = std::get_if<model::VariableRef>(&m_[id].node);
    if (!ref || m_[ref->variable].observed || !is_binary(m_[ref->variable])) continue;
    if (!m_[id].shape.empty() || !uses_only_own_indices(ref->indices)) continue;
    Element bit{ref->variable, indices(ref->indices)};
    if (std::ranges::find(out, bit) == out.end()) out.push_back(std::move(bit));
  }
  out.resize(std::min(out.size(), kMostBits));
  return out;
}

Poly Expander::unless(model::VariableId bit, const std::vector<IndexId>& element, const Poly& p) {
  Poly x = variable(bit, element);
  const auto is_expectation = [&](const Atom& y) { return model::has_expectation(m_[y.variable]); };
  const bool planes =
      std::ranges::any_of(p, [&](const Term& t) { return std::ranges::any_of(t.atoms, is_expectation); });
  const auto is_listed = [&](const auto& list) { return std::ranges::find(list, bit) != list.end(); };
  const bool chosen = is_listed(m_.guide.point) ||
                      std::ranges::any_of(m_.guide.joint, [&](const auto& joint) { return joint.has(bit); });
  const bool own = m_[bit].support == math::Support::bit && x.size() == 1 && x[0].atoms.size() == 1 &&
                   !m_[m_[bit].statement].lagged && !m_[bit].observed;
  if (!planes || chosen || !own) return product(add(constant(a_, 1), scale(a_, a_.number(-1), x)), p);
  x[0].atoms[0].stat = math::Stat::complement;
  return product(x, p);
}

Poly Expander::sum_over_bit_values(std::span<const Element> bits, const std::function<Poly()>& density) {
  if (bits.empty()) return density();
  const Element& bit = bits.front();
  const bool spin = m_[bit.first].support == math::Support::spin;
  const Poly value = variable(bit.first, bit.second);
  Poly out;
  for (const double sign : {1.0, -1.0}) {
    fixed_bits_[bit] = spin ? sign : 0.5 + 0.5 * sign;
    bit_values_.push_back(sign > 0);
    const Poly rest = sum_over_bit_values(bits.subspan(1), density);
    bit_values_.pop_back();
    fixed_bits_.erase(bit);
    // The indicator of the value: (1 + s) / 2 or (1 - s) / 2 of a spin, s or 1 - s of a bit.
    const Poly of_spin = add(constant(a_, 0.5), scale(a_, a_.number(0.5 * sign), value));
    const bool is_one = sign > 0;
    out = add(std::move(out), spin     ? product(of_spin, rest)
                              : is_one ? product(value, rest)
                                       : unless(bit.first, bit.second, rest));
  }
  return out;
}

}  // namespace lehr::density
