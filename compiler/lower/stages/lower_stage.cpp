// Item stages (stages.h): tables before, local blocks item by item, statistics added up at the end of each item.
//
// An item is iterated until its stored parameters change by less than a tolerance, then visited once more. The last
// pass differs: it adds fused categories to statistics, energies and entropies, so it stands in the code a second
// time. Its shape is
//
//     for pass: if last { pass with sums; break } else { pass; settled = moved <= tolerance * size }
#include "compiler/lower/stages/stages.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "compiler/model/roles.h"

namespace lehr::loops {

using schedule::ItemStage;
using schedule::Storage;

std::size_t Stages::emit_tables(std::size_t step) {
  return b_.function("tables" + std::to_string(step), [&] {
    for (std::size_t k = 0; k < s_.statistics.size(); ++k) {
      if (s_.statistics[k].stage != step) continue;
      b_.fill(layout_.array.at(s_.statistics[k].table), b_.f(0));
    }
    for (const schedule::OuterTerm& t : s_.outer) {
      // A table is the sum of the outer parts of all terms with this statistic.
      if (!t.statistic || s_.statistics[*t.statistic].stage != step) continue;
      const ArrayId table = s_.statistics[*t.statistic].table;
      std::optional<IndexVarId> innermost;
      if (!t.at.empty()) {
        if (const auto* b = std::get_if<density::IndexVarRef>(&a_[t.at[s_.statistics[*t.statistic].contiguous]])) {
          innermost = b->bound;
        }
      }
      terms_.emit(t.term, terms_.factors({&t.term, std::nullopt, nullptr, {Weight::local_data}}, {}), {}, {}, innermost,
                  [&](ExprId value, const Env& env) {
                    b_.add_to(layout_.array.at(table), terms_.array_indices(table, t.at, env), value);
                  });
    }
    for (const auto& [table, buffer] : layout_.exp_table) {
      if (layout_.statistic.at(table)->stage == step) fused_.exp_table(table);
    }
  });
}

std::size_t Stages::emit_items(std::size_t step, StageMode mode) {
  const auto& stage = std::get<ItemStage>(s_.steps[step]);
  const std::string name = std::string(mode == StageMode::update    ? "items"
                                       : mode == StageMode::seed    ? "seed"
                                       : mode == StageMode::refresh ? "refresh"
                                                                    : "sum");
  std::vector<Builder::Parameter> parameters{{"begin", Type::i64}, {"end", Type::i64}};
  if (mode == StageMode::update) {
    parameters.push_back({"iterations", Type::i64});
    parameters.push_back({"tolerance", Type::f64});
  }
  return b_.function(name + std::to_string(step), parameters, [&](const Builder::Indices& p) {
    const ItemArrays arrays = declare_item_arrays(stage, layout_.local_sums.at(step));
    const auto of_item = [&](ExprId item) {
      if (mode == StageMode::update) {
        emit_item(stage, item, mode, {p[2], p[3]}, arrays);
      } else if (mode == StageMode::refresh) {
        start_chains(stage, item, mode);
        emit_item(stage, item, mode, {b_.i(1), b_.f(0)}, arrays);
      } else if (mode == StageMode::sum) {
        start_chains(stage, item, mode);
        // The pass `contract-arrays` may contract the expected statistics of the only block of a stage. They are then
        // formed where they are read, so a sum without updates forms them here.
        if (stage.blocks.size() == 1 && !layout_.chains.contains(stage.blocks[0]))
          blocks_.recompute_expectations(stage.blocks[0], {item});
        emit_item_sums(stage, item, mode, arrays);
      } else {
        ExprId in = b_.boolean(true);
        for (BlockId id : stage.blocks) {
          // An item is left out if one of its categories has no pick.
          if (layout_.picks.contains(id) && (!options_.item_starts || !stored(id)))
            in = b_.logical_and(in, b_.greater_equal(b_.load(layout_.picks.at(id), {item}), b_.i(0)));
        }
        b_.if_then(in, [&] { emit_item(stage, item, mode, {b_.i(1), b_.f(0)}, arrays); });
      }
    };
    if (auto stream = dense_category(stage, mode)) {
      fused_.stream_arrays(*stream);
      const bool updates = mode == StageMode::update;
      return emit_full({stage, *stream, arrays, p[0], p[1]}, mode,
                       updates ? IterationLimits{p[2], p[3]} : IterationLimits{});
    }
    b_.for_loop(b_.fresh(m_[stage.item].name), p[0], p[1], of_item, mode == StageMode::update);
  });
}

std::optional<std::size_t> Stages::emit_finalise(const ItemStage& stage, std::size_t step) {
  std::vector<ArrayId> tables;
  for (BlockId b : stage.blocks) {
    const std::vector<ArrayId> read = stored(b) ? chains_.row_tables(stage, b) : fused_.summed_tables(stage, b);
    // Sums that several terms share are not those of one category, so its mean was subtracted with the items.
    std::ranges::copy_if(read, std::back_inserter(tables), [&](ArrayId t) { return adds_up_alone(stage, t); });
  }
  if (tables.empty()) return std::nullopt;
  return b_.function("close" + std::to_string(step), [&] {
    const ScalarId mean = b_.local(b_.fresh("mean"), b_.f(0));
    for (const ArrayId table : tables) {
      const schedule::Statistic& s = *layout_.statistic.at(table);
      const BufferId sums = layout_.array.at(s.sums), logs = layout_.array.at(table);
      fused_.each_row(s, [&](std::vector<ExprId> at) {
        b_.for_range("k", b_.i(0), b_.extent(layout_.size[s.axes[s.contiguous].index()]), [&](ExprId k) {
          at.push_back(k);
          b_.accumulate(mean, b_.mul(b_.load(sums, at), b_.load(logs, at)));
        });
      });
    }
    b_.add_to(layout_.local_sums.at(step).discrete, {b_.i(0)}, b_.neg(b_.mul(weight(Weight::local), b_.get(mean))));
  });
}

std::size_t Stages::emit_fresh(const ItemStage& stage, std::size_t step) {
  return b_.function("fresh" + std::to_string(step), {{"begin", Type::i64}, {"end", Type::i64}},
                     [&](const Builder::Indices& p) {
                       std::vector<BlockId> blocks;
                       for (BlockId b : blocks_.parents_first()) {
                         if (stored(b) && s_.stage_of[b.index()] == step) blocks.push_back(b);
                       }
                       for (BlockId b : blocks)
                         chains_.local_chain(b);
                       b_.for_range(m_[stage.item].name, p[0], p[1], [&](ExprId item) {
                         for (BlockId b : blocks)
                           blocks_.initialise_from_prior(b, {item});
                       });
                     });
}

void Stages::emit_data_sums(const ItemStage& stage, std::size_t step, StageFunctions& out) {
  std::vector<std::pair<const schedule::Statistic*, IndexVarId>> sums;  // with the index variable of the item
  for (const schedule::Statistic& s : s_.statistics) {
    if (!s.of_data()) continue;
    std::vector<IndexVarId> items;
    for (IndexVarId b : s.inner.index_vars) {
      if (m_[a_[b].plate].set == m_[stage.item].set) items.push_back(b);
    }
    // A sum over pairs of items is not the sum of what each item adds.
    if (items.size() == 1) sums.emplace_back(&s, items[0]);
  }
  if (sums.empty()) return;
  for (const auto& [s, item] : sums)
    out.data_sums.push_back(layout_.array.at(s->sums));
  out.data = b_.function(
      "data" + std::to_string(step), {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
        for (const auto& [s, bound] : sums) {
          b_.for_range(m_[stage.item].name, p[0], p[1], [&, s = s, bound = bound](ExprId item) {
            terms_.emit(s->inner, terms_.factors({&s->inner}, {}), {}, {{bound, item}}, std::nullopt,
                        [&](ExprId value, const Env& env) {
                          b_.add_to(layout_.array.at(s->sums), terms_.array_indices(s->sums, s->at, env), value);
                        });
          });
        }
      });
}

std::size_t Stages::emit_item_expectations(const ItemStage& stage, std::size_t step) {
  return b_.function("expectations" + std::to_string(step), {{"begin", Type::i64}, {"end", Type::i64}},
                     [&](const Builder::Indices& p) {
                       b_.for_range(m_[stage.item].name, p[0], p[1], [&](ExprId item) {
                         for (BlockId b : stage.blocks) {
                           if (stored(b)) blocks_.recompute_expectations(b, {item});
                         }
                       });
                     });
}

void Stages::start_chains(const ItemStage& stage, ExprId item, StageMode mode) {
  for (BlockId b : stage.blocks) {
    // Stored pairs belong to the factor as it is, unless its elements were just seeded.
    if (!layout_.chains.contains(b) || (mode != StageMode::seed && !layout_.chains.at(b).local)) continue;
    chains_.for_sequences(m_[s_.conditionals[b].variable], {item},
                          [&](const std::vector<ExprId>& q) { chains_.independent_pairs(b, q); });
  }
}

ItemArrays Stages::declare_item_arrays(const ItemStage& stage, const LocalSums& sums) {
  ItemArrays out{sums, {}, {}};
  for (BlockId b : stage.blocks) {
    if (stored(b)) {
      chains_.local_chain(b);
      const model::Variable& var = m_[s_.conditionals[b].variable];
      for (const math::FactorParameter& p : s_.conditionals[b].factor->parameters) {
        if (p.exported)
          out.previous[{b, p.name}] = work_array("previous." + p.name, packed(event_axes(var, p.event_rank)));
      }
      continue;
    }
    for (const FusedUse& u : fused_.plan_fused(stage, b).uses) {
      if (!u.partner) continue;
      const Atom& p = u.term->term.atoms[*u.partner];
      const model::Variable& var = m_[p.variable];
      // All axes but that of the item: the array is reused for every item.
      std::vector<model::PlateId> plates(var.axes.begin() + 1, var.axes.end());
      const auto event = event_axes(var, static_cast<int>(p.event.size()));
      plates.insert(plates.end(), event.begin(), event.end());
      const BlockId other = s_.conditionals.block_of[p.variable.index()];
      const std::tuple key(other, p.stat, s_.tempered[u.term->term.origin]);
      if (!out.partner_naturals.contains(key))
        out.partner_naturals[key] = work_array("into." + var.name, packed(plates));
    }
  }
  return out;
}

Uses Stages::stored_uses(const ItemStage& stage, BlockId b) {
  Uses out;
  for (const ItemStage::LocalTerm& t : stage.terms) {
    if (has_fused_atom(t.term) || integrals_.has(b, t.term)) continue;
    std::vector<ArrayTerm> terms{{&t.term}};
    if (t.statistic) terms = {{&t.term, s_.statistics[*t.statistic].table, &t.at}};
    if (t.outer) terms = residuals_.outer_terms(s_.outer[*t.outer], b);
    for (ArrayTerm& term : terms) {
      term.weights = updates_.natural_weights(b, t.statistic.has_value());
      for (std::size_t k = 0; k < term.term->atoms.size(); ++k) {
        if (term.term->atoms[k].variable == s_.conditionals[b].variable) out.emplace_back(term, k);
      }
    }
  }
  return out;
}

UpdateHooks Stages::with_streams(const ItemArrays& arrays, BlockId b) {
  UpdateHooks hooks;
  if (std::ranges::none_of(arrays.partner_naturals,
                           [&](const auto& into) { return std::get<BlockId>(into.first) == b; }))
    return hooks;
  hooks.gathered = [this, &arrays, b](const std::vector<ExprId>& element, const NaturalTarget& n) {
    const model::Variable& var = m_[s_.conditionals[b].variable];
    for (const auto& [stat, buffer] : n.buffers) {
      for (const bool tempered : {false, true}) {
        const auto into = arrays.partner_naturals.find({b, stat, tempered});
        if (into == arrays.partner_naturals.end()) continue;
        terms_.each_event(var, math::event_rank(stat), [&, buffer = buffer](const std::vector<ExprId>& event) {
          b_.add_to(buffer, updates_.natural_address(b, element, n, event),
                    b_.load(into->second, fused_.partner_address(var, element, event)));
        });
      }
    }
  };
  return hooks;
}

void Stages::each_parameter(BlockId b, const std::vector<ExprId>& element, const ParameterBody& body) {
  for (const math::FactorParameter& p : s_.conditionals[b].factor->parameters) {
    if (!p.exported) continue;
    const BufferId buffer = layout_.parameter.at({b, p.name});
    terms_.each_event(m_[s_.conditionals[b].variable], p.event_rank, [&](const std::vector<ExprId>& event) {
      body(p, event, b_.load(buffer, updates_.parameter_address(b, element, event)));
    });
  }
}

ExprId Stages::unit_of(const math::Factor& factor, const math::FactorParameter& p, const std::vector<ExprId>& event,
                       const Previous& previous) {
  using Role = math::ParameterRole;
  const auto at = [&](const math::FactorParameter& of, std::size_t i) {
    return b_.load(previous(of), of.event_rank == 2 ? std::vector{event[i], event[i]} : event);
  };
  if (p.event_rank == 2) return b_.div(b_.f(1), b_.sqrt(b_.mul(at(p, 0), at(p, 1))));
  if (p.role == Role::precision || p.role == Role::spread) return b_.div(b_.f(1), b_.load(previous(p), event));
  const math::FactorParameter* precision = math::find_role(factor, Role::precision);
  const math::FactorParameter* spread = math::find_role(factor, Role::spread);
  // Limits beside a precision are places, too.
  if (p.role != Role::location && !(p.role == Role::other && precision)) return {};
  if (spread) return b_.div(b_.f(1), b_.sqrt(b_.load(previous(*spread), {})));
  const auto matrix = std::ranges::find_if(
      factor.parameters, [](const math::FactorParameter& q) { return q.exported && q.event_rank == 2; });
  if (!precision && matrix != factor.parameters.end()) precision = &*matrix;
  return precision ? b_.sqrt(at(*precision, 0)) : ExprId();
}

UpdateHooks Stages::measuring(UpdateHooks hooks, const ItemArrays& arrays, BlockId b, const Change& change) {
  const math::Factor& factor = *s_.conditionals[b].factor;
  const Previous previous = [&arrays, b](const math::FactorParameter& p) { return arrays.previous.at({b, p.name}); };
  // Numbers that stand for infinity, precisions of known values and absent limits, have no size.
  const bool limited =
      std::ranges::find(factor.statistics, math::Stat::above, &math::StatisticRow::stat) != factor.statistics.end();
  const double infinity = limited                                   ? 1e-100 * kPointPrecision
                          : m_[s_.conditionals[b].variable].clamped ? kPointPrecision
                                                                    : 0;
  hooks.before = [=, this](const std::vector<ExprId>& element) {
    each_parameter(b, element, [&](const math::FactorParameter& p, const std::vector<ExprId>& event, ExprId now) {
      b_.store(previous(p), event, now);
    });
  };
  hooks.after = [=, this, &factor](const std::vector<ExprId>& element) {
    each_parameter(b, element, [&](const math::FactorParameter& p, const std::vector<ExprId>& event, ExprId now) {
      const ExprId was = b_.load(previous(p), event), unit = unit_of(factor, p, event, previous);
      const auto in_units = [&](ExprId x) { return unit.valid() ? b_.mul(x, unit) : x; };
      const ExprId size = in_units(b_.abs(was));
      b_.accumulate(change.moved, in_units(b_.abs(b_.sub(now, was))));
      if (infinity == 0) return b_.accumulate(change.size, size);
      ExprId finite = b_.less(b_.abs(was), b_.f(infinity));
      if (unit.valid()) finite = b_.logical_and(finite, b_.less(unit, b_.f(0.5 * std::sqrt(kPointPrecision))));
      b_.accumulate(change.size, b_.select(finite, size, b_.f(0)));
    });
  };
  return hooks;
}

void Stages::emit_pass(const ItemWork& w, bool final, const std::optional<Change>& change) {
  // Streams come before the blocks for which they add up natural parameters, so these are cleared once a pass.
  for (const auto& [into, buffer] : w.arrays.partner_naturals)
    if (!w.gathered) b_.fill(buffer, b_.f(0));
  std::size_t stream = 0;
  for (BlockId b : w.stage.blocks) {
    if (s_.storage[b.index()] == Storage::fused) {
      if (!w.gathered) fused_.stream_elements(w.streams[stream++], w.item, {w.arrays, final && !w.refreshed, w.mode});
      continue;
    }
    if (w.mode == StageMode::seed && options_.item_starts) {
      if (!is_discrete(m_[s_.conditionals[b].variable].support))
        blocks_.update(b, stored_uses(w.stage, b), {w.item}, with_streams(w.arrays, b));
      continue;
    }
    if (w.mode == StageMode::seed) {
      // A block whose prior the picked category chooses is formed from the data of its item. At its prior it would be
      // the same in all items, and would tell nothing of the component.
      if (layout_.picks.contains(b)) {
        seed_stored(b, w.item);
      } else if (const auto category = seeded_by(b)) {
        b_.if_then(b_.less_equal(b_.i(0), b_.load(layout_.picks.at(*category), {w.item})),
                   [&] { blocks_.update(b, stored_uses(w.stage, b), {w.item}, with_streams(w.arrays, b)); });
      }
      continue;
    }
    // The change is measured by the parameters before and after the update.
    UpdateHooks hooks = with_streams(w.arrays, b);
    const auto direct = std::ranges::find_if(
        w.streams, [&](const FusedCategory& s) { return s.direct.valid() && fused_.vector_block(s) == b; });
    // The next pass may need no expected statistics of this block (lower_fused_vector.cpp); the final one does.
    if (direct != w.streams.end() && !final) {
      hooks.forms_expectations = [&, direct](const std::vector<ExprId>& element) {
        fused_.decide(*direct, element[0]);
        return b_.equal(b_.get(direct->direct), b_.i(0));
      };
    }
    // With one pass the probabilities are final, so the chain may add them to statistics right away.
    hooks.add_rows = w.mode == StageMode::update && !w.stage.iterate;
    if (change) hooks = measuring(std::move(hooks), w.arrays, b, *change);
    blocks_.update(b, stored_uses(w.stage, b), {w.item}, hooks);
  }
}

void Stages::emit_refresh(const ItemWork& w) {
  for (const auto& [into, buffer] : w.arrays.partner_naturals)
    b_.fill(buffer, b_.f(0));
  std::size_t stream = 0;
  for (BlockId b : w.stage.blocks) {
    if (s_.storage[b.index()] == Storage::fused) {
      fused_.stream_elements(w.streams[stream++], w.item, {w.arrays, true, w.mode});
    } else if (model::is_source(m_[s_.conditionals[b].variable])) {
      blocks_.update(b, stored_uses(w.stage, b), {w.item}, with_streams(w.arrays, b));
    }
  }
}

void Stages::emit_item(const ItemStage& stage, ExprId item, StageMode mode, const IterationLimits& passes,
                       const ItemArrays& arrays) {
  // A sampler draws each element once a sweep, so nothing is formed again at the end.
  ItemWork w{stage, item, mode, arrays, {}, stage.refresh && !interface_.random_key.valid()};
  // Streams add up the terms of their categories during the visits; other local terms are added up after them.
  for (BlockId b : stage.blocks) {
    if (stored(b)) continue;
    w.streams.push_back(fused_.plan_fused(stage, b));
    fused_.stream_arrays(w.streams.back());
    fused_.open_item(w.streams.back(), item);
  }
  if (mode == StageMode::refresh) {
    emit_refresh(w);
    emit_item_sums(stage, item, mode, arrays);
    return;
  }
  if (!stage.iterate || mode == StageMode::seed) {
    emit_pass(w, true, std::nullopt);
    if (mode == StageMode::seed && !options_.item_starts) start_chains(stage, item, mode);
  } else {
    fused_.find_direct(w.streams, item);
    const ScalarId converged = b_.local(b_.fresh("settled"), b_.i(0));
    b_.for_loop(b_.fresh("pass"), b_.i(0), passes.iterations, [&](ExprId i) {
      const ExprId last =
          b_.let(b_.fresh("last"), b_.select(b_.logical_or(b_.equal(b_.get(converged), b_.i(1)),
                                                           b_.equal(i, b_.sub(passes.iterations, b_.i(1)))),
                                             b_.i(1), b_.i(0)));
      // The exponentials of the first block's vectors are the same code in both kinds of pass, so they stand before the
      // branch.
      if (!stored(stage.blocks[0])) w.streams[0].shift = fused_.stream_item_setup(w.streams[0], item);
      const ScalarId moved = b_.local(b_.fresh("moved"), b_.f(0));
      const ScalarId size = b_.local(b_.fresh("size"), b_.f(0));
      b_.if_else(
          b_.equal(last, b_.i(1)), [&] { emit_pass(w, true, std::nullopt); },
          [&] {
            emit_pass(w, false, Change{moved, size});
          });
      b_.break_if(b_.equal(last, b_.i(1)));
      b_.assign(converged,
                b_.select(b_.less_equal(b_.get(moved), b_.mul(passes.tolerance, b_.get(size))), b_.i(1), b_.i(0)));
    });
    if (!w.streams.empty()) w.streams[0].shift = {};
  }
  // What the streams have added up so far was for the updates; the refresh adds up anew for the energy.
  const ItemArrays in_the_end = w.refreshed ? again(arrays) : arrays;
  if (w.refreshed) emit_refresh({stage, item, mode, in_the_end, w.streams, true});
  const std::map<BlockId, BufferId> marginals = chains_.take_marginals();
  // The sums that follow read the probabilities of chains from the work arrays that are still in the cache.
  if (mode == StageMode::update && !stage.iterate) layout_.marginal = marginals;
  emit_item_sums(stage, item, mode, in_the_end);
  layout_.marginal.clear();
}

ItemArrays Stages::again(const ItemArrays& arrays) {
  ItemArrays out = arrays;
  for (auto& [use, into] : out.partner_naturals)
    into = work_array("again." + b_.program()[into].name, std::vector<SizeId>(b_.program()[into].axes));
  return out;
}

void Stages::seed_stored(BlockId b, ExprId item) {
  // The item's pick is the value of all its elements.
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const model::PlateId values = m_[*var.value_plate].set;
  const ExprId count = b_.extent(layout_.size[values.index()]);
  terms_.for_elements(var.axes,
                      [&](const std::vector<ExprId>& element) {
                        b_.for_range("k", b_.i(0), count, [&](ExprId k) {
                          b_.store(parameter_of(b, math::ParameterRole::probabilities),
                                   updates_.parameter_address(b, element, {k}),
                                   b_.select(b_.equal(k, b_.load(layout_.picks.at(b), {item})), b_.f(1), b_.f(0)));
                        });
                      },
                      {item});
}

std::optional<BlockId> Stages::seeded_by(BlockId b) const {
  const auto& density = s_.conditionals.density;
  const model::Variable& v = m_[s_.conditionals[b].variable];
  if (v.auxiliary || layout_.chains.contains(b)) return std::nullopt;
  std::optional<BlockId> category;
  for (const conditionals::Use& u : s_.conditionals[b].uses) {
    const Term& t = density.terms[u.term];
    const bool own = density.origins[t.origin].statement == v.statement;
    for (const Atom& x : t.atoms) {
      const BlockId other = s_.conditionals.block_of[x.variable.index()];
      const bool beside = s_.stage_of[other.index()] == s_.stage_of[b.index()];
      if (own && beside && layout_.picks.contains(other)) category = other;
      else if (!own && other != b) return std::nullopt;
    }
  }
  return category;
}

bool Stages::added_already(const ItemStage& stage, const ItemStage::LocalTerm& t) const {
  return std::ranges::any_of(t.term.atoms, [&](const Atom& x) {
    const BlockId b = s_.conditionals.block_of[x.variable.index()];
    return layout_.chains.contains(b) && chains_.sums_in_update(stage, b, s_.statistics[*t.statistic].table);
  });
}

void Stages::emit_item_sums(const ItemStage& stage, ExprId item, StageMode mode, const ItemArrays& arrays) {
  const ScalarId energy = b_.local(b_.fresh("energy"), b_.f(0));
  const ScalarId prior = b_.local(b_.fresh("prior"), b_.f(0));
  for (const ItemStage::LocalTerm& t : stage.terms) {
    if (has_fused_atom(t.term) || t.outer || terms_.is_zero(t.term)) continue;
    const Env env = terms_.at_all_steps(t.term, {{t.item, item}});
    if (t.statistic) {
      const schedule::Statistic& s = s_.statistics[*t.statistic];
      if (mode == StageMode::update && added_already(stage, t)) continue;
      std::optional<IndexVarId> innermost;
      if (!s.at.empty()) {
        if (const auto* b = std::get_if<density::IndexVarRef>(&a_[s.at[s.contiguous]])) innermost = b->bound;
      }
      terms_.emit(t.term, terms_.factors({&t.term}, {}), {}, env, innermost, [&](ExprId value, const Env& e) {
        b_.add_to(layout_.array.at(s.sums), terms_.array_indices(s.sums, s.at, e), value);
      });
    } else {
      terms_.emit(t.term, terms_.factors({&t.term}, {}), {}, env, std::nullopt,
                  [&](ExprId value, const Env&) { b_.accumulate(s_.tempered[t.term.origin] ? energy : prior, value); });
    }
  }
  // A seed has statistics, from which the global blocks are formed, and no ELBO.
  if (mode == StageMode::seed) return;
  if (mode == StageMode::update) energies_.add_item_energies(stage, item);
  // A term with a fused category and a stored block: its energy is a natural parameter times the final expected
  // statistic. The stream has added up the natural parameter, of which the weights are taken off.
  for (const auto& [key, buffer] : arrays.partner_naturals) {
    const auto& [b, stat, tempered] = key;
    if (std::find(stage.blocks.begin(), stage.blocks.end(), b) == stage.blocks.end()) continue;
    const model::Variable& var = m_[s_.conditionals[b].variable];
    const ScalarId into = tempered ? energy : prior;
    const ExprId local = weight(Weight::local),
                 unweighted = b_.div(b_.f(1), tempered ? b_.mul(local, weight(Weight::local_data)) : local);
    terms_.for_elements(var.axes,
                        [&, buffer = buffer, b = b, stat = stat](const std::vector<ExprId>& element) {
                          terms_.each_event(var, math::event_rank(stat), [&](const std::vector<ExprId>& event) {
                            const ExprId natural = b_.mul(updates_.owned_multiplicity(var, element),
                                                          b_.load(buffer, fused_.partner_address(var, element, event)));
                            b_.accumulate(into, b_.mul(b_.mul(unweighted, natural),
                                                       b_.load(layout_.expectation.at({b, stat}),
                                                               updates_.parameter_address(b, element, event))));
                          });
                        },
                        {item});
  }
  b_.add_to(arrays.sums.energy, {b_.i(0)}, b_.get(energy));
  b_.add_to(arrays.sums.prior, {b_.i(0)}, b_.get(prior));
  const ScalarId entropies = b_.local(b_.fresh("entropies"), b_.f(0));
  const ScalarId discrete = b_.local(b_.fresh("discrete"), b_.f(0));
  for (BlockId b : stage.blocks) {
    if (s_.storage[b.index()] == Storage::fused || !s_.conditionals[b].has_entropy()) continue;
    const model::Variable& var = m_[s_.conditionals[b].variable];
    const ScalarId into = is_discrete(var.support) ? discrete : entropies;
    blocks_.add_entropy(b, {item}, into);
  }
  b_.add_to(arrays.sums.entropy, {b_.i(0)}, b_.get(entropies));
  b_.add_to(arrays.sums.discrete, {b_.i(0)}, b_.get(discrete));
  if (mode == StageMode::update && energies_.has_item_bounds())
    energies_.add_item_energy(item, b_.add(b_.get(entropies), b_.get(discrete)));
}

StageFunctions Stages::emit_stage(std::size_t step) {
  const auto& stage = std::get<ItemStage>(s_.steps[step]);
  StageFunctions out;
  out.item = stage.item;
  out.tables = emit_tables(step);
  out.update = emit_items(step, StageMode::update);
  bool fused = false;
  for (BlockId b : stage.blocks) {
    fused = fused || s_.storage[b.index()] == Storage::fused;
    if (stored(b) && seeded_by(b)) out.seeded.push_back(b);
    if (!layout_.picks.contains(b)) continue;
    out.picks.push_back(layout_.picks.at(b));
    const model::Variable& var = m_[s_.conditionals[b].variable];
    out.pick_plates.push_back(m_[*var.value_plate].set);
    const bool has_observed = var.clamped && var.axes.size() == 1;
    out.observed_picks.push_back(has_observed ? layout_.data.observed[s_.conditionals[b].variable.index()]
                                              : BufferId());
  }
  if (!out.picks.empty() || options_.item_starts) out.seed = emit_items(step, StageMode::seed);
  if (!fused) out.sum = emit_items(step, StageMode::sum);
  if (stage.refresh) out.refresh = emit_items(step, StageMode::refresh);
  out.finalise = emit_finalise(stage, step);
  const bool any = std::any_of(stage.blocks.begin(), stage.blocks.end(), [&](BlockId b) { return stored(b); });
  if (options_.new_items && any && only_stage(s_)) {
    out.initialise = emit_fresh(stage, step);
    out.expectations = emit_item_expectations(stage, step);
  }
  if (options_.batches) emit_data_sums(stage, step, out);
  for (const schedule::Statistic& s : s_.statistics) {
    if (s.stage == step) out.statistics.push_back(layout_.array.at(s.sums));
  }
  const LocalSums& sums = layout_.local_sums.at(step);
  out.statistics.insert(out.statistics.end(), {sums.energy, sums.prior, sums.entropy, sums.discrete});
  return out;
}

}  // namespace lehr::loops
