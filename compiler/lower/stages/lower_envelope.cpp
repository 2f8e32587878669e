// Exact sampling on intervals (envelope.h).
//
// The log odds of an element are a sum of products over other elements. Intervals of these bound each product, and the
// sums of the ends bound the log odds. A draw is monotone in its log odds if the random number is the same, so drawing
// at both ends gives the new interval:
//
//     x[i] in [a, b], coefficient c < 0:     log odds of x[j] in [c b + ..., c a + ...]
//
// Where an element has one neighbour in each term, the interval is the smallest that holds all states inside. Where no
// coupling is below 0, its ends are the runs from the largest and the smallest state themselves (Propp & Wilson 1996).
#include "compiler/lower/stages/envelope.h"

#include <algorithm>
#include <numeric>

namespace lehr::loops {

BufferId Envelope::value_of(BlockId b) const {
  const auto& parameters = s_.conditionals[b].factor->parameters;
  const auto value = std::ranges::find_if(parameters, &math::FactorParameter::exported);
  return layout_.parameter.at({b, value->name});
}

void Envelope::declare() {
  for (const conditionals::Block& block : s_.conditionals.blocks) {
    const model::Variable& var = m_[block.variable];
    bounds_.push_back({b_.buffer("least." + var.name, Role::table, packed(var.axes)),
                       b_.buffer("most." + var.name, Role::table, packed(var.axes))});
  }
}

std::vector<ArrayTerm> Envelope::terms() {
  std::vector<ArrayTerm> out;
  const bool items =
      std::ranges::any_of(s_.steps, [](const auto& s) { return std::holds_alternative<schedule::ItemStage>(s); });
  if (items) {
    // Statistics of items contain expectations, not intervals, so the terms are taken as the model has them.
    for (const Term& t : s_.conditionals.density.terms)
      out.push_back({&t});
    return out;
  }
  for (const schedule::OuterTerm& t : s_.outer)
    out.push_back(t.residual ? ArrayTerm{&t.term} : residuals_.outer_term(t));
  return out;
}

Envelope::Interval Envelope::product(const ArrayTerm& t, std::size_t use, ExprId coefficient, const Env& env) {
  Interval out{coefficient, coefficient};
  for (std::size_t k = 0; k < t.term->atoms.size(); ++k) {
    if (k == use) continue;
    const Atom& x = t.term->atoms[k];
    const BlockId b = s_.conditionals.block_of[x.variable.index()];
    const std::vector<ExprId> at = terms_.address(m_[x.variable].axes, x.axes, env);
    const ExprId least = b_.let(b_.fresh("least"), b_.load(bounds_[b.index()].least, at));
    const ExprId most = b_.let(b_.fresh("most"), b_.load(bounds_[b.index()].most, at));
    const auto [low, high] = out;
    const ExprId ll = b_.mul(low, least), lm = b_.mul(low, most);
    // A point times an interval needs two products, an interval times an interval four.
    if (low == high) {
      out = {b_.min(ll, lm), b_.max(ll, lm)};
    } else {
      const ExprId hl = b_.mul(high, least), hm = b_.mul(high, most);
      out = {b_.min(b_.min(ll, lm), b_.min(hl, hm)), b_.max(b_.max(ll, lm), b_.max(hl, hm))};
    }
    out = {b_.let(b_.fresh("low"), out.first), b_.let(b_.fresh("high"), out.second)};
  }
  return out;
}

void Envelope::draw(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n, BufferId into) {
  updates_.from_naturals(b, element, n, {});
  const std::vector<ExprId> at = updates_.parameter_address(b, element, {});
  b_.store(into, at, b_.load(value_of(b), at));
}

void Envelope::update(BlockId b, const std::vector<ExprId>& lead) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Uses uses;
  for (const ArrayTerm& t : terms()) {
    for (std::size_t k = 0; k < t.term->atoms.size(); ++k) {
      if (t.term->atoms[k].variable == s_.conditionals[b].variable) uses.emplace_back(t, k);
    }
  }
  const std::vector<bool> fixed = updates_.gather_axes(b, uses);
  const NaturalTarget least = updates_.natural_buffers(b, fixed, "least_"),
                      most = updates_.natural_buffers(b, fixed, "most_");
  std::vector<ExprId> element = lead;
  element.resize(var.axes.size());
  blocks_.for_axes({var, fixed, true, lead.size()}, element, [&] {
    updates_.clear(least);
    updates_.clear(most);
    for (const auto& [t, use] : uses) {
      const math::Stat stat = t.term->atoms[use].stat;
      // All atoms are left out of the coefficient: `product` multiplies them as intervals.
      std::vector<std::size_t> all(t.term->atoms.size());
      std::iota(all.begin(), all.end(), 0);
      updates_.gather({b, t, use, all}, fixed, element, least.free_axes,
                      [&](const std::vector<ExprId>& at, ExprId value, const Env& env) {
                        const auto [low, high] = product(t, use, b_.let(b_.fresh("c"), value), env);
                        b_.add_to(least.buffers.at(stat), at, low);
                        b_.add_to(most.buffers.at(stat), at, high);
                      });
    }
    blocks_.for_axes({var, fixed, false, lead.size()}, element, [&] {
      // The upper end is drawn last, so the value of the element stays there.
      draw(b, element, least, bounds_[b.index()].least);
      draw(b, element, most, bounds_[b.index()].most);
    });
  });
}

std::size_t Envelope::emit_couplings() {
  return b_.function("couplings", [&] {
    const ScalarId least = b_.local("least", b_.f(0)), more = b_.local("more", b_.f(0));
    for (const ArrayTerm& t : terms()) {
      if (t.term->atoms.size() > 2) b_.accumulate(more, b_.f(1));
      if (t.term->atoms.size() != 2) continue;
      terms_.emit(*t.term, terms_.factors(t, {0, 1}), {}, {}, std::nullopt,
                  [&](ExprId value, const Env&) { b_.assign(least, b_.min(b_.get(least), value)); });
    }
    b_.store(interface_.elbo_value, {b_.i(0)}, b_.get(least));
    b_.store(interface_.elbo_value, {b_.i(1)}, b_.get(more));
  });
}

std::size_t Envelope::emit_open() {
  return b_.function("open_envelope", [&] {
    for (std::size_t k = 0; k < bounds_.size(); ++k) {
      const bool spin = m_[s_.conditionals.blocks[k].variable].support == math::Support::spin;
      b_.fill(bounds_[k].least, b_.f(spin ? -1 : 0));
      b_.fill(bounds_[k].most, b_.f(1));
    }
  });
}

std::size_t Envelope::emit_undecided() {
  return b_.function("undecided", [&] {
    const ScalarId count = b_.local("count", b_.f(0));
    for (std::size_t k = 0; k < bounds_.size(); ++k) {
      const model::Variable& var = m_[s_.conditionals.blocks[k].variable];
      terms_.for_elements(var.axes, [&](const std::vector<ExprId>& element) {
        const std::vector<ExprId> at = updates_.parameter_address(BlockId(k), element, {});
        const ExprId is_undecided = b_.not_equal(b_.load(bounds_[k].least, at), b_.load(bounds_[k].most, at));
        b_.accumulate(count, b_.select(is_undecided, b_.f(1), b_.f(0)));
      });
    }
    b_.store(interface_.elbo_value, {b_.i(0)}, b_.get(count));
  });
}

std::size_t Envelope::emit_sweep_entry(const schedule::SweepEntry& entry) {
  return b_.function("envelope" + std::to_string(entry.step), [&] {
    const schedule::Step& step = s_.steps[entry.step];
    if (const auto* block = std::get_if<schedule::BlockUpdate>(&step)) return update(block->block, {});
    const auto& stage = std::get<schedule::ItemStage>(step);
    b_.for_range(m_[stage.item].name, b_.i(0), b_.extent(layout_.size[m_[stage.item].set.index()]), [&](ExprId item) {
      for (BlockId b : stage.blocks)
        update(b, {item});
    });
  });
}

void Envelope::emit() {
  declare();
  EnvelopeFunctions out;
  out.couplings = emit_couplings();
  b_.mark_cold(out.couplings);
  out.open = emit_open();
  out.undecided = emit_undecided();
  for (const schedule::SweepEntry& entry : s_.sweep)
    out.visits.push_back(emit_sweep_entry(entry));
  interface_.envelope = out;
}

}  // namespace lehr::loops
