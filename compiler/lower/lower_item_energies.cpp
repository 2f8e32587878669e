// Sums by item (item_energies.h): the expected log density of every item's data, for temperatures of its own. It is
// multiplied by 1 / T of the item, as all terms of the item are. For starts of the items, the sums are of all terms of
// the item's factors, and of their entropies.
#include "compiler/lower/item_energies.h"

#include <algorithm>

namespace lehr::loops {

void Energies::declare_item_energies() {
  if (const auto stage = only_stage(s_); options_.item_starts && stage) {
    const model::PlateId item = std::get<schedule::ItemStage>(s_.steps[*stage]).item;
    interface_.item_energies = ItemEnergies{item, b_.buffer("item bounds", Role::output, packed({item})), {}};
  }
  if (!options_.inverse_temperatures) return;
  const model::Given& inverse = m_[*options_.inverse_temperatures];
  interface_.item_energies =
      ItemEnergies{inverse.axes[0], b_.buffer("item energies", Role::output, packed(inverse.axes)),
                   layout_.data.givens[options_.inverse_temperatures->index()]};
}

void Energies::add_item_energy(ExprId item, ExprId value) {
  if (interface_.item_energies) b_.add_to(interface_.item_energies->energies, {item}, value);
}

void Energies::add_item_energies(const schedule::ItemStage& stage, ExprId item) {
  if (!interface_.item_energies) return;
  for (const schedule::ItemStage::LocalTerm& t : stage.terms) {
    // Fused categories add theirs where their probabilities are formed.
    if ((!s_.tempered[t.term.origin] && !has_item_bounds()) || has_fused_atom(t.term)) continue;
    ArrayTerm term{&t.term};
    if (t.statistic) term = {&t.term, s_.statistics[*t.statistic].table, &t.at};
    if (t.outer) term = residuals_.outer_term(s_.outer[*t.outer]);
    const Env env = terms_.at_all_steps(*term.term, {{t.item, item}});
    terms_.emit(*term.term, terms_.factors(term, {}), {}, env, std::nullopt,
                [&](ExprId value, const Env&) { add_item_energy(item, value); });
  }
}

void Energies::emit_item_energies() {
  if (!interface_.item_energies || has_item_bounds()) return;
  const auto in_stage = [&](const Atom& x) {
    return s_.stage_of[s_.conditionals.block_of[x.variable.index()].index()].has_value();
  };
  interface_.item_energies->outer =
      b_.function("item_energies", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
        b_.for_range(m_[interface_.item_energies->item].name, p[0], p[1], [&](ExprId item) {
          for (const Term& t : s_.conditionals.density.terms) {
            if (!s_.tempered[t.origin] || std::any_of(t.atoms.begin(), t.atoms.end(), in_stage)) continue;
            Env env;
            for (IndexVarId b : t.index_vars) {
              if (m_[a_[b].plate].set == interface_.item_energies->item && !a_[b].parent) env[b] = item;
            }
            // A term without an index variable of the items is that of the first element of a chain.
            b_.if_then(env.empty() ? b_.equal(item, b_.i(0)) : b_.boolean(true), [&] {
              terms_.emit(t, terms_.factors({&t}, {}), {}, env, std::nullopt,
                          [&](ExprId value, const Env&) { add_item_energy(item, value); });
            });
          }
        });
      });
}

}  // namespace lehr::loops
