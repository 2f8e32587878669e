// Sizes, buffers and the functions outside the sweep.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/loops/stream.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {

using schedule::BlockUpdate;
using schedule::ItemStage;
using schedule::Statistic;

namespace {

/// More sums of data over the same plates than this share loops, so many each.
constexpr std::size_t kSumsApart = 64, kSumsTogether = 16;

/// Numbers that the work arrays of one function may have on its stack: a thread may have little of it. What
/// no longer fits is in scratch buffers.
constexpr std::int64_t kStackEntries = 4096;

void data_matrices(const Algebra& a, CoefId c, std::set<density::DataSource>& out) {
  std::visit(Overloaded{[&](const density::CoefInverse& x) { out.insert(x.matrix); },
                        [&](const density::CoefLogDet& x) { out.insert(x.matrix); },
                        [&](const density::CoefAdd& x) {
                          for (CoefId p : x.parts)
                            data_matrices(a, p, out);
                        },
                        [&](const density::CoefMultiply& x) {
                          for (CoefId p : x.parts)
                            data_matrices(a, p, out);
                        },
                        [&](const density::CoefApply& x) { data_matrices(a, x.argument, out); },
                        [&](const density::CoefSum& x) { data_matrices(a, x.body, out); }, [](const auto&) {}},
             a[c]);
}

}  // namespace

Lowering::Lowering(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                   const LowerOptions& options)
    : m_(m), s_(s), data_(data), options_(options), a_(s.conditionals.density.algebra) {}

std::vector<model::PlateId> Lowering::event_axes(const model::Variable& v, int rank) const {
  if (rank == 0) return {};
  if (v.value_plate) return {*v.value_plate};
  if (v.event.empty()) return {};
  std::vector<model::PlateId> out{v.event[0]};
  if (rank == 2) out.push_back(v.event.back());
  return out;
}

SizeId Lowering::runtime_size(const std::string& name, std::int64_t value) {
  size_values_.push_back(value);
  return b_.runtime_size(name);
}

bool Lowering::is_constant(model::PlateId set) const {
  if (m_[set].parent || data_.sizes[set.index()] < 0) return false;
  return std::none_of(m_.variables.begin(), m_.variables.end(), [&](const model::Variable& v) {
    return v.observed && !v.axes.empty() && m_[v.axes[0]].set == set;
  });
}

void Lowering::declare_sizes() {
  size_.resize(m_.plates.size());
  for (std::size_t k = 0; k < m_.plates.size(); ++k) {
    const model::PlateId p(k);
    if (m_[p].set != p) continue;
    size_[k] = is_constant(p) ? b_.constant_size(m_[p].name, data_.sizes[k]) : runtime_size(m_[p].name, data_.sizes[k]);
  }
  for (std::size_t k = 0; k < m_.plates.size(); ++k)
    size_[k] = size_[m_.plates[k].set.index()];
}

std::vector<SizeId> Lowering::packed(const std::vector<model::PlateId>& plates) const {
  std::vector<SizeId> out;
  for (std::size_t k = 0; k < plates.size(); ++k) {
    const model::PlateId set = m_[plates[k]].set;
    if (m_[set].parent && k > 0) out.back() = size_[set.index()];
    else out.push_back(size_[set.index()]);
  }
  return out;
}

BufferId Lowering::work_array(const std::string& name, const std::vector<SizeId>& sizes) {
  std::int64_t entries = 1;
  bool constant = true;
  for (SizeId s : sizes) {
    const std::int64_t n = b_.program()[s].constant;
    constant = constant && n >= 0;
    entries *= std::max<std::int64_t>(n, 1);
  }
  const std::string unique = fmt::format("{}.{}", name, names_++);
  const std::size_t open = b_.program().functions.size();
  if (work_.function != open) {
    work_.function = open;
    work_.on_stack = 0;
    work_.taken.clear();
  }
  if (constant && work_.on_stack + entries <= kStackEntries) {
    work_.on_stack += entries;
    return b_.local_array(unique, sizes);
  }
  if (!constant) return b_.buffer(unique, Role::scratch, sizes);
  std::vector<BufferId>& all = work_.buffers[sizes];
  const std::size_t at = work_.taken[sizes]++;
  if (at == all.size()) all.push_back(b_.buffer(unique, Role::scratch, sizes));
  return all[at];
}

void Lowering::declare_data() {
  buffers_.offsets.resize(m_.plates.size());
  for (std::size_t k = 0; k < m_.plates.size(); ++k) {
    const model::PlateId p(k);
    if (m_[p].set != p || !m_[p].parent) continue;
    const std::int64_t rows = data_.sizes[m_[*m_[p].parent].set.index()];
    buffers_.offsets[k] = b_.buffer("offsets." + m_[p].name, Role::data,
                                    {runtime_size("rows." + m_[p].name, rows < 0 ? -1 : rows + 1)}, Type::i64);
  }
  for (std::size_t k = 0; k < m_.plates.size(); ++k)
    buffers_.offsets[k] = buffers_.offsets[m_.plates[k].set.index()];
  const auto declare = [&](const std::string& name, std::vector<model::PlateId> axes,
                           const std::vector<model::PlateId>& event, bool category) {
    axes.insert(axes.end(), event.begin(), event.end());
    return b_.buffer(name, Role::data, packed(axes), category ? Type::i64 : Type::f64);
  };
  for (const model::Given& g : m_.givens) {
    buffers_.givens.push_back(declare(g.name, g.axes, g.event, g.type == model::GivenType::category));
  }
  buffers_.observed.resize(m_.variables.size());
  for (std::size_t k = 0; k < m_.variables.size(); ++k) {
    const model::Variable& v = m_.variables[k];
    if (v.observed) buffers_.observed[k] = declare(v.name, v.axes, v.event, v.support == math::Support::category);
  }
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
      if (!p.exported || (!stored(b) && !options_.save_locals)) continue;
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
      slot.streamed = !stored(b);
      parameter_[{b, p.name}] = slot.buffer;
      interface_.parameters.push_back(std::move(slot));
    }
    if (!stored(b)) continue;
    if (block.chain) declare_chain(b);
    for (const math::StatisticRow& row : block.factor->statistics) {
      if (!used.contains({b, row.stat})) continue;
      if (row.stat == math::Stat::indicator) {
        expectation_[{b, row.stat}] = parameter_of(b, math::ParameterRole::probabilities);
        continue;
      }
      const int rank = var.event.empty() ? 0 : math::event_rank(row.stat);
      expectation_[{b, row.stat}] = b_.buffer(fmt::format("E.{}.{}", var.name, math::natural_name(row.stat).substr(2)),
                                              Role::expectation, packed(with_axes(rank)));
    }
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

void Lowering::declare_arrays() {
  for (std::size_t k = 0; k < s_.statistics.size(); ++k) {
    const Statistic& s = s_.statistics[k];
    std::vector<SizeId> sizes;
    for (model::PlateId p : statistic_order(s))
      sizes.push_back(size_[p.index()]);
    statistic_[s.sums] = statistic_[s.table] = &s;
    array_[s.sums] = b_.buffer(fmt::format("S{}", k), s.stage ? Role::statistic : Role::table, sizes);
    if (s.stage) array_[s.table] = b_.buffer(fmt::format("G{}", k), Role::table, sizes);
  }
  for (std::size_t k = 0; k < s_.residuals.size(); ++k) {
    const schedule::Residual& r = s_.residuals[k];
    residual_[r.sums] = &r;
    array_[r.sums] = b_.buffer(fmt::format("R{}", k), Role::table, packed(r.axes));
  }
  for (const schedule::Step& step : s_.steps) {
    const auto* stage = std::get_if<ItemStage>(&step);
    if (!stage) continue;
    for (BlockId b : stage->blocks) {
      const model::Variable& var = m_[s_.conditionals[b].variable];
      if (var.value_plate && !var.auxiliary && !s_.conditionals[b].chain) {
        picks_[b] = b_.buffer("pick." + var.name, Role::data, {size_[stage->item.index()]}, Type::i64);
      }
      if (stored(b)) continue;
      const Stream stream = plan_stream(*stage, b);
      for (const StreamUse& u : stream.uses) {
        if (!stream.factored || u.kind != StreamUse::Kind::table) continue;
        const Statistic& s = s_.statistics[*u.term->statistic];
        std::vector<SizeId> sizes;
        for (model::PlateId p : statistic_order(s))
          sizes.push_back(size_[p.index()]);
        exp_table_[s.table] = b_.buffer(fmt::format("exp.G{}", *u.term->statistic), Role::table, sizes);
        sizes.pop_back();
        exp_shift_[s.table] = b_.buffer(fmt::format("shift.G{}", *u.term->statistic), Role::table, sizes);
      }
    }
  }
  const SizeId one = b_.constant_size("one", 1);
  for (std::size_t k = 0; k < s_.steps.size(); ++k) {
    if (!std::holds_alternative<ItemStage>(s_.steps[k])) continue;
    local_sums_[k] = {b_.buffer(fmt::format("energy{}", k), Role::statistic, {one}),
                      b_.buffer(fmt::format("prior{}", k), Role::statistic, {one}),
                      b_.buffer(fmt::format("entropy{}", k), Role::statistic, {one}),
                      b_.buffer(fmt::format("discrete{}", k), Role::statistic, {one})};
  }
  interface_.elbo_value = b_.buffer("elbo", Role::output, {b_.constant_size("elbo parts", 6)});
  interface_.weights = b_.buffer("weights", Role::data, {b_.constant_size("weights", 6)});
}

void Lowering::emit_prepare() {
  std::set<density::DataSource> matrices;
  for (const Term& t : s_.conditionals.density.terms)
    data_matrices(a_, t.coef, matrices);
  for (const density::DataSource& source : matrices) {
    const auto declare = [&](const std::string& name, const std::vector<model::PlateId>& axes,
                             const std::vector<model::PlateId>& event) {
      std::vector<model::PlateId> all = axes;
      all.insert(all.end(), event.begin(), event.end());
      data_inverse_[name] = {b_.buffer("inverse." + name, Role::table, packed(all)),
                             b_.buffer("logdet." + name, Role::table, packed(axes))};
    };
    std::visit([&](auto id) { declare(m_[id].name, m_[id].axes, m_[id].event); }, source);
    if (const auto* given = std::get_if<model::GivenId>(&source)) definite_.push_back(*given);
  }
  interface_.prepare = b_.function("prepare", [&] {
    prepare_inverse_lookups();
    for (const density::DataSource& source : matrices) {
      std::visit(
          [&](auto id) {
            const auto& x = m_[id];
            BufferId data;
            std::int32_t code = kFailData;
            if constexpr (std::is_same_v<decltype(id), model::GivenId>) {
              data = buffers_.givens[id.index()];
              code += id.value;
            } else {
              data = buffers_.observed[id.index()];
            }
            const SizeId extent = size_[m_[x.event[0]].set.index()];
            for_elements(x.axes, [&](std::vector<ExprId> lead) {
              const std::vector<ExprId> at = address(x.axes, lead);
              const auto entry = [&](const std::vector<ExprId>& jl) {
                std::vector<ExprId> all = at;
                all.insert(all.end(), jl.begin(), jl.end());
                return all;
              };
              const auto [inv, logdet] = spd_inverse(
                  x.name, [&](const std::vector<ExprId>& jl) { return b_.load(data, entry(jl)); }, extent, code);
              b_.store(data_inverse_.at(x.name).second, at, logdet);
              for_range("j", b_.i(0), b_.extent(extent), [&, inv = inv](ExprId j) {
                for_range("l", b_.i(0), b_.extent(extent), [&](ExprId l) {
                  b_.store(data_inverse_.at(x.name).first, entry({j, l}), b_.load(inv, {j, l}));
                });
              });
            });
          },
          source);
    }
    sum_data();
  });
}

void Lowering::sum_data() {
  const auto add = [&](const Statistic& s, ExprId value, const Env& env) {
    b_.add_to(array_.at(s.sums), array_indices(s.sums, s.at, env), value);
  };
  std::map<std::vector<model::PlateId>, std::vector<const Statistic*>> alike;  // by the loops of the sum
  for (const Statistic& s : s_.statistics) {
    const auto whole = [&](BoundId b) { return !a_[b].parent && !m_[m_[a_[b].plate].set].parent; };
    if (s.stage || !s.inner.guards.empty() || !std::ranges::all_of(s.inner.bounds, whole)) continue;
    std::vector<model::PlateId> plates;
    for (BoundId b : s.inner.bounds)
      plates.push_back(m_[a_[b].plate].set);
    alike[plates].push_back(&s);
  }
  // Thousands of sums over the same data (the products of pairs of regressors) share their loops.
  std::set<const Statistic*> done;
  for (const auto& [plates, sums] : alike) {
    if (sums.size() <= kSumsApart) continue;
    for (const Statistic* s : sums)
      b_.fill(array_.at(s->sums), b_.f(0));
    for (std::size_t first = 0; first < sums.size(); first += kSumsTogether) {
      for_elements(plates, [&](const std::vector<ExprId>& at) {
        for (std::size_t k = first; k < std::min(first + kSumsTogether, sums.size()); ++k) {
          Env env;
          for (std::size_t x = 0; x < at.size(); ++x)
            env[sums[k]->inner.bounds[x]] = at[x];
          ExprId value = b_.f(1);
          for (const Factor& f : factors({&sums[k]->inner}, {}))
            value = b_.mul(value, f.value(env));
          add(*sums[k], value, env);
        }
      });
    }
    done.insert(sums.begin(), sums.end());
  }
  for (const Statistic& s : s_.statistics) {
    if (s.stage || done.contains(&s)) continue;
    b_.fill(array_.at(s.sums), b_.f(0));
    emit(s.inner, factors({&s.inner}, {}), {}, {}, std::nullopt,
         [&](ExprId value, const Env& env) { add(s, value, env); });
  }
}

std::vector<BlockId> Lowering::parents_first() const {
  // A block waits for the latent parents that the terms of its own statement mention.
  const conditionals::Conditionals& c = s_.conditionals;
  std::map<std::optional<model::StatementId>, std::set<std::size_t>> mentioned;
  for (const Term& t : c.density.terms) {
    for (const Atom& x : t.atoms)
      mentioned[c.density.origins[t.origin].statement].insert(c.block_of[x.variable.index()].index());
  }
  std::vector<BlockId> out;
  std::vector<bool> done(c.blocks.size());
  const auto ready = [&](std::size_t k) {
    return !done[k] && std::ranges::all_of(mentioned[m_[c.blocks[k].variable].statement],
                                           [&](std::size_t parent) { return parent == k || done[parent]; });
  };
  while (out.size() < c.blocks.size()) {
    std::size_t next = 0;
    while (next < c.blocks.size() && !ready(next))
      ++next;
    if (next == c.blocks.size())
      next = static_cast<std::size_t>(std::find(done.begin(), done.end(), false) - done.begin());
    done[next] = true;
    out.push_back(BlockId(next));
  }
  return out;
}

std::vector<std::pair<ArrayTerm, std::size_t>> Lowering::prior_uses(BlockId b) const {
  const density::Density& d = s_.conditionals.density;
  const conditionals::Block& block = s_.conditionals[b];
  std::vector<std::pair<ArrayTerm, std::size_t>> out;
  for (const conditionals::Use& u : block.uses) {
    const Term& t = d.terms[u.term];
    const auto origin = d.origins[t.origin].statement;
    const bool own = origin == m_[block.variable].statement || (block.mean && origin == m_[*block.mean].statement);
    const bool readable = std::all_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& x) {
      return stored(s_.conditionals.block_of[x.variable.index()]);
    });
    // An element that stands as the one before another: that one is formed later.
    const auto before = [&](const Atom& x) {
      return std::any_of(x.axes.begin(), x.axes.end(), [&](IndexId i) {
        const auto* b = std::get_if<density::IndexBound>(&a_[i]);
        return b && b->offset != 0;
      });
    };
    if (own && readable && (block.chain || !before(t.atoms[u.atom])))
      out.push_back({{&t, std::nullopt, nullptr}, u.atom});
  }
  return out;
}

std::size_t Lowering::emit_initialise(const std::string& name, bool globals) {
  return b_.function(name, [&] {
    tolerant_ = true;
    for (BlockId b : parents_first()) {
      if (!stored(b) || (!globals && !s_.local[b.index()])) continue;
      local_chain(b);
      update(b, prior_uses(b), {}, {});
    }
    tolerant_ = false;
  });
}

std::size_t Lowering::emit_expectations(const std::string& name, bool local) {
  return b_.function(name, [&] {
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      if (stored(BlockId(k)) && (local || !s_.local[k])) recompute_expectations(BlockId(k), {});
    }
  });
}

void Lowering::recompute_expectations(BlockId b, const std::vector<ExprId>& lead) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  for_elements(
      var.axes,
      [&](std::vector<ExprId> element) {
        Formulas f = parameter_formulas(b, element);
        expectations_from_parameters(b, element, f);
      },
      lead);
  if (!chains_.contains(b) || chains_.at(b).local) return;
  for_sequences(var, lead, [&](const std::vector<ExprId>& q) { independent_pairs(b, q); });
}

/// The statement is that of a local variable.
bool Lowering::is_local(std::size_t origin) const {
  const auto& statement = s_.conditionals.density.origins[origin].statement;
  const BlockId b = statement ? s_.conditionals.block_of[m_[*statement].variable.index()] : BlockId();
  return b.valid() && s_.local[b.index()];
}

void Lowering::emit_elbo() {
  interface_.elbo = b_.function("elbo", [&] {
    const ScalarId prior = b_.local("prior", b_.f(0)), data = b_.local("data", b_.f(0));
    const ScalarId local = b_.local("local", b_.f(0)), global = b_.local("global", b_.f(0));
    const ScalarId discrete = b_.local("discrete", b_.f(0)), own = b_.local("local_prior", b_.f(0));
    for (const auto& [step, sums] : local_sums_) {
      b_.accumulate(own, b_.load(sums.prior, {b_.i(0)}));
      b_.accumulate(data, b_.load(sums.energy, {b_.i(0)}));
      b_.accumulate(prior, b_.load(sums.prior, {b_.i(0)}));
      b_.accumulate(local, b_.load(sums.entropy, {b_.i(0)}));
      b_.accumulate(discrete, b_.load(sums.discrete, {b_.i(0)}));
    }
    for (const schedule::OuterTerm& t : s_.outer) {
      const ArrayTerm term = outer_term(t);
      const bool tempered = s_.tempered[t.term.origin], local_prior = !tempered && is_local(t.term.origin);
      const auto add = [&](ExprId value, const Env&) {
        b_.accumulate(tempered ? data : prior, value);
        if (local_prior) b_.accumulate(own, value);
      };
      emit(*term.term, factors(term, {}), {}, {}, std::nullopt, add, std::set<BoundId>());
    }
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      const BlockId b(k);
      if (s_.stage_of[k] || s_.conditionals[b].point) continue;
      const bool finite = is_discrete(m_[s_.conditionals[b].variable].support);
      const ScalarId into = !s_.local[k] ? global : finite ? discrete : local;
      if (chains_.contains(b)) {
        for_sequences(m_[s_.conditionals[b].variable], {},
                      [&](const std::vector<ExprId>& q) { b_.accumulate(into, chain_entropy(b, q)); });
        continue;
      }
      for_elements(m_[s_.conditionals[b].variable].axes,
                   [&](std::vector<ExprId> element) { b_.accumulate(into, entropy(b, element)); });
    }
    const ExprId locals = b_.let("locals", b_.add(b_.get(local), b_.get(discrete)));
    const ExprId entropies = b_.let("entropies", b_.add(locals, b_.get(global)));
    const auto part = [&](ElboPart p, ExprId value) {
      b_.store(interface_.elbo_value, {b_.i(static_cast<std::int64_t>(p))}, value);
    };
    part(ElboPart::elbo, b_.add(b_.add(b_.get(prior), b_.get(data)), entropies));
    part(ElboPart::data_energy, b_.get(data));
    part(ElboPart::local_entropy, locals);
    part(ElboPart::entropy, entropies);
    part(ElboPart::discrete_entropy, b_.get(discrete));
    part(ElboPart::local_prior, b_.get(own));
  });
}

Lowered Lowering::run() {
  declare_sizes();
  declare_data();
  declare_blocks();
  declare_arrays();
  declare_item_energies();
  declare_gradients();
  declare_inverse_lookups();
  emit_prepare();
  interface_.initialise = emit_initialise("initialise", true);
  if (options_.new_items && !only_stage(s_)) interface_.initialise_local = emit_initialise("initialise_local", false);
  interface_.expectations = emit_expectations("expectations", true);
  interface_.global_expectations = emit_expectations("global_expectations", false);
  for (std::size_t k = 0; k < s_.steps.size(); ++k) {
    if (std::holds_alternative<ItemStage>(s_.steps[k])) {
      interface_.steps.emplace_back(emit_stage(k));
      continue;
    }
    const BlockId b = std::get<BlockUpdate>(s_.steps[k]).block;
    UpdateFunction f{b, 0, {}};
    f.gradient = gradient_norms_.contains(b) ? gradient_norms_.at(b) : BufferId();
    f.function =
        b_.function("update_" + m_[s_.conditionals[b].variable].name, [&] { update(b, outer_uses(b), {}, {}); });
    interface_.steps.emplace_back(f);
  }
  interface_.sweep = s_.sweep;
  emit_elbo();
  emit_item_energies();
  longest_.resize(m_.plates.size());
  for (std::size_t f :
       {interface_.prepare, interface_.initialise, interface_.expectations, interface_.global_expectations})
    b_.mark_cold(f);
  if (interface_.initialise_local) b_.mark_cold(*interface_.initialise_local);
  for (const schedule::Statistic& x : s_.statistics)
    interface_.sums.push_back(array_.at(x.sums));
  for (const auto& step : interface_.steps) {
    const auto* stage = std::get_if<StageFunctions>(&step);
    if (stage && stage->seed) b_.mark_cold(*stage->seed);
    if (stage && stage->sum) b_.mark_cold(*stage->sum);
    if (stage && stage->fresh) b_.mark_cold(*stage->fresh);
    if (stage && stage->expectations) b_.mark_cold(*stage->expectations);
  }
  return {b_.take(),        std::move(interface_), std::move(buffers_),    std::move(definite_),
          std::move(size_), std::move(longest_),   std::move(size_values_)};
}

}  // namespace lehr::loops

namespace lehr {

loops::Lowered lower(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                     const loops::LowerOptions& options) {
  return loops::Lowering(model, schedule, data, options).run();
}

}  // namespace lehr
