// The functions outside the sweep (prepare, initialise, expectations, elbo, states), the updates of global blocks, and
// the order in which the lowering emits everything.
//
// `run` declares all memory first, then emits the functions in the order of the interface. What one function caches for
// another (log determinants, cached sums) is in buffers that lower_layout.cpp declares.
#include "compiler/lower/stages/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/binding/matrix_axes.h"
#include "compiler/model/roles.h"
#include "runtime/threshold.h"

namespace lehr::loops {

using schedule::BlockUpdate;
using schedule::ItemStage;
using schedule::Statistic;

namespace {

/// With more sums of data over the same plates than this, the sums share loops.
constexpr Threshold<std::size_t> kMostSeparateSums("lower_program.most_separate_sums", 64);
/// So many sums share one loop nest.
constexpr Threshold<std::size_t> kSumsTogether("lower_program.sums_together", 16);

/// Adds the data matrices whose inverse or log determinant stands in the coefficient.
void data_matrices(const Algebra& a, CoefId c, std::set<density::DataSource>& out) {
  if (const auto* inverse = std::get_if<density::CoefInverse>(&a[c])) out.insert(inverse->matrix);
  if (const auto* determinant = std::get_if<density::CoefLogDet>(&a[c])) out.insert(determinant->matrix);
  for (const CoefId part : density::parts_of(a[c]))
    data_matrices(a, part, out);
}

}  // namespace

Lowering::Lowering(Shared& x)
    : Part(x),
      terms_(x, {[this](const Atom& a, const Env& env) { return updates_.expectation(a, env); },
                 [this](const std::vector<const Atom*>& atoms, const Env& env) {
                   return chains_.expectation(atoms, env);
                 }}),
      formulas_(x),
      lookups_(x, terms_),
      residuals_(x, terms_, lookups_),
      draws_(x, terms_),
      clamps_(x, terms_),
      updates_(x, terms_, formulas_, lookups_, draws_, clamps_),
      chains_(x, terms_, formulas_, updates_, draws_, clamps_),
      integrals_(x, terms_, formulas_, lookups_, updates_),
      blocks_(x, terms_, residuals_, updates_, chains_, integrals_),
      energies_(x, terms_, residuals_),
      fused_(x, terms_, updates_, energies_, draws_, clamps_),
      stages_(x, terms_, residuals_, updates_, chains_, integrals_, blocks_, energies_, fused_),
      envelope_(x, terms_, residuals_, updates_, blocks_) {}

void Lowering::emit_prepare() {
  std::set<density::DataSource> matrices;
  for (const Term& t : s_.conditionals.density.terms)
    data_matrices(a_, t.coef, matrices);
  for (const density::DataSource& source : matrices) {
    const auto declare = [&](const std::string& name, const model::MatrixAxes& axes) {
      layout_.data_inverse[name] = {b_.buffer("inverse." + name, Role::table, packed(axes.all)),
                                    b_.buffer("logdet." + name, Role::table, packed(axes.lead))};
    };
    std::visit([&](auto id) { declare(m_[id].name, model::matrix_axes(m_[id])); }, source);
    if (const auto* given = std::get_if<model::GivenId>(&source)) layout_.positive_definite.push_back(*given);
  }
  interface_.prepare = b_.function("prepare", [&] {
    lookups_.prepare_inverse_lookups();
    for (const density::DataSource& source : matrices) {
      std::visit(
          [&](auto id) {
            const auto& x = m_[id];
            BufferId data;
            std::int32_t code = kFailData;
            if constexpr (std::is_same_v<decltype(id), model::GivenId>) {
              data = layout_.data.givens[id.index()];
              code += id.value;
            } else {
              data = layout_.data.observed[id.index()];
              code += static_cast<std::int32_t>(m_.givens.size()) + id.value;
            }
            const model::MatrixAxes axes = model::matrix_axes(x);
            const SizeId extent = layout_.size[m_[axes.side].set.index()];
            terms_.for_elements(axes.lead, [&](std::vector<ExprId> lead) {
              const std::vector<ExprId> at = terms_.address(axes.lead, lead);
              const auto entry = [&](const std::vector<ExprId>& jl) {
                std::vector<ExprId> all = at;
                all.insert(all.end(), jl.begin(), jl.end());
                return all;
              };
              const SpdInverse spd = formulas_.spd_inverse(
                  x.name, [&](const std::vector<ExprId>& jl) { return b_.load(data, entry(jl)); }, extent, code);
              b_.store(layout_.data_inverse.at(x.name).second, at, spd.logdet);
              b_.for_range("j", b_.i(0), b_.extent(extent), [&](ExprId j) {
                b_.for_range("l", b_.i(0), b_.extent(extent), [&](ExprId l) {
                  b_.store(layout_.data_inverse.at(x.name).first, entry({j, l}), b_.load(spd.inverse, {j, l}));
                });
              });
            });
          },
          source);
    }
    sum_data();
    invalidate_cached();
  });
}

void Lowering::sum_data() {
  const auto add = [&](const Statistic& s, ExprId value, const Env& env) {
    b_.add_to(layout_.array.at(s.sums), terms_.array_indices(s.sums, s.at, env), value);
  };
  std::map<std::vector<model::PlateId>, std::vector<const Statistic*>> alike;  // sums by the plates of their loops
  for (const Statistic& s : s_.statistics) {
    // Only rectangular loops without guards can be shared.
    const auto whole = [&](IndexVarId b) { return !a_[b].parent && !m_[m_[a_[b].plate].set].parent; };
    if (!s.of_data() || !s.inner.guards.empty() || !std::ranges::all_of(s.inner.index_vars, whole)) continue;
    std::vector<model::PlateId> plates;
    for (IndexVarId b : s.inner.index_vars)
      plates.push_back(m_[a_[b].plate].set);
    alike[plates].push_back(&s);
  }
  // A regression has a sum for each pair of regressors. Thousands of loop nests would take long to compile and would
  // read the data as often, so such sums share their loops.
  std::set<const Statistic*> done;
  for (const auto& [plates, sums] : alike) {
    if (sums.size() <= options_.thresholds[kMostSeparateSums]) continue;
    for (const Statistic* s : sums)
      b_.fill(layout_.array.at(s->sums), b_.f(0));
    for (std::size_t first = 0; first < sums.size(); first += options_.thresholds[kSumsTogether]) {
      terms_.for_elements(plates, [&](const std::vector<ExprId>& at) {
        for (std::size_t k = first; k < std::min(first + options_.thresholds[kSumsTogether], sums.size()); ++k) {
          Env env;
          for (std::size_t x = 0; x < at.size(); ++x)
            env[sums[k]->inner.index_vars[x]] = at[x];
          ExprId value = b_.f(1);
          for (const Factor& f : terms_.factors({&sums[k]->inner}, {}))
            value = b_.mul(value, f.value(env));
          add(*sums[k], value, env);
        }
      });
    }
    done.insert(sums.begin(), sums.end());
  }
  for (const Statistic& s : s_.statistics) {
    if (!s.of_data() || done.contains(&s)) continue;
    b_.fill(layout_.array.at(s.sums), b_.f(0));
    terms_.emit(s.inner, terms_.factors({&s.inner}, {}), {}, {}, std::nullopt,
                [&](ExprId value, const Env& env) { add(s, value, env); });
  }
}

/// A prior in whose density a local bound stands is formed before the bound's tangent point, which follows it. So the
/// point must not be left over from another start.
void Lowering::reset_tangents() {
  for (const auto& [key, buffer] : layout_.expectation) {
    const model::Variable& v = m_[s_.conditionals[key.first].variable];
    const auto of_items = [&](model::PlateId p) { return model::is_item_plate(m_, p); };
    if (model::is_tangent_point(v) && std::ranges::none_of(v.axes, of_items)) b_.fill(buffer, b_.f(0));
  }
}

std::size_t Lowering::emit_initialise(const std::string& name, bool globals) {
  return b_.function(name, [&] {
    if (globals) reset_tangents();
    for (BlockId b : blocks_.parents_first()) {
      if (!stored(b) || (!globals && !s_.local[b.index()])) continue;
      chains_.local_chain(b);
      blocks_.initialise_from_prior(b, {});
    }
    invalidate_cached();
  });
}

std::size_t Lowering::emit_expectations(const std::string& name, bool local) {
  return b_.function(name, [&] {
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      if (stored(BlockId(k)) && (local || !s_.stage_of[k])) blocks_.recompute_expectations(BlockId(k), {});
    }
    invalidate_cached();
  });
}

std::size_t Lowering::emit_update(BlockId b) {
  const Uses uses = blocks_.outer_uses(b);
  const std::size_t out = b_.function("update_" + m_[s_.conditionals[b].variable].name, [&] {
    invalidate_cached(b);
    blocks_.update(b, uses, {}, {});
  });
  for (const auto& [term, atom] : uses)
    require_cached(out, term);
  return out;
}

bool Lowering::is_local(std::size_t origin) const {
  const auto& statement = s_.conditionals.density.origins[origin].statement;
  const BlockId b = statement ? s_.conditionals.block_of[m_[*statement].variable.index()] : BlockId();
  return b.valid() && s_.local[b.index()];
}

void Lowering::emit_elbo() {
  std::vector<ArrayTerm> terms;
  for (const schedule::OuterTerm& t : s_.outer)
    terms.push_back(residuals_.outer_term(t));
  interface_.elbo = b_.function("elbo", [&] {
    const ScalarId prior = b_.local("prior", b_.f(0)), data = b_.local("data", b_.f(0));
    const ScalarId local = b_.local("local", b_.f(0)), global = b_.local("global", b_.f(0));
    const ScalarId discrete = b_.local("discrete", b_.f(0)), own = b_.local("local_prior", b_.f(0));
    for (const auto& [step, sums] : layout_.local_sums) {
      b_.accumulate(own, b_.load(sums.prior, {b_.i(0)}));
      b_.accumulate(data, b_.load(sums.energy, {b_.i(0)}));
      b_.accumulate(prior, b_.load(sums.prior, {b_.i(0)}));
      b_.accumulate(local, b_.load(sums.entropy, {b_.i(0)}));
      b_.accumulate(discrete, b_.load(sums.discrete, {b_.i(0)}));
    }
    for (const ArrayTerm& term : terms) {
      if (terms_.is_zero(*term.term)) continue;
      const std::size_t origin = term.term->origin;
      const bool tempered = s_.tempered[origin], local_prior = !tempered && is_local(origin);
      const auto add = [&](ExprId value, const Env&) {
        b_.accumulate(tempered ? data : prior, value);
        if (local_prior) b_.accumulate(own, value);
      };
      terms_.emit(*term.term, terms_.factors(term, {}), {}, {}, std::nullopt, add, std::set<IndexVarId>());
    }
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k) {
      const BlockId b(k);
      // Item stages have added up the entropies of their blocks (layout_.local_sums).
      if (s_.stage_of[k] || !s_.conditionals[b].has_entropy()) continue;
      const bool finite = is_discrete(m_[s_.conditionals[b].variable].support);
      const ScalarId into = !s_.local[k] ? global : finite ? discrete : local;
      blocks_.add_entropy(b, {}, into);
    }
    // Methods compute their objectives from the parts, under temperatures, so each is written as well.
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
  for (const ArrayTerm& term : terms)
    require_cached(interface_.elbo, term);
}

void Lowering::emit_states() {
  interface_.states = b_.function("states", [&] {
    const ScalarId states = b_.local("states", b_.f(0));
    for (const conditionals::Block& block : s_.conditionals.blocks) {
      const model::Variable& v = m_[block.variable];
      if (!model::is_source(v)) continue;
      const ExprId values = b_.log(b_.to_f64(b_.extent(layout_.size[m_[event_axes(v, 1)[0]].set.index()])));
      terms_.for_elements(v.axes, [&](const std::vector<ExprId>& element) {
        b_.accumulate(states, b_.mul(updates_.owned_multiplicity(v, element), values));
      });
    }
    b_.store(interface_.elbo_value, {b_.i(0)}, b_.get(states));
  });
  b_.mark_cold(*interface_.states);
}

/// The functions of a stage exchange tables and stored results, so all of them have 32 bits or none.
void Lowering::allow_f32(const StageFunctions& stage) {
  const std::optional<std::size_t> all[] = {stage.update, stage.seed, stage.sum, stage.refresh};
  if (std::ranges::any_of(all, [&](const auto& f) { return f && b_.requires_f64(*f); })) return;
  for (const auto& f : all)
    if (f) b_.allow_f32(*f);
}

Lowered Lowering::run() {
  declare_sizes();
  declare_data();
  declare_blocks();
  declare_arrays();
  energies_.declare_item_energies();
  declare_gradients();
  lookups_.declare_inverse_lookups();
  emit_prepare();
  emit_cached();
  interface_.initialise = emit_initialise("initialise", true);
  if (options_.new_items && !only_stage(s_)) interface_.initialise_local = emit_initialise("initialise_local", false);
  interface_.expectations = emit_expectations("expectations", true);
  interface_.global_expectations = emit_expectations("global_expectations", false);
  for (std::size_t k = 0; k < s_.steps.size(); ++k) {
    if (std::holds_alternative<ItemStage>(s_.steps[k])) {
      interface_.steps.emplace_back(stages_.emit_stage(k));
      continue;
    }
    const BlockId b = std::get<BlockUpdate>(s_.steps[k]).block;
    UpdateFunction f{b, 0, {}};
    f.gradient = layout_.gradient_norms.contains(b) ? layout_.gradient_norms.at(b) : BufferId();
    f.function = emit_update(b);
    interface_.steps.emplace_back(f);
  }
  interface_.sweep = s_.sweep;
  emit_elbo();
  energies_.emit_item_energies();
  if (options_.envelope) envelope_.emit();
  if (options_.states) emit_states();
  for (const schedule::Invariance& x : s_.invariances)
    interface_.invariances.push_back(emit_invariance(x));
  for (const schedule::Shift& x : s_.shifts)
    interface_.shifts.push_back(emit_shift(x));
  layout_.longest.resize(m_.plates.size());
  for (std::size_t f :
       {interface_.prepare, interface_.initialise, interface_.expectations, interface_.global_expectations})
    b_.mark_cold(f);
  if (interface_.initialise_local) b_.mark_seldom(*interface_.initialise_local);
  for (const schedule::Statistic& x : s_.statistics)
    interface_.sums.push_back(layout_.array.at(x.sums));
  for (const auto& step : interface_.steps) {
    const auto* stage = std::get_if<StageFunctions>(&step);
    if (stage && options_.single) allow_f32(*stage);
    if (stage && stage->seed) b_.mark_cold(*stage->seed);
    if (stage && stage->sum) b_.mark_seldom(*stage->sum);
    if (stage && stage->initialise) b_.mark_cold(*stage->initialise);
    if (stage && stage->expectations) b_.mark_seldom(*stage->expectations);
  }
  return {b_.take(),
          std::move(interface_),
          std::move(layout_.data),
          std::move(layout_.positive_definite),
          std::move(layout_.size),
          std::move(layout_.longest),
          std::move(layout_.size_values)};
}

}  // namespace lehr::loops

namespace lehr {

loops::Lowered lower(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                     const loops::LowerOptions& options) {
  loops::Shared shared{model, schedule, data, options};
  loops::Lowered out = loops::Lowering(shared).run();
  out.program.thresholds = options.thresholds;
  return out;
}

}  // namespace lehr
