// The memory layout of a program: sizes, and buffers for data, factors, tables and sums.
//
// Every array has the plates of its variable as leading axes and event axes behind them. A nested plate (tokens of
// documents) is packed: its rows lie one after another, and `offsets` has where each begins. So `w[doc, token]` of rows
// with 3, 2 and 4 tokens has 9 elements, offsets are 0 3 5 9, and token 1 of document 2 is at index 6.
#include "compiler/lower/stages/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/analysis/cost_model.h"
#include "compiler/lower/formulas.h"
#include "compiler/math/sparse_pattern.h"
#include "compiler/model/roles.h"

namespace lehr::loops {

using schedule::ItemStage;
using schedule::Statistic;

std::vector<model::PlateId> Part::event_axes(const model::Variable& v, int rank) const {
  if (rank == 0) return {};
  if (v.value_plate) return {*v.value_plate};
  if (v.event.empty()) return {};
  if (rank == 2 && v.support == math::Support::sparse) return {v.auxiliary->entries};
  std::vector<model::PlateId> out{v.event[0]};
  if (rank == 2) out.push_back(v.event.back());
  return out;
}

int Part::rank_of(const model::Variable& v, math::Stat stat) {
  return v.event.empty() && !v.value_plate ? 0 : math::event_rank(stat);
}

SizeId Part::runtime_size(const std::string& name, std::int64_t value) {
  layout_.size_values.push_back(value);
  return b_.runtime_size(name);
}

bool Lowering::is_constant(model::PlateId set) const {
  return shared_.data.sizes[set.index()] >= 0 && has_constant_size(m_, set);
}

void Lowering::declare_sizes() {
  layout_.size.resize(m_.plates.size());
  for (std::size_t k = 0; k < m_.plates.size(); ++k) {
    const model::PlateId p(k);
    if (m_[p].set != p) continue;
    layout_.size[k] = is_constant(p) ? b_.constant_size(m_[p].name, shared_.data.sizes[k])
                                     : runtime_size(m_[p].name, shared_.data.sizes[k]);
  }
  for (std::size_t k = 0; k < m_.plates.size(); ++k)
    layout_.size[k] = layout_.size[m_.plates[k].set.index()];
}

std::vector<SizeId> Part::packed(const std::vector<model::PlateId>& plates) const {
  std::vector<SizeId> out;
  for (std::size_t k = 0; k < plates.size(); ++k) {
    const model::PlateId set = m_[plates[k]].set;
    // The size of a nested plate is the number of elements in all its rows together.
    if (m_[set].parent && k > 0) out.back() = layout_.size[set.index()];
    else out.push_back(layout_.size[set.index()]);
  }
  return out;
}

bool Part::has_fused_atom(const Term& t) const {
  return std::any_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& a) {
    return s_.storage[s_.conditionals.block_of[a.variable.index()].index()] == schedule::Storage::fused;
  });
}

bool Part::adds_up_alone(const schedule::ItemStage& stage, ArrayId table) const {
  return std::ranges::count_if(stage.terms, [&](const schedule::ItemStage::LocalTerm& t) {
           return t.statistic && s_.statistics[*t.statistic].table == table;
         }) == 1;
}

BufferId Part::work_array(const std::string& name, const std::vector<SizeId>& sizes) {
  std::int64_t entries = 1;
  bool constant = true;
  for (SizeId s : sizes) {
    const std::int64_t n = b_.program()[s].constant;
    constant = constant && n >= 0;
    entries *= std::max<std::int64_t>(n, 1);
  }
  const std::string unique = b_.fresh(name + ".");
  // The function that is open gets this position when it is closed.
  const std::size_t open = b_.program().functions.size();
  if (shared_.work.function != open) {
    shared_.work.function = open;
    shared_.work.on_stack = 0;
    shared_.work.used.clear();
  }
  if (constant && shared_.work.on_stack + entries <= options_.thresholds[kOnStack]) {
    shared_.work.on_stack += entries;
    return b_.local_array(unique, sizes);
  }
  if (!constant) return b_.buffer(unique, Role::scratch, sizes);
  std::vector<BufferId>& all = shared_.work.buffers[sizes];
  const std::size_t at = shared_.work.used[sizes]++;
  if (at == all.size()) all.push_back(b_.buffer(unique, Role::scratch, sizes));
  return all[at];
}

void Lowering::declare_data() {
  layout_.data.offsets.resize(m_.plates.size());
  for (std::size_t k = 0; k < m_.plates.size(); ++k) {
    const model::PlateId p(k);
    if (m_[p].set != p || !m_[p].parent) continue;
    // There is one offset for the beginning of each row, and one for the end of the last.
    const std::int64_t rows = shared_.data.sizes[m_[*m_[p].parent].set.index()];
    layout_.data.offsets[k] = b_.buffer("offsets." + m_[p].name, Role::data,
                                        {runtime_size("rows." + m_[p].name, rows < 0 ? -1 : rows + 1)}, Type::i64);
  }
  for (std::size_t k = 0; k < m_.plates.size(); ++k)
    layout_.data.offsets[k] = layout_.data.offsets[m_.plates[k].set.index()];
  const auto declare = [&](const std::string& name, std::vector<model::PlateId> axes,
                           const std::vector<model::PlateId>& event, bool category) {
    axes.insert(axes.end(), event.begin(), event.end());
    return b_.buffer(name, Role::data, packed(axes), category ? Type::i64 : Type::f64);
  };
  for (const model::Given& g : m_.givens) {
    layout_.data.givens.push_back(declare(g.name, g.axes, g.event, g.type == model::GivenType::category));
  }
  layout_.data.observed.resize(m_.variables.size());
  for (std::size_t k = 0; k < m_.variables.size(); ++k) {
    const model::Variable& v = m_.variables[k];
    if (has_data(v)) layout_.data.observed[k] = declare(v.name, v.axes, v.event, v.support == math::Support::category);
    if (v.support == math::Support::sparse) declare_pattern(model::VariableId(k));
  }
}

void Lowering::declare_pattern(model::VariableId id) {
  const model::Variable& v = m_[id];
  PatternBuffers out{id, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  const auto pairs = arrays_of(*v.auxiliary->pattern, out);
  for (const auto& [name, values, buffer] : pairs)
    *buffer = b_.buffer(fmt::format("{}.{}", name, v.name), Role::data, {b_.constant_size(name, std::ssize(*values))},
                        Type::i64);
  layout_.data.patterns.push_back(out);
}

void Lowering::declare_blocks() {
  std::set<std::pair<BlockId, math::Stat>> used;
  for (const Term& t : s_.conditionals.density.terms) {
    for (const Atom& x : t.atoms)
      used.insert({s_.conditionals.block_of[x.variable.index()], x.stat});
  }
  for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
    const BlockId b(k);
    const conditionals::Block& block = s_.conditionals[b];
    const model::Variable& var = m_[block.variable];
    const auto with_axes = [&](int rank) {
      std::vector<model::PlateId> axes = var.axes;
      const auto event = event_axes(var, rank);
      axes.insert(axes.end(), event.begin(), event.end());
      return axes;
    };
    for (const math::FactorParameter& p : block.factor->parameters) {
      if (!p.exported || !is_written(b)) continue;
      const model::VariableId owner = block.mean && p.of_mean ? *block.mean : block.variable;
      ParameterSlot slot;
      slot.name = m_[owner].name + "." + p.name;
      slot.variable = owner;
      slot.block = b;
      slot.parameter = p.name;
      slot.event_rank = p.event_rank;
      slot.axes = with_axes(p.event_rank);
      slot.buffer = b_.buffer(slot.name, Role::parameter, packed(slot.axes));
      slot.local = s_.stage_of[k].has_value();
      slot.fused = !stored(b);
      // Sweeps seldom read these parameters of items, so they are written only if the caller requests it
      // (Demand::item_parameters).
      const bool of_chain = block.chain && p.role == math::ParameterRole::probabilities;
      if (slot.local && (p.role == math::ParameterRole::precision || of_chain))
        b_.set_demand(slot.buffer, Demand::item_parameters);
      layout_.parameter[{b, p.name}] = slot.buffer;
      interface_.parameters.push_back(std::move(slot));
    }
    if (!stored(b)) continue;
    if (block.chain) chains_.declare_chain(b);
    for (const math::StatisticRow& row : block.factor->statistics) {
      if (!used.contains({b, row.stat})) continue;
      if (row.stat == math::Stat::indicator && find_role(*block.factor, math::ParameterRole::probabilities)) {
        layout_.expectation[{b, row.stat}] = parameter_of(b, math::ParameterRole::probabilities);
        continue;
      }
      const int rank = rank_of(var, row.stat);
      layout_.expectation[{b, row.stat}] =
          b_.buffer(fmt::format("E.{}.{}", var.name, math::natural_name(row.stat).substr(2)), Role::expectation,
                    packed(with_axes(rank)));
    }
    // The ELBO needs log determinants of global factors. Their updates form them anyway, so they are stored.
    if (s_.stage_of[k] || block.chain || var.clamped || !block.has_entropy()) continue;
    for (const std::string& matrix : log_determinants(block.factor->entropy))
      layout_.logdet[b][matrix] =
          b_.buffer(fmt::format("logdet.{}.{}", var.name, matrix), Role::expectation, packed(with_axes(0)));
  }
}

std::vector<model::PlateId> Lowering::statistic_order(const Statistic& s) const {
  std::vector<model::PlateId> out;
  for (std::size_t k = 0; k < s.axes.size(); ++k) {
    if (k != s.contiguous) out.push_back(s.axes[k]);
  }
  if (!s.axes.empty()) out.push_back(s.axes[s.contiguous]);
  return out;
}

void Lowering::declare_cached(const Statistic& s) {
  std::set<BlockId> blocks;
  for (const Atom& x : s.inner.atoms)
    blocks.insert(s_.conditionals.block_of[x.variable.index()]);
  // Sums over the same factors become invalid together, so they share a flag and a function.
  auto same = std::ranges::find(layout_.cached_groups, blocks, &CachedGroup::blocks);
  if (same == layout_.cached_groups.end()) {
    const BufferId fresh = b_.buffer(fmt::format("fresh{}", layout_.cached_groups.size()), Role::table, {});
    same = layout_.cached_groups.insert(same, {std::move(blocks), {}, {0, fresh}});
  }
  same->sums.push_back(&s);
}

void Lowering::declare_exponentials(ArrayId table) {
  const std::string& name = b_.program()[layout_.array.at(table)].name;
  std::vector<SizeId> sizes = b_.program()[layout_.array.at(table)].axes;
  layout_.exp_table[table] = b_.buffer("exp." + name, Role::table, sizes);
  sizes.pop_back();
  layout_.exp_shift[table] = b_.buffer("shift." + name, Role::table, sizes);
}

void Lowering::declare_arrays() {
  for (std::size_t k = 0; k < s_.statistics.size(); ++k) {
    const Statistic& s = s_.statistics[k];
    std::vector<SizeId> sizes;
    for (model::PlateId p : statistic_order(s))
      sizes.push_back(layout_.size[p.index()]);
    layout_.statistic[s.sums] = layout_.statistic[s.table] = &s;
    if (s.is_cached() && can_cache_sums()) declare_cached(s);
    layout_.array[s.sums] = b_.buffer(fmt::format("S{}", k), s.stage ? Role::statistic : Role::table, sizes);
    if (s.stage) layout_.array[s.table] = b_.buffer(fmt::format("G{}", k), Role::table, sizes);
  }
  for (std::size_t k = 0; k < s_.residuals.size(); ++k) {
    const schedule::Residual& r = s_.residuals[k];
    for (std::size_t side = 0; side < r.sides.size(); ++side) {
      const ArrayId sums = r.sides[side].sums;
      layout_.residual[sums] = {&r, side};
      layout_.array[sums] =
          b_.buffer(fmt::format("R{}{}", k, side == 0 ? "" : "'"), Role::table, packed(r.sides[side].axes));
    }
  }
  for (const schedule::Step& step : s_.steps) {
    const auto* stage = std::get_if<ItemStage>(&step);
    if (!stage) continue;
    for (BlockId b : stage->blocks) {
      const model::Variable& var = m_[s_.conditionals[b].variable];
      if (var.value_plate && !var.auxiliary && !s_.conditionals[b].chain) {
        layout_.picks[b] = b_.buffer("pick." + var.name, Role::data, {layout_.size[stage->item.index()]}, Type::i64);
      }
      for (const ArrayId table : chains_.row_tables(*stage, b))
        declare_exponentials(table);
      if (stored(b)) continue;
      const FusedCategory stream = fused_.plan_fused(*stage, b);
      for (const FusedUse& u : stream.uses) {
        if (!stream.factored || u.kind != FusedUse::Kind::table) continue;
        const ArrayId table = s_.statistics[*u.term->statistic].table;
        declare_exponentials(table);
        // Full rows read the exponentials with the elements contiguous (lower_full_rows.cpp).
        if (!fused_.can_have_full_rows(stream)) continue;
        const std::vector<SizeId> sizes = b_.program()[layout_.array.at(table)].axes;
        layout_.exp_columns[table] =
            b_.buffer("columns." + b_.program()[layout_.array.at(table)].name, Role::table, {sizes[1], sizes[0]});
      }
    }
  }
  const SizeId one = b_.constant_size("one", 1);
  for (std::size_t k = 0; k < s_.steps.size(); ++k) {
    if (!std::holds_alternative<ItemStage>(s_.steps[k])) continue;
    const auto sum = [&](std::string_view of) {
      const BufferId out = b_.buffer(fmt::format("{}{}", of, k), Role::statistic, {one});
      b_.set_demand(out, Demand::elbo);
      return out;
    };
    layout_.local_sums[k] = {sum("energy"), sum("prior"), sum("entropy"), sum("discrete")};
  }
  interface_.elbo_value = b_.buffer("elbo", Role::output, {b_.constant_size("elbo parts", 6)});
  if (std::ranges::any_of(s_.conditionals.blocks, &conditionals::Block::drawn))
    interface_.random_key = b_.buffer("random key", Role::data, {b_.constant_size("key words", 3)}, Type::i64);
  interface_.weights = b_.buffer("weights", Role::data, {b_.constant_size("weights", 8)});
  b_.set_demand_flag(Demand::item_parameters, interface_.weights, static_cast<std::int64_t>(Weight::item_parameters));
  b_.set_demand_flag(Demand::elbo, interface_.weights, static_cast<std::int64_t>(Weight::elbo));
}

SizeId Part::longest(const model::Variable& var) {
  const model::PlateId set = m_[var.axes.back()].set;
  if (!m_[set].parent) return layout_.size[set.index()];
  layout_.longest.resize(m_.plates.size());
  if (layout_.longest[set.index()].valid()) return layout_.longest[set.index()];
  std::int64_t longest = -1;
  const std::vector<std::int64_t>& offsets = shared_.data.offsets[set.index()];
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
    longest = std::max(longest, offsets[r + 1] - offsets[r]);
  return layout_.longest[set.index()] = runtime_size("longest." + m_[set].name, longest);
}

void Lowering::declare_gradients() {
  if (!options_.gradients) return;
  const SizeId two = b_.constant_size("gradient norms", 2);
  for (const schedule::Step& step : s_.steps) {
    const auto* u = std::get_if<schedule::BlockUpdate>(&step);
    if (!u || s_.local[u->block.index()] || !s_.conditionals[u->block].has_entropy() || s_.conditionals[u->block].chain)
      continue;
    const model::Variable& var = m_[s_.conditionals[u->block].variable];
    for (const math::StatisticRow& row : s_.conditionals[u->block].factor->statistics) {
      std::vector<model::PlateId> axes = var.axes;
      const std::vector<model::PlateId> event = event_axes(var, rank_of(var, row.stat));
      axes.insert(axes.end(), event.begin(), event.end());
      layout_.mean_gradient[{u->block, row.stat}] =
          b_.buffer("gradient." + var.name + "." + math::natural_name(row.stat), Role::parameter, packed(axes));
    }
    layout_.gradient_norms[u->block] = b_.buffer("gradient." + var.name, Role::output, {two});
  }
}

}  // namespace lehr::loops

namespace lehr {

std::vector<loops::PatternArray> loops::arrays_of(const math::SparsePattern& p, PatternBuffers& to) {
  return {{"order", &p.order, &to.order},
          {"first", &p.first, &to.first},
          {"row", &p.row, &to.row},
          {"place", &p.place, &to.place},
          {"filled_first", &p.filled_first, &to.filled_first},
          {"filled_row", &p.filled_row, &to.filled_row},
          {"left_first", &p.left_first, &to.left_first},
          {"left", &p.left, &to.left},
          {"left_column", &p.left_column, &to.left_column}};
}

bool has_constant_size(const model::Model& m, model::PlateId set) {
  // Ordered plates are read at run time, so that the same code serves sequences of any length.
  return !m[set].parent && !m[set].ordered && !model::is_item_plate(m, set);
}

}  // namespace lehr
