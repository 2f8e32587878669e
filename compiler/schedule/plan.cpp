// Makes the schedule: the order of updates, which blocks are updated item by item, and which auxiliary variables are
// refreshed when.
//
// Blocks are ranked (local discrete variables, other local variables, globals, tangent points) and taken in that order.
// Neighbours on one item plate whose items are independent given all else share an item stage. In LDA the order is z,
// theta, beta; z and theta share the stage over documents. regroup() then divides the terms.
#include <algorithm>

#include "compiler/conditionals/collapse.h"
#include "compiler/conditionals/shared_terms.h"
#include "compiler/model/expectations.h"
#include "compiler/model/roles.h"
#include "compiler/schedule/invariance.h"
#include "compiler/schedule/regroup.h"
#include "compiler/schedule/rescale.h"
#include "compiler/schedule/shift.h"
#include "compiler/schedule/tempered.h"

namespace lehr::schedule {
namespace {

using conditionals::Block;
using conditionals::share_a_term;
using conditionals::Use;

/// Returns, by PlateId, true for plates whose size comes from the data: plates without a size in the model that an
/// observed or limited variable lies on, or that data have elements of.
std::vector<bool> data_plates(const model::Model& m) {
  std::vector<bool> out(m.plates.size());
  for (const model::Variable& v : m.variables) {
    if (!has_data(v) && (v.auxiliary || !m[v.statement].limits.any())) continue;
    for (model::PlateId p : v.axes) {
      if (!m[m[p].set].size) out[m[p].set.index()] = true;
    }
  }
  // The plate of `node` in src[pair] is sized by the data too.
  for (const model::Given& g : m.givens) {
    if (g.value_plate && !m[m[*g.value_plate].set].size) out[m[*g.value_plate].set.index()] = true;
  }
  return out;
}

/// Ranks in the order of updates. Predictors of expectations of links come after all that multiplies these, since a
/// plane has the right value at its point only; the points follow the blocks that move them.
enum Rank {
  discrete,       // latent discrete on a plate that the data size, and sources of counts
  item_local,     // others on an item plate
  global,         // all else
  predictor,      // what moves the points of expectations of links, also on an item plate: such updates may overshoot
  tangent_point,  // tangent points of bounds, and points of expectations
};

/// Returns true if blocks of the rank are local to the items.
bool is_local(Rank r) { return r != global && r != predictor; }

/// Returns the rank of a variable if it is in no predictor.
Rank update_rank(const model::Model& m, const model::Variable& v, const std::vector<bool>& data,
                 const std::vector<bool>& item) {
  if (model::is_tangent_point(v)) return tangent_point;
  const auto on = [&](const std::vector<bool>& set) {
    return std::any_of(v.axes.begin(), v.axes.end(), [&](model::PlateId p) { return set[m[p].set.index()]; });
  };
  if (model::is_source(v) || (is_discrete(v.support) && on(data))) return discrete;
  if (!v.axes.empty() && item[m[v.axes[0]].set.index()]) return item_local;
  return global;
}

/// Returns the rank of each block.
std::vector<Rank> update_ranks(const model::Model& m, const conditionals::Conditionals& c) {
  const std::vector<bool> data = data_plates(m), item = item_plates(m);
  std::vector<BlockId> points;
  for (std::size_t k = 0; k < c.blocks.size(); ++k)
    if (model::has_expectation(m[c.blocks[k].variable])) points.emplace_back(k);
  std::vector<Rank> out;
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    const model::Variable& v = m[c.blocks[k].variable];
    const bool normal = v.support == math::Support::real || v.support == math::Support::vector ||
                        v.support == math::Support::sparse || c.blocks[k].point;
    const bool moves = normal && !model::is_tangent_point(v) && share_a_term(c, BlockId(k), points);
    out.push_back(moves ? predictor : update_rank(m, v, data, item));
  }
  return out;
}

/// The auxiliary variables that the draw of each block integrates out, by BlockId.
using CollapsedBy = std::vector<std::set<BlockId>>;

/// Returns the auxiliary variables that each draw integrates out; empty sets for variational inference.
CollapsedBy collapsed_by(const model::Model& m, const conditionals::Conditionals& c) {
  CollapsedBy out(c.blocks.size());
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    for (const conditionals::CollapsedAuxiliary& x : conditionals::collapsed_auxiliaries(m, c, BlockId(k)))
      out[k].insert(x.auxiliary);
  }
  return out;
}

/// Returns true if the draw of some block integrates `b` out.
bool is_collapsed(const CollapsedBy& integrals, BlockId b) {
  return std::ranges::any_of(integrals, [&](const std::set<BlockId>& x) { return x.contains(b); });
}

/// Returns all blocks in order of update: those of `guide order`, then the rest by rank. If `last` is set, blocks that
/// integrate others out come after all others, and these auxiliaries come last.
std::vector<BlockId> update_order(const model::Model& m, const conditionals::Conditionals& c,
                                  const std::vector<Rank>& rank, const CollapsedBy* last) {
  std::vector<BlockId> out;
  for (model::VariableId v : m.guide.order) {
    const BlockId b = c.block_of[v.index()];
    if (b.valid() && std::find(out.begin(), out.end(), b) == out.end()) out.push_back(b);
  }
  std::vector<BlockId> rest;
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    if (std::find(out.begin(), out.end(), BlockId(k)) == out.end()) rest.push_back(BlockId(k));
  }
  std::stable_sort(rest.begin(), rest.end(), [&](BlockId a, BlockId b) { return rank[a.index()] < rank[b.index()]; });
  out.insert(out.end(), rest.begin(), rest.end());
  const auto waits = [&](BlockId b) { return rank[b.index()] < predictor ? discrete : rank[b.index()]; };
  std::ranges::stable_sort(out, {}, waits);
  if (last) {
    const auto sort_key = [&](BlockId b) { return is_collapsed(*last, b) ? 2 : (*last)[b.index()].empty() ? 0 : 1; };
    std::stable_sort(out.begin(), out.end(), [&](BlockId a, BlockId b) { return sort_key(a) < sort_key(b); });
  }
  return out;
}

/// Returns the index variable of the term that is the item of `atom`, if its first axis is a plain index variable over
/// `item`.
std::optional<density::IndexVarId> item_index_var(const model::Model& m, const density::Density& d, const Term& t,
                                                  const density::Atom& atom, model::PlateId item) {
  if (atom.axes.empty()) return std::nullopt;
  const auto* b = std::get_if<density::IndexVarRef>(&d.algebra[atom.axes[0]]);
  if (!b || b->offset != 0 || d.algebra[b->bound].parent) return std::nullopt;
  if (m[d.algebra[b->bound].plate].set != item) return std::nullopt;
  if (std::find(t.index_vars.begin(), t.index_vars.end(), b->bound) == t.index_vars.end()) return std::nullopt;
  return b->bound;
}

/// Returns true if the items of these blocks are independent of each other given everything else: in every term, all
/// their atoms belong to one item.
bool separable(const model::Model& m, const conditionals::Conditionals& c, const std::vector<BlockId>& blocks,
               model::PlateId item) {
  const density::Density& d = c.density;
  const auto local = [&](const density::Atom& a) {
    return std::find(blocks.begin(), blocks.end(), c.block_of[a.variable.index()]) != blocks.end();
  };
  for (BlockId id : blocks) {
    for (const Use& u : c[id].uses) {
      const Term& t = d.terms[u.term];
      const auto own = item_index_var(m, d, t, t.atoms[u.atom], item);
      if (!own) return false;
      for (const density::Atom& other : t.atoms) {
        if (local(other) && item_index_var(m, d, t, other, item) != own) return false;
      }
    }
  }
  return true;
}

/// Returns true if the probabilities of a local category need not be stored (fused responsibilities). Its elements must
/// not be coupled. Every term with it must have no other local atom, or exactly one: of a stored block that is updated
/// later and does not depend on the category's inner indices. In LDA, z[doc, token] adds to theta[doc] as soon as its
/// probabilities are formed, and is then forgotten.
bool can_fuse(const model::Model& m, const Schedule& s, const CollapsedBy& integrals, const ItemStage& stage,
              std::size_t position) {
  const conditionals::Conditionals& c = s.conditionals;
  const Block& z = c[stage.blocks[position]];
  const density::Algebra& a = c.density.algebra;
  if (m[z.variable].support != math::Support::category || z.coupled() || z.point) return false;
  // A draw that integrates an auxiliary out must read all variables that share a term with it, so they are stored.
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    if (is_collapsed(integrals, BlockId(k)) && share_a_term(c, BlockId(k), {stage.blocks[position]})) return false;
  }
  const std::size_t axes = m[z.variable].axes.size();
  for (const Use& u : z.uses) {
    const Term& t = c.density.terms[u.term];
    const density::Atom& own = t.atoms[u.atom];
    // The element must be named by index variables of its own, one for each axis. `inner` are those after the item.
    std::set<density::IndexVarId> element, inner;
    for (std::size_t x = 0; x < axes; ++x) {
      const auto* b = std::get_if<density::IndexVarRef>(&a[own.axes[x]]);
      if (!b || b->offset != 0 || !element.insert(b->bound).second) return false;
      if (x > 0) inner.insert(b->bound);
    }
    const auto* k = std::get_if<density::IndexVarRef>(&a[own.event[0]]);
    if (!k || k->offset != 0) return false;
    std::size_t locals = 0, outers = 0;
    for (const density::Atom& other : t.atoms) {
      if (&other == &own) continue;
      const BlockId b = c.block_of[other.variable.index()];
      const auto at = std::find(stage.blocks.begin(), stage.blocks.end(), b);
      if (at == stage.blocks.end()) {
        ++outers;
        continue;
      }
      ++locals;
      if (at - stage.blocks.begin() <= static_cast<std::ptrdiff_t>(position)) return false;
      if (s.storage[b.index()] == Storage::fused) return false;
      for (std::size_t x = 1; x < m[other.variable].axes.size(); ++x) {
        if (m[m[m[other.variable].axes[x]].set].parent) return false;
      }
      for (density::IndexId i : other.axes) {
        std::set<density::IndexVarId> mentioned;
        a.collect(i, mentioned);
        for (density::IndexVarId x : inner) {
          if (mentioned.contains(x)) return false;
        }
      }
    }
    if (locals > 1 || (locals == 1 && outers > 0)) return false;
  }
  return true;
}

/// Returns the blocks that a step updates.
std::vector<BlockId> blocks_of(const Step& step) {
  if (const auto* stage = std::get_if<ItemStage>(&step)) return stage->blocks;
  return {std::get<BlockUpdate>(step).block};
}

/// Returns true if no step before `home` reads the blocks of that step. The next sweep then updates them before
/// anything reads them.
bool is_updated_before_read(const Schedule& s, std::size_t home) {
  const std::vector<BlockId> formed = blocks_of(s.steps[home]);
  return std::none_of(s.steps.begin(), s.steps.begin() + static_cast<std::ptrdiff_t>(home), [&](const Step& before) {
    return std::ranges::any_of(formed, [&](BlockId b) { return share_a_term(s.conditionals, b, blocks_of(before)); });
  });
}

/// Returns true if the auxiliary sources of a step come before all its blocks that read them.
bool begins_with_sources(const model::Model& m, const Schedule& s, std::size_t home) {
  const std::vector<BlockId> blocks = blocks_of(s.steps[home]);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const std::vector<BlockId> before(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(k));
    if (model::is_source(m[s.conditionals[blocks[k]].variable]) && share_a_term(s.conditionals, blocks[k], before))
      return false;
  }
  return true;
}

/// Returns one sweep: the steps in order, with a refresh of each outdated source before a step that reads it, and at
/// the end.
std::vector<SweepEntry> sweep_of(const model::Model& m, const Schedule& s) {
  struct Source {
    BlockId block;       // the source
    std::size_t home;    // the step that updates it
    bool stale = false;  // true if a factor that it depends on has changed since
  };
  std::vector<Source> sources;
  for (std::size_t k = 0; k < s.steps.size(); ++k) {
    for (BlockId b : blocks_of(s.steps[k])) {
      if (model::is_source(m[s.conditionals[b].variable])) sources.push_back({b, k});
    }
  }
  std::vector<SweepEntry> out;
  const auto refresh = [&](std::size_t home, bool at_the_end = false) {
    out.push_back({home, true, at_the_end && is_updated_before_read(s, home) && begins_with_sources(m, s, home)});
    for (Source& x : sources) {
      if (x.home == home) x.stale = false;
    }
  };
  for (std::size_t k = 0; k < s.steps.size(); ++k) {
    const std::vector<BlockId> blocks = blocks_of(s.steps[k]);
    for (const Source& x : sources) {
      if (x.stale && x.home != k && share_a_term(s.conditionals, x.block, blocks)) refresh(x.home);
    }
    out.push_back({k, false});
    for (Source& x : sources)
      x.stale = x.home != k && (x.stale || share_a_term(s.conditionals, x.block, blocks));
  }
  for (const Source& x : sources) {
    if (x.stale) refresh(x.home, true);
  }
  return out;
}

/// Forms the steps in the order of updates. A local block joins the item stage before it if the items of both together
/// are independent. A tangent point also joins an earlier stage with which it shares terms.
void form_steps(const model::Model& m, const std::vector<Rank>& rank, const std::vector<bool>& item,
                const CollapsedBy* last, Schedule& s) {
  const conditionals::Conditionals& c = s.conditionals;
  s.steps.clear();
  s.stage_of.assign(c.blocks.size(), std::nullopt);
  for (BlockId b : update_order(m, c, rank, last)) {
    const model::Variable& v = m[c[b].variable];
    const bool local = is_local(rank[b.index()]) && !v.axes.empty() && item[m[v.axes[0]].set.index()] && !c[b].mean;
    const model::PlateId plate = v.axes.empty() ? model::PlateId() : m[v.axes[0]].set;
    // Whether the block can join step k: the last one, or for a tangent point any that it shares terms with.
    const auto joins = [&](std::size_t k) {
      const auto* stage = std::get_if<ItemStage>(&s.steps[k]);
      if (!local || !stage || stage->item != plate) return false;
      const bool earlier =
          model::is_tangent_point(v) && !model::has_expectation(v) && !last && share_a_term(c, b, stage->blocks);
      if (k + 1 != s.steps.size() && !earlier) return false;
      std::vector<BlockId> joined = stage->blocks;
      joined.push_back(b);
      return separable(m, c, joined, plate);
    };
    std::size_t host = s.steps.size();
    while (host > 0 && !joins(host - 1))
      --host;
    if (host > 0) {
      std::get<ItemStage>(s.steps[host - 1]).blocks.push_back(b);
      s.stage_of[b.index()] = host - 1;
    } else if (local && separable(m, c, {b}, plate)) {
      s.stage_of[b.index()] = s.steps.size();
      s.steps.push_back(ItemStage{plate, {b}, false, false, {}});
    } else {
      s.steps.push_back(BlockUpdate{b});
    }
  }
}

/// Returns true if nothing reads an auxiliary variable between a draw that integrates it out and its own draw. In
/// between its value belongs to the old draw.
bool is_redrawn_before_read(const Schedule& s, const CollapsedBy& integrals) {
  const conditionals::Conditionals& c = s.conditionals;
  std::vector<BlockId> order;
  for (const Step& step : s.steps)
    std::ranges::copy(blocks_of(step), std::back_inserter(order));
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (const BlockId auxiliary : integrals[order[k].index()]) {
      for (std::size_t next = (k + 1) % order.size(); order[next] != auxiliary; next = (next + 1) % order.size()) {
        const BlockId b = order[next];
        if (!integrals[b.index()].contains(auxiliary) && share_a_term(c, auxiliary, {b})) return false;
      }
    }
  }
  return true;
}

/// Replaces item stages by single updates where they are not allowed. A term may have atoms of one stage only, so the
/// second of two stages that share a term is broken up. So is a stage with a block that integrates out an auxiliary of
/// another step, because its items are then no longer independent.
void split_conflicting_stages(Schedule& s, const CollapsedBy& integrals) {
  for (std::size_t k = 0; k < integrals.size(); ++k) {
    for (const BlockId auxiliary : integrals[k]) {
      const auto stage = s.stage_of[k];
      if (!stage || s.stage_of[auxiliary.index()] == stage) continue;
      for (BlockId other : std::get<ItemStage>(s.steps[*stage]).blocks)
        s.stage_of[other.index()].reset();
    }
  }
  for (const Term& t : s.conditionals.density.terms) {
    std::optional<std::size_t> first;
    for (const density::Atom& a : t.atoms) {
      const auto stage = s.stage_of[s.conditionals.block_of[a.variable.index()].index()];
      if (!stage) continue;
      if (!first) first = stage;
      if (*stage == *first) continue;
      for (BlockId b : std::get<ItemStage>(s.steps[std::max(*stage, *first)]).blocks)
        s.stage_of[b.index()].reset();
    }
  }
  std::vector<Step> steps;
  std::vector<std::optional<std::size_t>> moved(s.steps.size());  // the new index of each step
  for (std::size_t k = 0; k < s.steps.size(); ++k) {
    auto* stage = std::get_if<ItemStage>(&s.steps[k]);
    if (stage && !s.stage_of[stage->blocks[0].index()]) {
      for (BlockId b : stage->blocks)
        steps.push_back(BlockUpdate{b});
      continue;
    }
    moved[k] = steps.size();
    steps.push_back(std::move(s.steps[k]));
  }
  s.steps = std::move(steps);
  for (auto& at : s.stage_of) {
    if (at) at = moved[*at];
  }
}

/// Decides how the stage, step `k`, visits an item: which categories it does not store (only if `streams`), and whether
/// it iterates and refreshes sources.
void complete_stage(const model::Model& m, const CollapsedBy& integrals, std::size_t k, bool streams, Schedule& s) {
  auto& stage = std::get<ItemStage>(s.steps[k]);
  const conditionals::Conditionals& c = s.conditionals;
  // A block that is updated before the stage reads statistics of stored factors at the start, so only the first step
  // can do without storage.
  const bool first = k == 0 && streams;
  for (std::size_t p = stage.blocks.size(); p-- > 0;) {
    if (first && can_fuse(m, s, integrals, stage, p)) s.storage[stage.blocks[p].index()] = Storage::fused;
  }
  stage.refresh = std::any_of(stage.blocks.begin(), stage.blocks.end(),
                              [&](BlockId b) { return model::is_source(m[c[b].variable]); });
  for (const Term& t : c.density.terms) {
    std::set<BlockId> locals;
    for (const density::Atom& a : t.atoms) {
      const BlockId b = c.block_of[a.variable.index()];
      if (s.stage_of[b.index()] == k) locals.insert(b);
    }
    // Blocks of one item that share a term depend on each other, so they are updated until they converge.
    if (locals.size() > 1 && m.guide.order.empty()) stage.iterate = true;
  }
}

}  // namespace
}  // namespace lehr::schedule

namespace lehr {

schedule::Schedule plan(const model::Model& m, conditionals::Conditionals conditionals,
                        const schedule::PlanOptions& options) {
  using namespace schedule;
  Schedule s;
  s.conditionals = std::move(conditionals);
  const std::vector<conditionals::Block>& blocks = s.conditionals.blocks;
  const std::vector<bool> item = item_plates(m);
  const std::vector<Rank> rank = update_ranks(m, s.conditionals);
  for (const Rank r : rank)
    s.local.push_back(is_local(r));
  const bool whole = options.tempering == Tempering::data;
  s.tempered = whole ? tempered_origins(m, s) : likelihood_origins(s.conditionals.density);
  s.storage.assign(blocks.size(), Storage::stored);
  const CollapsedBy integrals = collapsed_by(m, s.conditionals);
  form_steps(m, rank, item, nullptr, s);
  // The plain order is tried first, since it has the larger stages.
  if (!is_redrawn_before_read(s, integrals)) form_steps(m, rank, item, &integrals, s);
  split_conflicting_stages(s, integrals);
  for (std::size_t k = 0; k < s.steps.size(); ++k) {
    if (std::holds_alternative<ItemStage>(s.steps[k])) complete_stage(m, integrals, k, whole, s);
  }
  s.sweep = sweep_of(m, s);
  if (options.invariances) {
    s.invariances = find_invariances(m, s);
    s.shifts = find_shifts(m, s);
    std::ranges::move(find_changes_of_scale(m, s), std::back_inserter(s.shifts));
  }
  const auto visits_items = [](const Step& x) { return std::holds_alternative<ItemStage>(x); };
  PlanOptions grouping = options;
  if (std::ranges::any_of(s.steps, visits_items)) grouping.sizes.clear();
  regroup(m, grouping, s);
  return s;
}

std::optional<std::size_t> only_stage(const schedule::Schedule& s) {
  std::optional<std::size_t> out;
  for (std::size_t k = 0; k < s.local.size(); ++k) {
    if (!s.local[k]) continue;
    if (!s.stage_of[k] || (out && *out != *s.stage_of[k])) return std::nullopt;
    out = s.stage_of[k];
  }
  return out;
}

}  // namespace lehr
