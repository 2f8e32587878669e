// Unary log potentials that are rows of tables (E[log beta[w[t], k]] of a hidden Markov model with letters w). Their
// exponentials are taken with the table, once a sweep, and multiplied here for each element. What the first element
// alone has besides (the initial distribution) goes into its message.
//
// Unary log potentials are added up only for sequences whose products underflow, and are then treated in logarithms.
// Their means, which are part of the entropy, are those of the table under the sums that the items add up anyway
// (Stages::emit_finalise).
#include <algorithm>

#include "compiler/conditionals/chain_lag.h"
#include "compiler/lower/chains/messages.h"

namespace lehr::loops {

bool Chains::is_unary(const ArrayTerm& t, std::size_t use) const {
  const Atom& own = t.term->atoms[use];
  return std::ranges::none_of(t.term->atoms, [&](const Atom& x) {
    return x.variable == own.variable && conditionals::lag_between(a_, own, x);
  });
}

bool Chains::is_element_sum(const ArrayTerm& t, std::size_t use) const {
  if (!t.array || !layout_.statistic.contains(*t.array) || t.term->atoms.size() != 1) return false;
  const std::vector<IndexId>& axes = t.term->atoms[use].axes;
  const bool named = std::ranges::all_of(axes, [&](IndexId i) {
    const auto* bound = std::get_if<density::IndexVarRef>(&a_[i]);
    return bound && bound->offset == 0 && std::ranges::count(axes, i) == 1;
  });
  return named && std::holds_alternative<density::IndexVarRef>(a_[t.term->atoms[use].event[0]]);
}

bool Chains::is_row(const ArrayTerm& t, std::size_t use) const {
  return is_element_sum(t, use) && terms_.is_row(*t.term, use, *layout_.statistic.at(*t.array), *t.at);
}

bool Chains::adds_first(const UnaryUses& s) const {
  return std::ranges::all_of(s.first, [&](const auto& first) {
    return is_element_sum(first.first, first.second) && first.first.term->guards.size() == 1;
  });
}

bool Chains::is_of_first(const Term& t, std::size_t use) const {
  const IndexId step = t.atoms[use].axes.back();
  const auto* bound = std::get_if<density::IndexVarRef>(&a_[step]);
  return bound && bound->offset == 0 && std::ranges::any_of(t.guards, [&](const Guard& g) {
           if (g.present || g.relation != density::Relation::equal || g.left != step) return false;
           const auto* first = std::get_if<density::IndexConstant>(&a_[g.right]);
           return first && first->value == 0;
         });
}

std::optional<Chains::UnaryUses> Chains::singles(BlockId b, const Uses& uses) const {
  const std::optional<std::size_t> step = s_.stage_of[b.index()];
  // In a refresh the tables are new, while the entropies of chains are those of their last update. Means of the tables
  // would not belong to them.
  const bool refreshed = step && std::get<schedule::ItemStage>(s_.steps[*step]).refresh;
  if (!s_.local[b.index()] || clamps_.any(b) || refreshed) return std::nullopt;
  UnaryUses out;
  for (const auto& [t, use] : uses) {
    if (!is_unary(t, use)) continue;
    if (is_row(t, use)) out.rows.emplace_back(t, use);
    else if (is_of_first(*t.term, use)) out.first.emplace_back(t, use);
    else return std::nullopt;
  }
  return out.rows.empty() ? std::nullopt : std::optional(out);
}

std::optional<Chains::UnaryUses> Chains::unary_uses_of(const schedule::ItemStage& stage, BlockId b) const {
  const conditionals::Block& block = s_.conditionals[b];
  if (!block.chain || block.chain->factor != conditionals::ChainFactor::categories) return std::nullopt;
  Uses uses;
  for (const schedule::ItemStage::LocalTerm& t : stage.terms) {
    for (std::size_t k = 0; k < t.term.atoms.size(); ++k) {
      if (t.term.atoms[k].variable != block.variable) continue;
      if (t.outer || has_fused_atom(t.term)) return std::nullopt;
      ArrayTerm term{&t.term};
      if (t.statistic) term = {&t.term, s_.statistics[*t.statistic].table, &t.at};
      uses.emplace_back(term, k);
    }
  }
  return singles(b, uses);
}

std::vector<ArrayId> Chains::row_tables(const schedule::ItemStage& stage, BlockId b) const {
  std::vector<ArrayId> out;
  if (const auto found = unary_uses_of(stage, b)) {
    for (const auto& [t, use] : found->rows)
      out.push_back(*t.array);
  }
  return out;
}

void Chains::gather_start(Messages& m) {
  m.start_top = b_.local(b_.fresh("top"), b_.f(0));
  if (m.singles.first.empty()) return;
  const model::Variable& var = m_[s_.conditionals[m.block].variable];
  m.start = work_array("start." + var.name, {m.size});
  b_.fill(m.start, b_.f(0));
  NaturalTarget target;
  target.buffers[math::Stat::indicator] = m.start;
  b_.if_then(b_.less(b_.i(0), m.end), [&] {
    for (const auto& [t, use] : m.singles.first)
      updates_.contribute(m.block, t, use, std::vector<bool>(var.axes.size(), true), m.element(b_.i(0)), target);
    b_.assign(m.start_top, b_.load(m.start, {b_.i(0)}));
    each_value(m, "k", [&](ExprId k) { b_.assign(m.start_top, b_.max(b_.get(m.start_top), b_.load(m.start, {k}))); });
  });
}

void Chains::gather_unary(const Messages& m) {
  const ExprId zero = b_.i(0);
  b_.for_range("t", zero, m.end, [&](ExprId t) {
    each_value(m, "k", [&](ExprId k) { b_.store(m.unary, {t, k}, b_.f(0)); });
  });
  const std::size_t axes = m_[s_.conditionals[m.block].variable].axes.size();
  NaturalTarget target;
  target.buffers[math::Stat::indicator] = m.unary;
  target.free_axes = {axes - 1};
  std::vector<bool> fixed(axes, true);
  fixed.back() = false;
  std::vector<ExprId> lead = m.sequence;
  lead.resize(axes);
  for (const auto& [t, use] : m.all) {
    // Joint potentials are gathered by gather_pairs.
    if (is_unary(t, use)) updates_.contribute(m.block, t, use, fixed, lead, target);
  }
  if (m.hooks->gathered) b_.for_range("t", zero, m.end, [&](ExprId t) { m.hooks->gathered(m.element(t), target); });
}

Env Chains::single_env(const Messages& m, const std::pair<ArrayTerm, std::size_t>& of, ExprId t, ExprId k) const {
  const auto& [term, use] = of;
  const Atom& own = term.term->atoms[use];
  const std::vector<ExprId> element = m.element(t);
  Env env;
  for (std::size_t x = 0; x < element.size(); ++x)
    env[std::get<density::IndexVarRef>(a_[own.axes[x]]).bound] = element[x];
  env[std::get<density::IndexVarRef>(a_[own.event[0]]).bound] = k;
  return env;
}

std::vector<ExprId> Chains::row_address(const Messages& m, std::size_t row, ExprId t, ExprId k) {
  const ArrayTerm& term = m.singles.rows[row].first;
  return terms_.array_indices(*term.array, *term.at, single_env(m, m.singles.rows[row], t, k));
}

bool Chains::sums_in_update(const schedule::ItemStage& stage, BlockId b, ArrayId table) const {
  if (stage.iterate || s_.conditionals[b].drawn) return false;
  const std::optional<UnaryUses> found = unary_uses_of(stage, b);
  const auto is_of = [&](const auto& use) { return use.first.array == table; };
  return found &&
         (std::ranges::any_of(found->rows, is_of) || (adds_first(*found) && std::ranges::any_of(found->first, is_of)));
}

void Chains::add_to_sums(const Messages& m, const Uses& to, ExprId t, ExprId k) {
  for (const auto& of : to) {
    const auto& [term, use] = of;
    const schedule::Statistic& statistic = *layout_.statistic.at(*term.array);
    const Env env = single_env(m, of, t, k);
    ExprId value = b_.load(m.marginal, {t, k});
    for (const Factor& f : terms_.factors({term.term}, {use}))
      value = b_.mul(value, f.value(env));
    b_.add_to(layout_.array.at(statistic.sums), terms_.array_indices(statistic.sums, statistic.at, env), value);
  }
}

ExprId Chains::row_product(const Messages& m, ExprId t, ExprId k) {
  ExprId out = b_.f(1);
  for (std::size_t row = 0; row < m.singles.rows.size(); ++row) {
    const ExprId e = b_.load(layout_.exp_table.at(*m.singles.rows[row].first.array), row_address(m, row, t, k));
    out = row == 0 ? e : b_.mul(out, e);
  }
  return out;
}

ExprId Chains::row_shift(const Messages& m, ExprId t) {
  ExprId out = b_.f(0);
  for (std::size_t row = 0; row < m.singles.rows.size(); ++row) {
    std::vector<ExprId> at = row_address(m, row, t, b_.i(0));
    at.pop_back();
    const ExprId shift = b_.load(layout_.exp_shift.at(*m.singles.rows[row].first.array), at);
    out = row == 0 ? shift : b_.add(out, shift);
  }
  return out;
}

std::optional<ExprId> Chains::log_potential(const Messages& m, ExprId t, ExprId k) {
  if (!m.by_rows) return b_.load(m.unary, {t, k});
  const auto& stage = std::get<schedule::ItemStage>(s_.steps[*s_.stage_of[m.block.index()]]);
  std::optional<ExprId> out;
  for (std::size_t row = 0; row < m.singles.rows.size(); ++row) {
    const ArrayId table = *m.singles.rows[row].first.array;
    // Stages::emit_finalise subtracts the mean of this table for all items together.
    if (adds_up_alone(stage, table)) continue;
    const ExprId entry = b_.load(layout_.array.at(table), row_address(m, row, t, k));
    out = out ? b_.add(*out, entry) : entry;
  }
  return out ? std::optional(b_.mul(weight(Weight::local), *out)) : out;
}

}  // namespace lehr::loops
