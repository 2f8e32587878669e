// Draws that have auxiliary variables integrated out (integrals.h). For each auxiliary element beside the drawn one,
// the drawn element is set to one value after another. Each value gives natural parameters of the auxiliary, and these
// the logarithm of the integral over it.
#include "compiler/lower/integrals.h"

#include <algorithm>

namespace lehr::loops {

Integrals::Integrals(Shared& shared, Terms& terms, FormulaLoops& formulas, Lookups& lookups, Updates& updates)
    : Part(shared), terms_(terms), formulas_(formulas), lookups_(lookups), updates_(updates) {
  for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k)
    integrated_.push_back(conditionals::collapsed_auxiliaries(m_, s_.conditionals, BlockId(k)));
}

bool Integrals::has(BlockId b, const Term& t) const {
  return std::ranges::any_of(integrated_[b.index()], [&](const conditionals::CollapsedAuxiliary& x) {
    return std::ranges::find(t.atoms, s_.conditionals[x.auxiliary].variable, &Atom::variable) != t.atoms.end();
  });
}

void Integrals::add(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n) {
  for (const conditionals::CollapsedAuxiliary& x : integrated_[b.index()]) {
    const AuxiliaryWork w = open(b, x.auxiliary);
    if (m_[s_.conditionals[b].variable].value_plate)
      b_.for_range("k", b_.i(0), values(w), [&](ExprId k) { b_.store(expected(w), address(w, element, k), b_.f(0)); });
    each_neighbour(x, element, [&](const std::vector<ExprId>& beside) { add_element(w, element, beside, n); });
  }
}

Integrals::AuxiliaryWork Integrals::open(BlockId b, BlockId auxiliary) {
  const conditionals::Conditionals& c = s_.conditionals;
  AuxiliaryWork out{b, auxiliary, {}, {}, {}, {}};
  for (const conditionals::Use& u : c[auxiliary].uses) {
    const Term& t = c.density.terms[u.term];
    ArrayTerm term{&t};
    term.weights = updates_.natural_weights(auxiliary, false);
    const bool varies = std::ranges::find(t.atoms, c[b].variable, &Atom::variable) != t.atoms.end();
    (varies ? out.varying : out.fixed).emplace_back(term, u.atom);
  }
  out.at_all = updates_.natural_buffers(auxiliary, all_axes(auxiliary), "all.");
  out.at_one = updates_.natural_buffers(auxiliary, all_axes(auxiliary), "one.");
  return out;
}

void Integrals::each_neighbour(const conditionals::CollapsedAuxiliary& x, const std::vector<ExprId>& element,
                               const std::function<void(const std::vector<ExprId>&)>& body) {
  for (std::size_t k = 0; k < x.pairs.size(); ++k) {
    const Term& pair = x.pairs[k];
    const auto leaf = [&](ExprId, const Env& env) {
      std::vector<ExprId> auxiliary;
      for (const IndexId i : pair.atoms[0].axes)
        auxiliary.push_back(terms_.index(i, env));
      // An auxiliary element may stand beside the drawn one in several kinds of pairs; it counts once.
      if (k == 0) return body(auxiliary);
      ExprId earlier = is_neighbour(x.pairs[0], element, auxiliary);
      for (std::size_t j = 1; j < k; ++j)
        earlier = b_.logical_or(earlier, is_neighbour(x.pairs[j], element, auxiliary));
      b_.if_then(b_.logical_not(earlier), [&] { body(auxiliary); });
    };
    if (pair.atoms.size() == 1) {
      terms_.emit(pair, {}, {}, {}, std::nullopt, leaf);
      continue;
    }
    const Solved solved = lookups_.solve_axes(pair.atoms[1], std::vector<bool>(element.size(), true), element);
    lookups_.for_solutions(solved,
                           [&](const Env& env) { terms_.emit(pair, {}, solved.conditions, env, std::nullopt, leaf); });
  }
}

ExprId Integrals::is_neighbour(const Term& pair, const std::vector<ExprId>& element,
                               const std::vector<ExprId>& auxiliary) {
  Env env;
  for (std::size_t x = 0; x < auxiliary.size(); ++x)
    env[std::get<density::IndexVarRef>(a_[pair.atoms[0].axes[x]]).bound] = auxiliary[x];
  ExprId out = b_.boolean(true);
  for (std::size_t x = 0; x < element.size(); ++x)
    out = b_.logical_and(out, b_.equal(terms_.index(pair.atoms[1].axes[x], env), element[x]));
  return out;
}

void Integrals::add_element(const AuxiliaryWork& w, const std::vector<ExprId>& element,
                            const std::vector<ExprId>& auxiliary, const NaturalTarget& n) {
  gather(w, w.fixed, auxiliary, w.at_all);
  const math::Support support = m_[s_.conditionals[w.block].variable].support;
  const bool category = support == math::Support::category, spin = support == math::Support::spin;
  b_.for_range("v", b_.i(0), values(w), [&](ExprId v) {
    // -1 and 1 for the values 0 and 1.
    const ExprId side = b_.sub(b_.mul(b_.f(2), b_.to_f64(v)), b_.f(1));
    b_.store(expected(w), address(w, element, v), category ? b_.f(1) : spin ? side : b_.to_f64(v));
    gather(w, w.varying, auxiliary, w.at_one);
    for (const auto& [stat, buffer] : w.at_one.buffers)
      b_.add_to(buffer, {}, b_.load(w.at_all.buffers.at(stat), {}));
    ExprId value = log_integral(w);
    if (category) b_.store(expected(w), address(w, element, v), b_.f(0));
    // The natural parameter of a bit is the difference of the two log integrals, of a spin half of it.
    else value = b_.mul(b_.mul(b_.f(spin ? 0.5 : 1), side), value);
    const std::vector<ExprId> event = category ? std::vector{v} : std::vector<ExprId>();
    b_.add_to(n.buffers.at(category ? math::Stat::indicator : math::Stat::value),
              updates_.natural_address(w.block, element, n, event), value);
  });
}

void Integrals::gather(const AuxiliaryWork& w, const Uses& uses, const std::vector<ExprId>& auxiliary,
                       const NaturalTarget& into) {
  updates_.clear(into);
  for (const auto& [t, atom] : uses)
    updates_.contribute(w.auxiliary, t, atom, all_axes(w.auxiliary), auxiliary, into);
}

ExprId Integrals::log_integral(const AuxiliaryWork& w) {
  const math::Factor& factor = *s_.conditionals[w.auxiliary].factor;
  FormulaContext f;
  for (const auto& [stat, buffer] : w.at_one.buffers)
    f.quantities[math::natural_name(stat)] = [this, buffer = buffer](const std::vector<ExprId>&) {
      return b_.load(buffer, {});
    };
  const auto evaluate = [&](const math::Expr& e, const std::string& name) {
    ExprId out;
    formulas_.components(e, 0, f, [&](const std::vector<ExprId>&, ExprId x) { out = b_.let(b_.fresh(name), x); });
    return out;
  };
  for (const math::FactorParameter& p : factor.parameters) {
    // The integral depends on the parameters before the draw alone.
    if (p.noise) break;
    const ExprId x = evaluate(p.from_natural, p.name);
    f.quantities[p.name] = [x](const std::vector<ExprId>&) { return x; };
  }
  return evaluate(factor.log_normaliser, "integral");
}

BufferId Integrals::expected(const AuxiliaryWork& w) const {
  const bool category = m_[s_.conditionals[w.block].variable].value_plate.has_value();
  return layout_.expectation.at({w.block, category ? math::Stat::indicator : math::Stat::value});
}

ExprId Integrals::values(const AuxiliaryWork& w) const {
  const auto& plate = m_[s_.conditionals[w.block].variable].value_plate;
  return plate ? b_.extent(layout_.size[m_[*plate].set.index()]) : b_.i(2);
}

std::vector<ExprId> Integrals::address(const AuxiliaryWork& w, const std::vector<ExprId>& element, ExprId value) {
  const bool category = m_[s_.conditionals[w.block].variable].value_plate.has_value();
  return updates_.parameter_address(w.block, element, category ? std::vector{value} : std::vector<ExprId>());
}

}  // namespace lehr::loops
