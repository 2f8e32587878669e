// Cached sums over items (schedule.h, Statistic::is_cached). A matrix factorisation has the term
//
//     sum(n) -1/2 tau U[user[n]]^2 V[item[n]]^2  =  -1/2 tau * S,   S = sum(n) E[U[user[n]]^2] E[V[item[n]]^2]
//
// The update of tau and the ELBO read S. It stays valid until U or V is updated, which clears a flag. Before a function
// that reads S, the caller has S formed if the flag is 0. Sums over the same factors share a flag and one function.
#include <algorithm>

#include "compiler/lower/stages/lowering.h"
#include "compiler/model/roles.h"
#include "runtime/threshold.h"

namespace lehr::loops {

using schedule::Statistic;

namespace {

/// The least length of a loop along which partial sums are held in an array.
constexpr Threshold<std::int64_t> kFewLanes("lower_cached_sums.few_lanes", 4);
/// The greatest length of such a loop.
constexpr Threshold<std::int64_t> kMostLanes("lower_cached_sums.most_lanes", 64);

}  // namespace

/// A cached sum. One without axes is added up in a scalar, each item for itself first; others are added to their
/// arrays.
struct Lowering::CachedSum {
  const Statistic* sum;
  std::vector<IndexVarId> items;  // index variables whose loops all sums share
  ScalarId total;                 // the sum, if it has no axes
};

/// Partial sums along the last loop make it a vector operation: the outer loops do not wait for the sum over it each
/// time.
std::optional<IndexVarId> Lowering::lanes_of(const CachedSum& x) const {
  const auto length = [&](IndexVarId b) { return constant_length(a_[b].plate); };
  std::vector<IndexVarId> inside;
  for (IndexVarId b : x.sum->inner.index_vars)
    if (std::ranges::find(x.items, b) == x.items.end()) inside.push_back(b);
  const auto fits = [&](IndexVarId b) {
    return !a_[b].parent && length(b) >= options_.thresholds[kFewLanes] && length(b) <= options_.thresholds[kMostLanes];
  };
  const bool plain = std::ranges::all_of(x.sum->inner.guards, [](const Guard& g) { return g.present.has_value(); });
  return inside.size() > 1 && plain && fits(inside.back()) ? std::optional(inside.back()) : std::nullopt;
}

void Lowering::add_item(const CachedSum& x, const Env& items) {
  const Statistic& s = *x.sum;
  const auto emit = [&](std::optional<IndexVarId> innermost, const std::function<void(ExprId, const Env&)>& leaf) {
    terms_.emit(s.inner, terms_.factors({&s.inner}, {}), {}, items, innermost, leaf);
  };
  if (!s.at.empty()) {
    return emit(std::nullopt, [&](ExprId value, const Env& env) {
      b_.add_to(layout_.array.at(s.sums), terms_.array_indices(s.sums, s.at, env), value);
    });
  }
  const ScalarId part = b_.local(b_.fresh("part"), b_.f(0));
  if (const std::optional<IndexVarId> along = lanes_of(x)) {
    const SizeId size = layout_.size[m_[a_[*along].plate].set.index()];
    const BufferId lanes = b_.local_array(b_.fresh("lanes."), std::vector{size});
    b_.fill(lanes, b_.f(0));
    emit(along, [&](ExprId value, const Env& env) { b_.add_to(lanes, {env.at(*along)}, value); });
    b_.for_range("lane", b_.i(0), b_.extent(size), [&](ExprId k) { b_.accumulate(part, b_.load(lanes, {k})); });
  } else {
    emit(std::nullopt, [&](ExprId value, const Env&) { b_.accumulate(part, value); });
  }
  b_.accumulate(x.total, b_.get(part));
}

void Lowering::emit_cached_body(const CachedGroup& group) {
  const auto is_item = [&](IndexVarId b) { return !a_[b].parent && model::is_item_plate(m_, m_[a_[b].plate].set); };
  std::map<std::vector<model::PlateId>, std::vector<CachedSum>> alike;  // sums by the plates of their loops over items
  for (const Statistic* s : group.sums) {
    CachedSum x{s, {}, {}};
    std::ranges::copy_if(s->inner.index_vars, std::back_inserter(x.items), is_item);
    if (s->at.empty()) x.total = b_.local(b_.fresh("total"), b_.f(0));
    else b_.fill(layout_.array.at(s->sums), b_.f(0));
    std::vector<model::PlateId> plates;
    for (IndexVarId b : x.items)
      plates.push_back(m_[a_[b].plate].set);
    alike[plates].push_back(std::move(x));
  }
  for (const auto& [plates, sums] : alike) {
    terms_.for_elements(plates, [&](const std::vector<ExprId>& at) {
      for (const CachedSum& x : sums) {
        Env items;
        for (std::size_t k = 0; k < at.size(); ++k)
          items[x.items[k]] = at[k];
        add_item(x, items);
      }
    });
  }
  for (const auto& [plates, sums] : alike) {
    for (const CachedSum& x : sums)
      if (x.sum->at.empty()) b_.store(layout_.array.at(x.sum->sums), {}, b_.get(x.total));
  }
  b_.store(group.cached.valid_flag, {}, b_.f(1));
}

void Lowering::emit_cached() {
  for (std::size_t k = 0; k < layout_.cached_groups.size(); ++k)
    layout_.cached_groups[k].cached.function =
        b_.function("sum.kept" + std::to_string(k), [&] { emit_cached_body(layout_.cached_groups[k]); });
}

void Lowering::require_cached(std::size_t position, const ArrayTerm& term) {
  for (const CachedGroup& group : layout_.cached_groups) {
    const auto reads = [&](const Statistic* s) { return term.array == s->sums; };
    const auto& required = b_.program().functions[position].cached;
    if (std::ranges::any_of(group.sums, reads) &&
        std::ranges::find(required, group.cached.valid_flag, &CachedSums::valid_flag) == required.end())
      b_.require_cached(position, group.cached);
  }
}

void Lowering::invalidate_cached(std::optional<BlockId> block) {
  for (const CachedGroup& group : layout_.cached_groups)
    if (!block || group.blocks.contains(*block)) b_.store(group.cached.valid_flag, {}, b_.f(0));
}

}  // namespace lehr::loops
