// Updates, initial values and entropies of blocks (blocks.h). `update` puts together what the other parts offer. It
// chooses the axes to gather, moves sums over the data ahead, keeps running sums current, and calls the hooks around
// each element.
#include <algorithm>

#include "compiler/lower/stages/blocks.h"

namespace lehr::loops {

std::vector<BlockId> Blocks::parents_first() const {
  // The parents of a block are the latent variables in the terms of its own statements.
  const conditionals::Conditionals& c = s_.conditionals;
  std::map<std::optional<model::StatementId>, std::set<std::size_t>> mentioned;
  for (const Term& t : c.density.terms) {
    for (const Atom& x : t.atoms)
      mentioned[c.density.origins[t.origin].statement].insert(c.block_of[x.variable.index()].index());
  }
  std::vector<BlockId> out;
  std::vector<bool> done(c.blocks.size());
  const auto ready = [&](std::size_t k) {
    if (done[k]) return false;
    return std::ranges::all_of(conditionals::statements_of(m_, c.blocks[k]), [&](model::StatementId s) {
      return std::ranges::all_of(mentioned[s], [&](std::size_t parent) { return parent == k || done[parent]; });
    });
  };
  while (out.size() < c.blocks.size()) {
    std::size_t next = 0;
    while (next < c.blocks.size() && !ready(next))
      ++next;
    // A cycle of parents: take the first block that is left.
    if (next == c.blocks.size())
      next = static_cast<std::size_t>(std::find(done.begin(), done.end(), false) - done.begin());
    done[next] = true;
    out.push_back(BlockId(next));
  }
  return out;
}

Uses Blocks::prior_uses(BlockId b) const {
  const density::Density& d = s_.conditionals.density;
  const conditionals::Block& block = s_.conditionals[b];
  const std::vector<model::StatementId> statements = conditionals::statements_of(m_, block);
  Uses out;
  for (const conditionals::Use& u : block.uses) {
    const Term& t = d.terms[u.term];
    const auto origin = d.origins[t.origin].statement;
    const bool own = origin && std::ranges::find(statements, *origin) != statements.end();
    const bool readable = std::all_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& x) {
      return stored(s_.conditionals.block_of[x.variable.index()]);
    });
    // x[t - 1] in the statement of x[t] is a use of the element before: it would read x[t], which is formed later.
    const auto before = [&](const Atom& x) {
      return std::any_of(x.axes.begin(), x.axes.end(), [&](IndexId i) {
        const auto* bound = std::get_if<density::IndexVarRef>(&a_[i]);
        return bound && bound->offset != 0;
      });
    };
    if (own && readable && (block.chain || !before(t.atoms[u.atom]))) out.push_back({ArrayTerm{&t}, u.atom});
  }
  return out;
}

void Blocks::initialise_from_prior(BlockId b, const std::vector<ExprId>& lead) {
  UpdateHooks hooks;
  hooks.tolerant = true;
  update(b, prior_uses(b), lead, hooks);
}

void Blocks::add_entropy(BlockId b, const std::vector<ExprId>& lead, ScalarId into) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  if (layout_.chains.contains(b)) {
    chains_.for_sequences(var, lead,
                          [&](const std::vector<ExprId>& q) { b_.accumulate(into, chains_.chain_entropy(b, q)); });
  } else {
    terms_.for_elements(
        var.axes, [&](const std::vector<ExprId>& element) { b_.accumulate(into, updates_.entropy(b, element)); }, lead);
  }
}

void Blocks::recompute_expectations(BlockId b, const std::vector<ExprId>& lead) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  terms_.for_elements(
      var.axes,
      [&](std::vector<ExprId> element) {
        updates_.clamp(b, element);
        FormulaContext f = updates_.parameter_formulas(b, element);
        updates_.expectations_from_parameters(b, element, f);
      },
      lead);
  // Local pairs are work arrays of other functions.
  if (!layout_.chains.contains(b) || layout_.chains.at(b).local) return;
  chains_.for_sequences(var, lead, [&](const std::vector<ExprId>& q) { chains_.independent_pairs(b, q); });
}

Uses Blocks::outer_uses(BlockId b) {
  Uses out;
  const conditionals::Block& block = s_.conditionals[b];
  for (const schedule::OuterTerm& t : s_.outer) {
    for (ArrayTerm& term : residuals_.outer_terms(t, b)) {
      // Terms with auxiliary variables that the draw integrates out come in by Integrals::add.
      if (integrals_.has(b, *term.term) || (t.statistic && integrals_.has(b, s_.statistics[*t.statistic].inner)))
        continue;
      term.weights = updates_.natural_weights(b, false);
      for (std::size_t k = 0; k < term.term->atoms.size(); ++k) {
        if (term.term->atoms[k].variable == block.variable) out.emplace_back(term, k);
      }
    }
  }
  return out;
}

void Blocks::for_axes(const Axes& axes, std::vector<ExprId>& element, const std::function<void()>& body,
                      std::size_t x) {
  const std::vector<model::PlateId>& plates = axes.variable.axes;
  if (x == plates.size()) {
    body();
  } else if (x < axes.given || axes.fixed[x] != axes.wanted) {
    for_axes(axes, element, body, x + 1);
  } else {
    const ExprId end = terms_.axis_length(plates, {element.begin(), element.begin() + static_cast<std::ptrdiff_t>(x)});
    b_.for_range(m_[plates[x]].name, b_.i(0), end, [&](ExprId i) {
      element[x] = i;
      for_axes(axes, element, body, x + 1);
    });
  }
}

void Blocks::update(BlockId b, Uses uses, const std::vector<ExprId>& lead, const UpdateHooks& caller) {
  UpdateHooks hooks = caller;
  if (!hooks.tolerant && integrals_.any(b)) {
    hooks.gathered = [&](const std::vector<ExprId>& element, const NaturalTarget& n) {
      if (caller.gathered) caller.gathered(element, n);
      integrals_.add(b, element, n);
    };
  }
  if (layout_.chains.contains(b)) return chains_.update_chain(b, uses, lead, hooks);
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const std::vector<bool> fixed = updates_.gather_axes(b, uses);
  const auto ahead = hoisted_sums_.take(b, uses, fixed, lead.size());
  // Half sums over pairs read the elements before this one. They come last, so that the loads that wait for the last
  // update come late.
  std::ranges::stable_partition(uses,
                                [&](const auto& use) { return !terms_.is_half_of_pairs(*use.first.term, use.second); });
  const NaturalTarget n = updates_.natural_buffers(b, fixed, "");
  std::vector<ExprId> element = lead;
  element.resize(var.axes.size());
  const std::vector<Residuals::RunningSum> sums = residuals_.running_sums(uses);
  for (const Residuals::RunningSum& x : sums)
    residuals_.fill_sums(*x.residual);
  if (ahead) hoisted_sums_.form(b, *ahead, element);
  for_axes({var, fixed, true, lead.size()}, element, [&] {
    for (const Residuals::RunningSum& x : sums)
      residuals_.move_sum(x, false, fixed, element);
    if (ahead) hoisted_sums_.begin(b, *ahead, element, n);
    else updates_.clear(n);
    for (const auto& [t, atom] : uses)
      updates_.contribute(b, t, atom, fixed, element, n);
    for_axes({var, fixed, false, lead.size()}, element, [&] {
      if (hooks.gathered) hooks.gathered(element, n);
      if (hooks.before) hooks.before(element);
      updates_.from_naturals(b, element, n, hooks);
      if (hooks.after) hooks.after(element);
    });
    for (const Residuals::RunningSum& x : sums)
      residuals_.move_sum(x, true, fixed, element);
  });
}

}  // namespace lehr::loops
