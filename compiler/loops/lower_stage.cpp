// Item stages: tables before, local blocks item by item, statistics added up at the end of each item.
#include <algorithm>
#include <tuple>

#include "compiler/loops/lowering.h"
#include "compiler/loops/stream.h"

namespace lehr::loops {

using schedule::ItemStage;
using schedule::Storage;

bool Lowering::has_streamed_atom(const Term& t) const {
  return std::any_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& a) {
    return s_.storage[s_.conditionals.block_of[a.variable.index()].index()] == Storage::streamed;
  });
}

std::size_t Lowering::emit_tables(std::size_t step) {
  return b_.function("tables" + std::to_string(step), [&] {
    for (std::size_t k = 0; k < s_.statistics.size(); ++k) {
      if (s_.statistics[k].stage != step) continue;
      b_.fill(array_.at(s_.statistics[k].table), b_.f(0));
    }
    for (const schedule::OuterTerm& t : s_.outer) {
      if (!t.statistic || s_.statistics[*t.statistic].stage != step) continue;
      const ArrayId table = s_.statistics[*t.statistic].table;
      std::optional<BoundId> innermost;
      if (!t.at.empty()) {
        if (const auto* b = std::get_if<density::IndexBound>(&a_[t.at[s_.statistics[*t.statistic].contiguous]])) {
          innermost = b->bound;
        }
      }
      emit(t.term, factors({&t.term, std::nullopt, nullptr, {Weight::local_data}}, {}), {}, {}, innermost,
           [&](ExprId value, const Env& env) { b_.add_to(array_.at(table), array_indices(table, t.at, env), value); });
    }
    for (const auto& [table, buffer] : exp_table_) {
      if (statistic_.at(table)->stage == step) exp_table(table);
    }
  });
}

std::size_t Lowering::emit_items(std::size_t step, StageMode mode) {
  const auto& stage = std::get<ItemStage>(s_.steps[step]);
  local_ = local_sums_.at(step);
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
    declare_item_arrays(stage);
    for_range(m_[stage.item].name, p[0], p[1], [&](ExprId item) {
      if (mode == StageMode::update) {
        emit_item(stage, item, mode, p[2], p[3]);
      } else if (mode == StageMode::refresh) {
        start_chains(stage, item, mode);
        emit_item(stage, item, mode, b_.i(1), b_.f(0));
      } else if (mode == StageMode::sum) {
        start_chains(stage, item, mode);
        emit_item_sums(stage, item, mode);
      } else {
        ExprId in = b_.boolean(true);
        for (BlockId id : stage.blocks) {
          if (picks_.contains(id)) in = b_.logical_and(in, b_.greater_equal(b_.load(picks_.at(id), {item}), b_.i(0)));
        }
        b_.if_then(in, [&] { emit_item(stage, item, mode, b_.i(1), b_.f(0)); });
      }
    });
  });
}

std::size_t Lowering::emit_fresh(const ItemStage& stage, std::size_t step) {
  return b_.function("fresh" + std::to_string(step), {{"begin", Type::i64}, {"end", Type::i64}},
                     [&](const Builder::Indices& p) {
                       tolerant_ = true;
                       std::vector<BlockId> blocks;
                       for (BlockId b : parents_first()) {
                         if (stored(b) && s_.stage_of[b.index()] == step) blocks.push_back(b);
                       }
                       for (BlockId b : blocks)
                         local_chain(b);
                       for_range(m_[stage.item].name, p[0], p[1], [&](ExprId item) {
                         for (BlockId b : blocks)
                           update(b, prior_uses(b), {item}, {});
                       });
                       tolerant_ = false;
                     });
}

void Lowering::emit_data_sums(const ItemStage& stage, std::size_t step, StageFunctions& out) {
  std::vector<std::pair<const schedule::Statistic*, BoundId>> sums;  // with the bound that is the item
  for (const schedule::Statistic& s : s_.statistics) {
    if (s.stage) continue;
    std::vector<BoundId> items;
    for (BoundId b : s.inner.bounds) {
      if (m_[a_[b].plate].set == m_[stage.item].set) items.push_back(b);
    }
    if (items.size() == 1) sums.emplace_back(&s, items[0]);
  }
  if (sums.empty()) return;
  for (const auto& [s, item] : sums)
    out.data_sums.push_back(array_.at(s->sums));
  out.data = b_.function("data" + std::to_string(step), {{"begin", Type::i64}, {"end", Type::i64}},
                         [&](const Builder::Indices& p) {
                           for (const auto& [s, bound] : sums) {
                             for_range(m_[stage.item].name, p[0], p[1], [&, s = s, bound = bound](ExprId item) {
                               emit(s->inner, factors({&s->inner, std::nullopt, nullptr}, {}), {}, {{bound, item}},
                                    std::nullopt, [&](ExprId value, const Env& env) {
                                      b_.add_to(array_.at(s->sums), array_indices(s->sums, s->at, env), value);
                                    });
                             });
                           }
                         });
}

std::size_t Lowering::emit_item_expectations(const ItemStage& stage, std::size_t step) {
  return b_.function("expectations" + std::to_string(step), {{"begin", Type::i64}, {"end", Type::i64}},
                     [&](const Builder::Indices& p) {
                       for_range(m_[stage.item].name, p[0], p[1], [&](ExprId item) {
                         for (BlockId b : stage.blocks) {
                           if (stored(b)) recompute_expectations(b, {item});
                         }
                       });
                     });
}

void Lowering::start_chains(const ItemStage& stage, ExprId item, StageMode mode) {
  for (BlockId b : stage.blocks) {
    // Stored pairs are those of the factor unless its elements were just seeded.
    if (!chains_.contains(b) || (mode != StageMode::seed && !chains_.at(b).local)) continue;
    for_sequences(m_[s_.conditionals[b].variable], {item},
                  [&](const std::vector<ExprId>& q) { independent_pairs(b, q); });
  }
}

std::vector<ExprId> Lowering::streamed_address(const model::Variable& var, const std::vector<ExprId>& element,
                                               const std::vector<ExprId>& event) {
  std::vector<ExprId> at = address({var.axes.begin() + 1, var.axes.end()}, {element.begin() + 1, element.end()});
  at.insert(at.end(), event.begin(), event.end());
  return at;
}

void Lowering::declare_item_arrays(const ItemStage& stage) {
  streamed_into_.clear();
  previous_.clear();
  for (BlockId b : stage.blocks) {
    if (stored(b)) {
      local_chain(b);
      const model::Variable& var = m_[s_.conditionals[b].variable];
      for (const math::FactorParameter& p : s_.conditionals[b].factor->parameters) {
        if (p.exported)
          previous_[{b, p.name}] = work_array("previous." + p.name, packed(event_axes(var, p.event_rank)));
      }
      continue;
    }
    for (const StreamUse& u : plan_stream(stage, b).uses) {
      if (!u.partner) continue;
      const Atom& p = u.term->term.atoms[*u.partner];
      const model::Variable& var = m_[p.variable];
      std::vector<model::PlateId> plates(var.axes.begin() + 1, var.axes.end());
      const auto event = event_axes(var, static_cast<int>(p.event.size()));
      plates.insert(plates.end(), event.begin(), event.end());
      const BlockId other = s_.conditionals.block_of[p.variable.index()];
      if (!streamed_into_.contains({other, p.stat})) {
        streamed_into_[{other, p.stat}] = work_array("into." + var.name, packed(plates));
      }
    }
  }
}

void Lowering::emit_item(const ItemStage& stage, ExprId item, StageMode mode, ExprId iterations, ExprId tolerance) {
  // Local terms that no streamed category takes part in; the streams add up the others as they go.
  std::vector<Stream> streams;
  for (BlockId b : stage.blocks) {
    if (stored(b)) continue;
    streams.push_back(plan_stream(stage, b));
    stream_arrays(streams.back());
  }
  const auto stored_uses = [&](BlockId b) {
    std::vector<std::pair<ArrayTerm, std::size_t>> out;
    for (const ItemStage::LocalTerm& t : stage.terms) {
      if (has_streamed_atom(t.term)) continue;
      ArrayTerm term{&t.term};
      if (t.statistic) term = {&t.term, s_.statistics[*t.statistic].table, &t.at};
      if (t.outer) term = outer_term(s_.outer[*t.outer], b);
      term.weights = natural_weights(b, t.statistic.has_value());
      for (std::size_t k = 0; k < term.term->atoms.size(); ++k) {
        if (term.term->atoms[k].variable == s_.conditionals[b].variable) out.emplace_back(term, k);
      }
    }
    return out;
  };
  // What the streams have added up for the naturals of a stored block.
  const auto with_streams = [&](BlockId b) {
    UpdateHooks hooks;
    hooks.gathered = [&, b](const std::vector<ExprId>& element, const NaturalTarget& n) {
      const model::Variable& var = m_[s_.conditionals[b].variable];
      for (const auto& [stat, buffer] : n.buffers) {
        const auto into = streamed_into_.find({b, stat});
        if (into == streamed_into_.end()) continue;
        each_event(var, math::event_rank(stat), [&, buffer = buffer](const std::vector<ExprId>& event) {
          b_.add_to(buffer, natural_address(b, element, n, event),
                    b_.load(into->second, streamed_address(var, element, event)));
        });
      }
    };
    return hooks;
  };
  // One pass over the local blocks; `change` collects the mean relative change of stored parameters.
  const auto pass = [&](bool final, const std::optional<std::pair<ScalarId, ScalarId>>& change) {
    // Streams come before the blocks that read what they add up, so one clearing a pass is right for all of
    // them.
    for (const auto& [into, buffer] : streamed_into_)
      b_.fill(buffer, b_.f(0));
    std::size_t stream = 0;
    for (BlockId b : stage.blocks) {
      const model::Variable& var = m_[s_.conditionals[b].variable];
      if (s_.storage[b.index()] == Storage::streamed) {
        const Stream& s = streams[stream++];
        stream_item_setup(s, item);
        stream_elements(s, item, final && !stage.refresh, mode);
        continue;
      }
      if (mode == StageMode::seed) {
        if (picks_.contains(b)) seed_stored(b, item);
        continue;
      }
      // The change is read from the parameters around the update.
      UpdateHooks hooks = with_streams(b);
      hooks.before = [&](const std::vector<ExprId>& element) {
        if (!change) return;
        for (const math::FactorParameter& p : s_.conditionals[b].factor->parameters) {
          if (!p.exported) continue;
          const BufferId buffer = parameter_.at({b, p.name}), old = previous_.at({b, p.name});
          each_event(var, p.event_rank, [&](const std::vector<ExprId>& event) {
            b_.store(old, event, b_.load(buffer, parameter_address(b, element, event)));
          });
        }
      };
      hooks.after = [&](const std::vector<ExprId>& element) {
        if (!change) return;
        for (const math::FactorParameter& p : s_.conditionals[b].factor->parameters) {
          if (!p.exported) continue;
          const BufferId buffer = parameter_.at({b, p.name}), old = previous_.at({b, p.name});
          each_event(var, p.event_rank, [&](const std::vector<ExprId>& event) {
            const ExprId now = b_.load(buffer, parameter_address(b, element, event)), was = b_.load(old, event);
            b_.accumulate(change->first, b_.abs(b_.sub(now, was)));
            b_.accumulate(change->second, b_.abs(was));
          });
        }
      };
      update(b, stored_uses(b), {item}, hooks);
    }
  };
  // Auxiliary sources and the streams, once more, from the other blocks as they are now.
  const auto refresh = [&] {
    for (const auto& [into, buffer] : streamed_into_)
      b_.fill(buffer, b_.f(0));
    std::size_t stream = 0;
    for (BlockId b : stage.blocks) {
      if (s_.storage[b.index()] == Storage::streamed) {
        const Stream& s = streams[stream++];
        stream_item_setup(s, item);
        stream_elements(s, item, true, mode);
      } else if (const auto& x = m_[s_.conditionals[b].variable].auxiliary;
                 x && x->kind == model::Auxiliary::Kind::source) {
        update(b, stored_uses(b), {item}, with_streams(b));
      }
    }
  };
  if (mode == StageMode::refresh) {
    refresh();
    emit_item_sums(stage, item, mode);
    return;
  }
  if (!stage.iterate || mode == StageMode::seed) {
    pass(true, std::nullopt);
    if (mode == StageMode::seed) start_chains(stage, item, mode);
  } else {
    const ScalarId settled = b_.local("settled" + std::to_string(names_++), b_.i(0));
    b_.for_loop("pass" + std::to_string(names_++), b_.i(0), iterations, [&](ExprId i) {
      const ExprId last =
          b_.let("last" + std::to_string(names_++),
                 b_.select(b_.logical_or(b_.equal(b_.get(settled), b_.i(1)), b_.equal(i, b_.sub(iterations, b_.i(1)))),
                           b_.i(1), b_.i(0)));
      const ScalarId moved = b_.local("moved" + std::to_string(names_++), b_.f(0));
      const ScalarId size = b_.local("size" + std::to_string(names_++), b_.f(0));
      b_.if_else(
          b_.equal(last, b_.i(1)), [&] { pass(true, std::nullopt); },
          [&] { pass(false, std::make_pair(moved, size)); });
      b_.break_if(b_.equal(last, b_.i(1)));
      b_.assign(settled, b_.select(b_.less_equal(b_.get(moved), b_.mul(tolerance, b_.get(size))), b_.i(1), b_.i(0)));
    });
  }
  if (stage.refresh) refresh();
  emit_item_sums(stage, item, mode);
}

void Lowering::each_event(const model::Variable& var, int rank,
                          const std::function<void(const std::vector<ExprId>&)>& body) {
  std::vector<ExprId> event;
  const std::vector<model::PlateId> axes = event_axes(var, rank);
  const std::function<void(std::size_t)> level = [&](std::size_t k) {
    if (k == axes.size()) {
      body(event);
      return;
    }
    for_range("e", b_.i(0), b_.extent(size_[m_[axes[k]].set.index()]), [&](ExprId i) {
      event.push_back(i);
      level(k + 1);
      event.pop_back();
    });
  };
  level(0);
}

void Lowering::seed_stored(BlockId b, ExprId item) {
  // Every element of the item takes the item's pick.
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const model::PlateId values = m_[*var.value_plate].set;
  const ExprId count = b_.extent(size_[values.index()]);
  for_elements(var.axes,
               [&](const std::vector<ExprId>& element) {
                 for_range("k", b_.i(0), count, [&](ExprId k) {
                   b_.store(parameter_of(b, math::ParameterRole::probabilities), parameter_address(b, element, {k}),
                            b_.select(b_.equal(k, b_.load(picks_.at(b), {item})), b_.f(1), b_.f(0)));
                 });
               },
               {item});
}

void Lowering::emit_item_sums(const ItemStage& stage, ExprId item, StageMode mode) {
  const ScalarId energy = b_.local("energy" + std::to_string(names_++), b_.f(0));
  const ScalarId prior = b_.local("prior" + std::to_string(names_++), b_.f(0));
  for (const ItemStage::LocalTerm& t : stage.terms) {
    if (has_streamed_atom(t.term) || t.outer) continue;
    Env env{{t.item, item}};
    if (t.statistic) {
      const schedule::Statistic& s = s_.statistics[*t.statistic];
      std::optional<BoundId> innermost;
      if (!s.at.empty()) {
        if (const auto* b = std::get_if<density::IndexBound>(&a_[s.at[s.contiguous]])) innermost = b->bound;
      }
      emit(t.term, factors({&t.term, std::nullopt, nullptr}, {}), {}, env, innermost,
           [&](ExprId value, const Env& e) { b_.add_to(array_.at(s.sums), array_indices(s.sums, s.at, e), value); });
    } else {
      emit(t.term, factors({&t.term, std::nullopt, nullptr}, {}), {}, env, std::nullopt,
           [&](ExprId value, const Env&) { b_.accumulate(s_.tempered[t.term.origin] ? energy : prior, value); });
    }
  }
  if (mode == StageMode::seed) return;
  if (mode == StageMode::update) add_item_energies(stage, item);
  // Terms of a streamed category with one stored block: its naturals, without their weights, times the final
  // expectations.
  const ExprId unweighted = b_.div(b_.f(1), b_.mul(weight(Weight::local), weight(Weight::local_data)));
  for (const auto& [key, buffer] : streamed_into_) {
    const auto& [b, stat] = key;
    if (std::find(stage.blocks.begin(), stage.blocks.end(), b) == stage.blocks.end()) continue;
    const model::Variable& var = m_[s_.conditionals[b].variable];
    for_elements(
        var.axes,
        [&, buffer = buffer, b = b, stat = stat](const std::vector<ExprId>& element) {
          each_event(var, math::event_rank(stat), [&](const std::vector<ExprId>& event) {
            const ExprId natural =
                b_.mul(owned_multiplicity(var, element), b_.load(buffer, streamed_address(var, element, event)));
            b_.accumulate(energy, b_.mul(b_.mul(unweighted, natural),
                                         b_.load(expectation_.at({b, stat}), parameter_address(b, element, event))));
          });
        },
        {item});
  }
  b_.add_to(local_.energy, {b_.i(0)}, b_.get(energy));
  b_.add_to(local_.prior, {b_.i(0)}, b_.get(prior));
  const ScalarId entropies = b_.local("entropies" + std::to_string(names_++), b_.f(0));
  const ScalarId discrete = b_.local("discrete" + std::to_string(names_++), b_.f(0));
  for (BlockId b : stage.blocks) {
    if (s_.storage[b.index()] == Storage::streamed || s_.conditionals[b].point) continue;
    const model::Variable& var = m_[s_.conditionals[b].variable];
    const ScalarId into = is_discrete(var.support) ? discrete : entropies;
    if (chains_.contains(b)) {
      for_sequences(var, {item}, [&](const std::vector<ExprId>& q) { b_.accumulate(into, chain_entropy(b, q)); });
      continue;
    }
    for_elements(var.axes, [&](const std::vector<ExprId>& element) { b_.accumulate(into, entropy(b, element)); },
                 {item});
  }
  b_.add_to(local_.entropy, {b_.i(0)}, b_.get(entropies));
  b_.add_to(local_.discrete, {b_.i(0)}, b_.get(discrete));
}

StageFunctions Lowering::emit_stage(std::size_t step) {
  const auto& stage = std::get<ItemStage>(s_.steps[step]);
  StageFunctions out;
  out.item = stage.item;
  out.tables = emit_tables(step);
  out.update = emit_items(step, StageMode::update);
  bool streamed = false;
  for (BlockId b : stage.blocks) {
    streamed = streamed || s_.storage[b.index()] == Storage::streamed;
    if (!picks_.contains(b)) continue;
    out.picks.push_back(picks_.at(b));
    out.pick_plates.push_back(m_[*m_[s_.conditionals[b].variable].value_plate].set);
  }
  if (!out.picks.empty()) out.seed = emit_items(step, StageMode::seed);
  if (!streamed) out.sum = emit_items(step, StageMode::sum);
  if (stage.refresh) out.refresh = emit_items(step, StageMode::refresh);
  const bool any = std::any_of(stage.blocks.begin(), stage.blocks.end(), [&](BlockId b) { return stored(b); });
  if (options_.new_items && any && only_stage(s_)) {
    out.fresh = emit_fresh(stage, step);
    out.expectations = emit_item_expectations(stage, step);
  }
  if (options_.batches) emit_data_sums(stage, step, out);
  for (const schedule::Statistic& s : s_.statistics) {
    if (s.stage == step) out.statistics.push_back(array_.at(s.sums));
  }
  for (BufferId b : {local_.energy, local_.prior, local_.entropy, local_.discrete})
    out.statistics.push_back(b);
  return out;
}

}  // namespace lehr::loops
