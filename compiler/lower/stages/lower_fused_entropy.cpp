// Entropies of fused categories. The entropy of an element is the logarithm of the sum of exponentials, minus the
// mean of their logarithms:
//
//     H = log Z - sum_k p_k * odds_k,     odds_k = vector[k] + table[w, k]
//
// The items add up S[w, k] = sum p_k for the table's statistic. They add up N[k] = sum p_k for the natural parameters
// of the vector's block. So the means of all elements together are sum S * table (Stages::emit_finalise) and, for each
// item, sum N * vector. In such a summed stream no element reads logarithms. Elsewhere the largest of the odds is
// subtracted from all, so that the entropy is no rounding where odds are huge.
#include <algorithm>

#include "compiler/lower/stages/fused_element.h"

namespace lehr::loops {

using schedule::ItemStage;

bool FusedCategories::is_summed(const FusedCategory& s) const {
  const conditionals::Block& z = s_.conditionals[s.block];
  if (!s.factored || z.drawn || !z.has_entropy() || clamps_.any(s.block) || interface_.item_energies) return false;
  return std::ranges::all_of(s.uses, [&](const FusedUse& u) {
    if (u.kind == FusedUse::Kind::table) return adds_up_alone(*s.stage, table_of(u));
    const Atom& p = u.term->term.atoms[*u.partner];
    // The natural parameters that streams add up for the partner must come from this term alone.
    return std::ranges::count_if(s.stage->terms, [&](const ItemStage::LocalTerm& t) {
             return has_fused_atom(t.term) && std::ranges::any_of(t.term.atoms, [&](const Atom& x) {
                      return x.variable == p.variable && x.stat == p.stat;
                    });
           }) == 1;
  });
}

std::vector<ArrayId> FusedCategories::summed_tables(const ItemStage& stage, BlockId z) const {
  const FusedCategory s = plan_fused(stage, z);
  std::vector<ArrayId> out;
  for (const FusedUse& u : s.uses)
    if (s.entropy_from_sums && u.kind == FusedUse::Kind::table) out.push_back(table_of(u));
  return out;
}

void FusedCategories::subtract_vector_means(const FusedCategory& s, ExprId item, const FusedVisit& visit) {
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    const FusedUse& u = s.uses[k];
    if (u.kind != FusedUse::Kind::vector) continue;
    const Atom& p = u.term->term.atoms[*u.partner];
    const BufferId into = naturals_of(u, visit.arrays);
    Env env = stream_env(s, k, {item});
    const ScalarId mean = b_.local(b_.fresh("mean"), b_.f(0));
    const auto add = [&](ExprId v, ExprId logarithm) { b_.accumulate(mean, b_.mul(b_.load(into, {v}), logarithm)); };
    const auto of_expectations = [&] {
      each_value(s, [&](ExprId v) {
        env[u.value] = v;
        add(v, updates_.expectation(p, env));
      });
    };
    if (s.direct.valid()) if_direct(s, item, add, of_expectations);
    else of_expectations();
    b_.add_to(visit.arrays.sums.discrete, {b_.i(0)},
              b_.neg(b_.mul(updates_.owned_multiplicity(m_[p.variable], {item}), b_.get(mean))));
  }
}

ExprId FusedCategories::mean_odds(const Element& e, ExprId scale) {
  const FusedCategory& s = e.stream;
  const ScalarId mean = b_.local(b_.fresh("mean"), b_.f(0));
  each_value(s, [&](ExprId k) {
    ExprId odds = b_.load(s.odds, {k});
    if (s.factored) {
      odds = b_.load(s.item_odds, {k});
      for (std::size_t j = 0; j < s.uses.size(); ++j) {
        if (s.uses[j].kind == FusedUse::Kind::table)
          odds =
              b_.add(odds, b_.mul(weight(Weight::local), table_entry(e, j, layout_.array.at(table_of(s.uses[j])), k)));
      }
    }
    b_.accumulate(mean, b_.mul(b_.load(s.probs, {k}), b_.sub(odds, b_.get(e.shift))));
  });
  return b_.mul(scale, b_.get(mean));
}

void FusedCategories::add_entropy(const Element& e, ExprId scale) {
  const FusedCategory& s = e.stream;
  const ExprId copies = updates_.owned_multiplicity(m_[s_.conditionals[s.block].variable], e.element);
  const ExprId log_total = b_.log(b_.get(e.total));
  if (s.entropy_from_sums) {
    const ExprId log_z = b_.add(log_total, b_.get(e.shift));
    return b_.add_to(e.visit.arrays.sums.discrete, {b_.i(0)}, b_.mul(copies, log_z));
  }
  const ExprId mean = b_.let(b_.fresh("mean"), mean_odds(e, scale));
  ExprId h = b_.f(0);
  if (s_.conditionals[s.block].has_entropy()) {
    h = b_.let(b_.fresh("h"), clamps_.unless_observed(s.block, e.element, {}, b_.sub(log_total, mean), b_.f(0)));
    b_.add_to(e.visit.arrays.sums.discrete, {b_.i(0)}, b_.mul(copies, h));
  }
  if (e.visit.mode != StageMode::update || !interface_.item_energies) return;
  ExprId energy = b_.add(mean, b_.get(e.shift));
  if (energies_.has_item_bounds()) return energies_.add_item_energy(e.element[0], b_.mul(copies, b_.add(energy, h)));
  // The temperature of an item divides its tempered terms alone.
  for (std::size_t k = 0; k < s.uses.size(); ++k) {
    if (s_.tempered[s.uses[k].term->term.origin]) continue;
    const ScalarId prior = b_.local(b_.fresh("prior"), b_.f(0));
    each_odds(e, k, [&](ExprId v, ExprId odds) { b_.accumulate(prior, b_.mul(b_.load(s.probs, {v}), odds)); });
    energy = b_.sub(energy, b_.mul(scale, b_.get(prior)));
  }
  energies_.add_item_energy(e.element[0], b_.mul(copies, energy));
}

}  // namespace lehr::loops
