// Full rows of counts (docs/passes.md): register blocking for fused categories of which many counts are above zero.
//
// Four items (rows of counts) are visited together, in tiles of 16 consecutive elements, which stand in vector lanes:
//
//     for k:                                       for all u in 0 .. 4:
//       e[u] = exp_vector[u, k]
//       for lane: total[u, lane] += e[u] * exp_columns[k, at + lane]
//
// Each entry of the table is read once for all four items, and sums of exponentials are over k, not over lanes. What
// the items add to a row of the statistic is added up first and stored once. If most counts are zero, lower_fused.cpp
// visits a list of the others instead.
#include <algorithm>

#include "compiler/analysis/cost_model.h"
#include "compiler/lower/stages/fused_element.h"
#include "compiler/lower/stages/stages.h"
#include "compiler/model/roles.h"
#include "runtime/threshold.h"

namespace lehr::loops {

using schedule::ItemStage;

namespace {

constexpr std::int64_t kItems = 4;          // in a group
constexpr std::int64_t kTile = 2 * kLanes;  // elements of each item in a tile: two vectors
/// The fraction of counts above zero from which on it is cheaper to visit zeros than to leave them out.
constexpr Threshold<double> kFull("lower_full_rows.full", 0.4);
/// The number of values of a category from which on all counts must be above zero: the work arrays of four items then
/// exceed the first-level cache. Below it, the fraction must be at least values / kMostValues.
constexpr Threshold<double> kMostValues("lower_full_rows.most_values", 128);

}  // namespace

const FusedUse* FusedCategories::table_use(const FusedCategory& s) const {
  const auto is_table = [](const FusedUse& u) { return u.kind == FusedUse::Kind::table; };
  return std::ranges::count_if(s.uses, is_table) == 1 ? &*std::ranges::find_if(s.uses, is_table) : nullptr;
}

bool FusedCategories::has_full_rows(const FusedCategory& s) const {
  const FusedUse* const table = table_use(s);
  return table && layout_.exp_columns.contains(table_of(*table));
}

bool FusedCategories::can_have_full_rows(const FusedCategory& s) const {
  const model::Variable& var = m_[s_.conditionals[s.block].variable];
  const FusedUse *const table = table_use(s), *const vector = vector_use(s);
  if (!s.entropy_from_sums || !has_empty_elements(s) || var.axes.size() != 2 || m_[m_[var.axes[1]].set].parent ||
      !table || !vector || s.uses.size() != 2 || b_.program()[s.values].constant < 0)
    return false;
  const schedule::Statistic& st = s_.statistics[*table->term->statistic];
  if (st.at.size() != 2) return false;
  const auto* row = std::get_if<density::IndexVarRef>(&a_[st.at[1 - st.contiguous]]);
  const auto* own = std::get_if<density::IndexVarRef>(&a_[table->term->term.atoms[table->atom].axes[1]]);
  if (!row || !own || row->bound != own->bound) return false;
  const std::vector<double>& counts = shared_.data.observed[var.auxiliary->host.index()].values;
  const auto some = static_cast<double>(std::ranges::count_if(counts, [](double x) { return x > 0; }));
  const double least =
      std::max<double>(options_.thresholds[kFull],
                       static_cast<double>(b_.program()[s.values].constant) / options_.thresholds[kMostValues]);
  return !counts.empty() && some >= least * static_cast<double>(counts.size());
}

FullRows FusedCategories::full_rows(const FusedCategory& s) {
  const SizeId items = b_.constant_size("items together", kItems), tile = b_.constant_size("tile", kTile),
               lanes = b_.constant_size("lanes", kLanes);
  const FullRows r{work_array("row_exp", {items, s.values}),  work_array("row_shift", {items}),
                   work_array("row_into", {items, s.values}), work_array("row_lanes", {items, s.values, lanes}),
                   work_array("row_total", {items, tile}),    work_array("row_scale", {items, tile}),
                   work_array("row_count", {items, tile})};
  // Positions of the group without an item have harmless exponentials: their sums do not underflow.
  b_.fill(r.exponentials, b_.f(1));
  b_.fill(r.shift, b_.f(0));
  return r;
}

void FusedCategories::form_row(const FusedCategory& s, const FullRows& r, ExprId u, ExprId item) {
  const ExprId shift = stream_item_setup(s, item);
  b_.store(r.shift, {u}, shift);
  each_value(s, [&](ExprId k) { b_.store(r.exponentials, {u, k}, b_.load(s.item_exp, {k})); });
}

BufferId FusedCategories::into_of(const FusedCategory& s, const ItemArrays& arrays) const {
  return naturals_of(*vector_use(s), arrays);
}

void FusedCategories::take_row(const FusedCategory& s, const FullRows& r, ExprId u, const ItemArrays& arrays) {
  const BufferId into = into_of(s, arrays);
  each_value(s, [&](ExprId k) { b_.store(into, {k}, b_.load(r.into, {u, k})); });
}

ExprId FusedCategories::coefficient(const FusedCategory& s, const FusedUse& u, const std::vector<ExprId>& element,
                                    ExprId scale) {
  std::vector<Factor> fs = spread_factors(u, scale);
  Env env = stream_env(s, static_cast<std::size_t>(&u - s.uses.data()), element);
  // The coefficient is the same for all values, so that of value 0 stands for it.
  env[u.value] = b_.i(0);
  ExprId out;
  terms_.emit(u.term->term, std::move(fs), {}, std::move(env), u.value, [&](ExprId value, const Env&) { out = value; });
  return out;
}

void FusedCategories::visit_rows(const FusedCategory& s, const FullRows& r, ExprId first, ExprId end,
                                 const FusedVisit& visit) {
  const model::Variable& var = m_[s_.conditionals[s.block].variable];
  const ExprId n = terms_.axis_length(var.axes, {first});
  b_.fill(r.into, b_.f(0));
  b_.fill(r.lanes, b_.f(0));
  std::vector<ExprId> items, begins;
  for (std::int64_t u = 0; u < kItems; ++u)
    items.push_back(b_.let(b_.fresh("row"), b_.min(b_.add(first, b_.i(u)), b_.sub(end, b_.i(1)))));
  const auto tile = [&](ExprId from) {
    // The last tile begins early enough to be whole; elements that were in the tile before count as 0.
    const ExprId at = b_.let(b_.fresh("at"), b_.max(b_.i(0), b_.min(from, b_.sub(n, b_.i(kTile)))));
    begins.clear();
    for (std::int64_t u = 0; u < kItems; ++u)
      begins.push_back(b_.let(b_.fresh("begin"), b_.select(b_.less(b_.add(first, b_.i(u)), end), from, n)));
    visit_tile(s, r, {first, end, from, at, n, items, begins}, visit);
  };
  b_.for_loop(b_.fresh("from"), b_.i(0), n, tile, false, kTile);
  b_.for_range("item", b_.i(0), b_.i(kItems), [&](ExprId u) {
    each_value(s, [&](ExprId k) {
      const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
      b_.for_range("lane", b_.i(0), b_.i(kLanes), [&](ExprId lane) {
        b_.accumulate(sum, b_.load(r.lanes, {u, k, lane}));
      });
      b_.add_to(r.into, {u, k}, b_.mul(b_.load(r.exponentials, {u, k}), b_.get(sum)));
    });
  });
}

void FusedCategories::visit_tile(const FusedCategory& s, const FullRows& r, const Tile& t, const FusedVisit& visit) {
  const ScalarId low = b_.local(b_.fresh("low"), b_.f(1));
  // Rows shorter than a tile keep `low` at 1 and are visited one by one.
  b_.if_then(b_.less_equal(b_.i(kTile), t.n), [&] { add_up_tile(s, r, t, low); });
  b_.if_rarely_else(
      b_.less(b_.f(0), b_.get(low)), [&] { one_by_one(s, r, t, visit); }, [&] { spread_tile(s, r, t, visit); });
}

void FusedCategories::add_up_tile(const FusedCategory& s, const FullRows& r, const Tile& t, ScalarId low) {
  const ArrayId table = table_of(*table_use(s));
  b_.fill(r.total, b_.f(0));
  each_value(s, [&](ExprId k) {
    std::vector<ExprId> e;
    for (std::int64_t u = 0; u < kItems; ++u)
      e.push_back(b_.let(b_.fresh("e"), b_.load(r.exponentials, {b_.i(u), k})));
    each_lane([&](ExprId lane) {
      const ExprId entry = b_.let(b_.fresh("t"), b_.load(layout_.exp_columns.at(table), {k, b_.add(t.at, lane)}));
      for (std::int64_t u = 0; u < kItems; ++u)
        b_.add_to(r.total, {b_.i(u), lane}, b_.mul(e[static_cast<std::size_t>(u)], entry));
    });
  });
  b_.assign(low, b_.f(0));
  each_lane([&](ExprId lane) {
    for (std::int64_t u = 0; u < kItems; ++u) {
      const ExprId is_low = b_.less(b_.load(r.total, {b_.i(u), lane}), b_.f(kUnderflow));
      b_.accumulate(low, b_.select(is_low, b_.f(1), b_.f(0)));
    }
  });
}

void FusedCategories::each_lane(const std::function<void(ExprId lane)>& body) {
  b_.for_loop(b_.fresh("lane"), b_.i(0), b_.i(kTile), body, true);
}

ExprId FusedCategories::count_from(const FusedCategory& s, ExprId begin, ExprId item, ExprId e) {
  const model::Variable& var = m_[s_.conditionals[s.block].variable];
  return b_.select(b_.less_equal(begin, e), updates_.owned_multiplicity(var, {item, e}), b_.f(0));
}

void FusedCategories::one_by_one(const FusedCategory& s, const FullRows& r, const Tile& t, const FusedVisit& visit) {
  const model::Variable& var = m_[s_.conditionals[s.block].variable];
  const BufferId into = into_of(s, visit.arrays);
  b_.for_range("item", b_.i(0), b_.min(b_.i(kItems), b_.sub(t.end, t.first)), [&](ExprId u) {
    const ExprId item = b_.let(b_.fresh("row"), b_.add(t.first, u));
    each_value(s, [&](ExprId k) { b_.store(s.item_exp, {k}, b_.load(r.exponentials, {u, k})); });
    b_.fill(into, b_.f(0));
    FusedVisit one = visit;
    one.item_shift = b_.load(r.shift, {u});
    b_.for_range("element", t.from, b_.min(b_.add(t.from, b_.i(kTile)), t.n), [&](ExprId e) {
      b_.if_then(b_.less(b_.f(0), updates_.owned_multiplicity(var, {item, e})), [&] {
        visit_element(s, {item, e}, one);
      });
    });
    each_value(s, [&](ExprId k) { b_.add_to(r.into, {u, k}, b_.load(into, {k})); });
  });
}

void FusedCategories::spread_tile(const FusedCategory& s, const FullRows& r, const Tile& t, const FusedVisit& visit) {
  const ArrayId table = table_of(*table_use(s));
  const auto coefficients = [&](const FusedUse& use, BufferId to) {
    each_lane([&](ExprId lane) {
      const ExprId e = b_.add(t.at, lane);
      for (std::size_t k = 0; k < t.items.size(); ++k) {
        const ExprId u = b_.i(static_cast<std::int64_t>(k)), scale = b_.div(b_.f(1), b_.load(r.total, {u, lane}));
        const ExprId some = b_.less(b_.f(0), count_from(s, t.begins[k], t.items[k], e));
        b_.store(to, {u, lane}, b_.select(some, coefficient(s, use, {t.items[k], e}, scale), b_.f(0)));
      }
    });
  };
  coefficients(*vector_use(s), r.scale);
  each_value(s, [&](ExprId k) {
    b_.for_loop(
        b_.fresh("lane"), b_.i(0), b_.i(kLanes),
        [&](ExprId lane) {
          for (std::int64_t u = 0; u < kItems; ++u) {
            ExprId sum;
            for (std::int64_t part = 0; part < kTile; part += kLanes) {
              const ExprId at = b_.add(lane, b_.i(part));
              const ExprId x = b_.mul(b_.load(r.scale, {b_.i(u), at}),
                                      b_.load(layout_.exp_columns.at(table), {k, b_.add(t.at, at)}));
              sum = sum.valid() ? b_.add(sum, x) : x;
            }
            b_.add_to(r.lanes, {b_.i(u), k, lane}, sum);
          }
        },
        true);
  });
  if (!visit.final) return;
  coefficients(*table_use(s), r.count);
  add_tile(s, r, t);
  const ScalarId entropy = b_.local(b_.fresh("entropy"), b_.f(0));
  each_lane([&](ExprId lane) {
    const ExprId e = b_.add(t.at, lane);
    for (std::size_t k = 0; k < t.items.size(); ++k) {
      const ExprId u = b_.i(static_cast<std::int64_t>(k));
      const ExprId shift = b_.add(b_.load(r.shift, {u}), b_.load(layout_.exp_shift.at(table), {e}));
      const ExprId copies = count_from(s, t.begins[k], t.items[k], e);
      b_.accumulate(entropy, b_.mul(copies, b_.add(b_.log(b_.load(r.total, {u, lane})), shift)));
    }
  });
  b_.add_to(visit.arrays.sums.discrete, {b_.i(0)}, b_.get(entropy));
}

void FusedCategories::add_tile(const FusedCategory& s, const FullRows& r, const Tile& t) {
  const FusedUse& use = *table_use(s);
  const schedule::Statistic& st = s_.statistics[*use.term->statistic];
  b_.for_range("lane", b_.i(0), b_.i(kTile), [&](ExprId lane) {
    const ExprId element = b_.let(b_.fresh("e"), b_.add(t.at, lane));
    Env env = stream_env(s, static_cast<std::size_t>(&use - s.uses.data()), {t.items[0], element});
    std::vector<ExprId> counts;
    for (std::int64_t u = 0; u < kItems; ++u)
      counts.push_back(b_.let(b_.fresh("c"), b_.load(r.count, {b_.i(u), lane})));
    each_value(s, [&](ExprId k) {
      ExprId sum;
      for (std::int64_t u = 0; u < kItems; ++u) {
        const ExprId x = b_.mul(counts[static_cast<std::size_t>(u)], b_.load(r.exponentials, {b_.i(u), k}));
        sum = sum.valid() ? b_.add(sum, x) : x;
      }
      env[use.value] = k;
      b_.add_to(layout_.array.at(st.sums), terms_.array_indices(st.sums, st.at, env),
                b_.mul(sum, b_.load(layout_.exp_table.at(st.table), {element, k})));
    });
  });
}

std::optional<FusedCategory> Stages::dense_category(const ItemStage& stage, StageMode mode) const {
  const bool updates = mode == StageMode::update && stage.iterate;
  if (!stage.refresh || interface_.random_key.valid() || !(updates || mode == StageMode::refresh) ||
      stored(stage.blocks[0]))
    return std::nullopt;
  const bool alone = std::all_of(stage.blocks.begin() + 1, stage.blocks.end(), [&](BlockId b) {
    return stored(b) && !layout_.chains.contains(b) && !model::is_source(m_[s_.conditionals[b].variable]);
  });
  const FusedCategory s = fused_.plan_fused(stage, stage.blocks[0]);
  return alone && fused_.has_full_rows(s) ? std::optional(s) : std::nullopt;
}

void Stages::emit_full(const FullWork& f, StageMode mode, const IterationLimits& passes) {
  const ItemArrays in_the_end = mode == StageMode::update ? again(f.arrays) : f.arrays;
  b_.for_loop(
      b_.fresh("first"), f.begin, f.end,
      [&](ExprId first) {
        if (mode == StageMode::update) update_full(f, first, passes);
        // The arrays differ from those of the updates, so that the pass `guard-on-demand` can leave out what the ELBO
        // alone needs.
        const FullRows rows = fused_.full_rows(f.stream);
        const FusedVisit visit{in_the_end, true, mode};
        each_full(f, first, [&](ExprId u, ExprId item) { fused_.form_row(f.stream, rows, u, item); });
        fused_.visit_rows(f.stream, rows, first, f.end, visit);
        each_full(f, first, [&](ExprId u, ExprId item) {
          fused_.take_row(f.stream, rows, u, in_the_end);
          fused_.subtract_vector_means(f.stream, item, visit);
          emit_item_sums(f.stage, item, mode, in_the_end);
        });
      },
      false, kItems);
}

void Stages::each_full(const FullWork& f, ExprId first, const std::function<void(ExprId u, ExprId item)>& body) {
  b_.for_range("u", b_.i(0), b_.min(b_.i(kItems), b_.sub(f.end, first)),
               [&](ExprId u) { body(u, b_.let(b_.fresh(m_[f.stage.item].name), b_.add(first, u))); });
}

void Stages::update_full(const FullWork& f, ExprId first, const IterationLimits& passes) {
  const FullRows rows = fused_.full_rows(f.stream);
  const SizeId items = b_.constant_size("items together", kItems);
  const BufferId left = work_array("left", {items}), converged = work_array("settled", {items});
  b_.fill(left, b_.f(0));
  b_.fill(converged, b_.f(0));
  b_.for_loop(b_.fresh("pass"), b_.i(0), passes.iterations, [&](ExprId pass) {
    each_full(f, first, [&](ExprId u, ExprId item) { fused_.form_row(f.stream, rows, u, item); });
    fused_.visit_rows(f.stream, rows, first, f.end, {f.arrays, false, StageMode::update});
    const ScalarId going = b_.local(b_.fresh("going"), b_.f(0));
    each_full(f, first, [&](ExprId u, ExprId item) {
      // Items of the group converge at different passes: one that has left is not updated any more.
      b_.if_then(b_.equal(b_.load(left, {u}), b_.f(0)), [&] {
        fused_.take_row(f.stream, rows, u, f.arrays);
        const Change change{b_.local(b_.fresh("moved"), b_.f(0)), b_.local(b_.fresh("size"), b_.f(0))};
        emit_pass({f.stage, item, StageMode::update, f.arrays, {}, true, true}, false, change);
        const ExprId last = b_.logical_or(b_.equal(b_.load(converged, {u}), b_.f(1)),
                                          b_.equal(pass, b_.sub(passes.iterations, b_.i(1))));
        b_.store(left, {u}, b_.select(last, b_.f(1), b_.f(0)));
        const ExprId still = b_.less_equal(b_.get(change.moved), b_.mul(passes.tolerance, b_.get(change.size)));
        b_.store(converged, {u}, b_.select(still, b_.f(1), b_.f(0)));
        b_.accumulate(going, b_.sub(b_.f(1), b_.load(left, {u})));
      });
    });
    b_.break_if(b_.equal(b_.get(going), b_.f(0)));
  });
}

}  // namespace lehr::loops
