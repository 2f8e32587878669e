// The tempered normaliser, item by item, or of all items together where discrete variables or potentials connect them.
// Each tempered statement gives a table over the discrete elements that it depends on (normaliser_factors.cpp), at all
// temperatures together. Variable elimination sums the tables out.
//
// Equal work is done once: items that differ at most in the sizes of their rows are evaluated once for each combination
// of sizes; elements of a nested plate that are alike (tokens of a document) are evaluated once and raised to their
// number; a sum over connected items is cached for as long as its tables stay the same.
#include "compiler/evaluate/normaliser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "compiler/evaluate/draw_values.h"
#include "compiler/evaluate/forward_order.h"
#include "compiler/evaluate/over_temperatures.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "runtime/rng.h"

namespace lehr {

using namespace model;

namespace {

/// If there are more items and they differ, so many of them represent all.
constexpr std::size_t kItems = 2000;

/// Adds the numbers of `more`, times `copies`, to `out`.
void add(Logs& out, const Logs& more, double copies = 1) {
  for (std::size_t m = 0; m < out.size(); ++m)
    out[m] += copies * more[m];
}

}  // namespace

TemperedNormaliser::TemperedNormaliser(const Model& model, const schedule::Schedule& schedule, const BoundData& data,
                                       std::vector<double> temperatures)
    : model_(model),
      data_(data),
      temperatures_(std::move(temperatures)),
      local_(model.variables.size()),
      integrated_(model.variables.size()) {
  const conditionals::Conditionals& c = schedule.conditionals;
  for (std::size_t k = 0; k < model.variables.size(); ++k) {
    if (!model.variables[k].observed && c.block_of[k].valid()) local_[k] = schedule.local[c.block_of[k].index()];
  }
  for (std::size_t k = 0; k < c.density.origins.size(); ++k) {
    if (!schedule.tempered[k] || !c.density.origins[k].statement) continue;
    statements_.push_back(*c.density.origins[k].statement);
    integrated_[model[statements_.back()].variable.index()] = true;
  }
  const std::string items = why_connected();
  connected_ = !items.empty();
  for (StatementId s : statements_) {
    equal_items_ = equal_items_ && !model[s].index_vars.empty() && !may_lack_terms(model[s].variable) &&
                   !mentions(model[s], model[model[s].index_vars[0]].plate);
  }
}

bool TemperedNormaliser::may_lack_terms(VariableId v) const {
  return (model_[v].observed && data_.observed[v.index()].has_missing) || mask_of(model_, model_[v]);
}

std::string TemperedNormaliser::why_connected() const {
  if (!model_.potentials.empty()) return "its potentials connect items";
  std::optional<PlateId> item;
  for (StatementId id : statements_) {
    const Statement& s = model_[id];
    const Variable& v = model_[s.variable];
    if (v.axes.empty()) return fmt::format("'{}' is not on a plate of items", v.name);
    if (item && *item != model_[v.axes[0]].set) return "its data and their local variables are on several plates";
    item = model_[v.axes[0]].set;
    for (const VariableRef* r : references_under(model_, roots_of(s))) {
      if (model_[r->variable].observed || !is_discrete(model_[r->variable].support)) continue;
      const auto* at = r->indices.empty() ? nullptr : std::get_if<Index::Shifted>(&r->indices[0].form);
      if (!at || at->bound != s.index_vars[0] || at->offset != 0)
        return fmt::format("'{}' connects elements of '{}'", model_[r->variable].name, model_[*item].name);
    }
  }
  return {};
}

/// Returns true if a latent number has limits that are no data. Limits from data are its observation, an interval: over
/// all of them, it is any number.
static bool is_truncated(const Model& m, const Statement& s) {
  std::vector<ExprId> limits;
  for (const std::optional<ExprId>& limit : {s.limits.above, s.limits.below})
    if (limit) limits.push_back(*limit);
  return !limits.empty() && std::ranges::none_of(nodes_under(m, limits), [&](ExprId id) {
    return std::holds_alternative<GivenRef>(m[id].node);
  });
}

std::string TemperedNormaliser::unsupported_reason() const {
  if (!model_.joint_priors.empty()) return "the prior of variables that share a factor is of all of them together";
  for (const Potential& p : model_.potentials) {
    for (const VariableRef* r : references_under(model_, {p.value})) {
      if (integrated_[r->variable.index()] && !is_summed(r->variable))
        return fmt::format("a potential depends on '{}', over which it has no integral", model_[r->variable].name);
    }
  }
  for (StatementId id : statements_) {
    const Statement& s = model_[id];
    for (const Distribution* d : distributions_of(s)) {
      const bool observed = model_[s.variable].observed;
      if (observed ? s.limits.any() && !d->family->gaussian : is_truncated(model_, s))
        return fmt::format("the integral of powers of '{}', which is {}, is not known", model_[s.variable].name,
                           observed ? "censored" : "truncated");
    }
    // Copies of a discrete element are summed over one by one, which takes tokens that are alike, or whole items.
    const std::vector<PlateId>& axes = model_[s.variable].axes;
    for (std::size_t k = connected_ ? 0 : 1; k < axes.size() && is_summed(s.variable); ++k) {
      if (model_[axes[k]].times && (connected_ || !are_alike(axes[k])))
        return fmt::format("the copies of '{}' have parameters of their own", model_[axes[k]].name);
    }
  }
  return {};
}

bool TemperedNormaliser::are_alike(PlateId inner) const {
  return model_[inner].parent && std::ranges::none_of(statements_, [&](StatementId id) {
           const std::vector<PlateId>& axes = model_[model_[id].variable].axes;
           const bool on = axes.size() == 2 && axes[1] == inner;
           return mentions(model_[id], inner) || (on && may_lack_terms(model_[id].variable));
         });
}

bool TemperedNormaliser::sum_tables(std::vector<TemperedTable>& tables, const std::function<bool(Element)>& wanted,
                                    SharedResults& cache) const {
  if (!cache.refused.empty()) return false;
  if (const auto stuck = sum_out(tables, wanted, cache.temperatures.size())) cache.too_wide(model_[stuck->variable]);
  return cache.refused.empty();
}

Logs TemperedNormaliser::of_item(ModelEvaluator& f, std::int64_t item, SharedResults& cache) const {
  Logs out(cache.temperatures.size(), 0.0);
  std::vector<TemperedTable> tables;
  std::map<PlateId, std::vector<StatementId>> lifted;  // by nested plate whose elements are alike
  for (StatementId s : statements_) {
    const std::vector<IndexVarId>& bounds = model_[s].index_vars;
    const PlateId inner = bounds.size() == 2 ? model_[bounds[1]].plate : PlateId();
    if (bounds.size() == 2 && are_alike(inner)) lifted[inner].push_back(s);
    else append_factors(f, s, std::pair(bounds[0], item), tables, cache);
  }
  for (const auto& [plate, statements] : lifted) {
    const std::int64_t first = data_.offsets[plate.index()][static_cast<std::size_t>(item)];
    const std::int64_t past = data_.offsets[plate.index()][static_cast<std::size_t>(item) + 1];
    if (first == past) continue;
    std::vector<TemperedTable> one;
    for (StatementId s : statements) {
      IndexValues at = f.origin();
      at[model_[s].index_vars[0].index()] = item;
      at[model_[s].index_vars[1].index()] = first;
      one.push_back(factor(f, s, at, cache));
    }
    const bool done = sum_tables(
        one,
        [&, plate = plate](Element e) {
          const auto& axes = model_[e.variable].axes;
          return axes.size() == 2 && axes[1] == plate;
        },
        cache);
    if (!done) return out;
    const double all = copies(plate, first, past);
    for (TemperedTable& t : one) {
      for (Logs& logs : t.logs) {
        for (double& x : logs)
          x *= all;
      }
      tables.push_back(std::move(t));
    }
  }
  if (!sum_tables(
          tables, [](Element) { return true; }, cache))
    return out;
  for (const TemperedTable& t : tables)
    add(out, t.logs.at(0));
  return out;
}

Logs TemperedNormaliser::of_connected(ModelEvaluator& f, SharedResults& cache) const {
  Logs out(cache.temperatures.size(), 0.0);
  std::vector<TemperedTable> tables;
  for (StatementId s : statements_)
    append_factors(f, s, {}, tables, cache);
  for (const Potential& p : model_.potentials)
    append_potential(f, p, tables, cache);
  std::erase_if(tables, [&](const TemperedTable& t) {
    if (t.dims.empty()) add(out, t.logs.at(0));
    return t.dims.empty();
  });
  CachedSum& cached = cached_sums_[cache.temperatures];
  if (cached.tables != tables || cached.log_c.empty()) {
    cached.tables = tables;
    cached.log_c.assign(out.size(), 0.0);
    if (!sum_tables(
            tables, [](Element) { return true; }, cache)) {
      cached = {};
      return out;
    }
    for (const TemperedTable& t : tables)
      add(cached.log_c, t.logs.at(0));
  }
  add(out, cached.log_c);
  return out;
}

/// Sums the multiplicities of elements first .. past - 1.
double TemperedNormaliser::copies(PlateId plate, std::int64_t first, std::int64_t past) const {
  const auto& times = model_[plate].times;
  if (!times || data_.givens[times->index()].values.empty()) return static_cast<double>(past - first);
  const auto& counts = data_.givens[times->index()].values;
  return std::accumulate(counts.begin() + first, counts.begin() + past, 0.0);
}

std::vector<double> TemperedNormaliser::copies() const {
  std::vector<double> out;
  if (statements_.empty() || connected_) return out;
  const PlateId plate = model_[model_[statements_[0]].variable].axes[0];
  for (std::int64_t i = 0; i < data_.sizes[plate.index()]; ++i)
    out.push_back(copies(plate, i, i + 1));
  return out;
}

std::vector<std::int64_t> TemperedNormaliser::all_items() const {
  std::vector<std::int64_t> out(copies().size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// Returns the item's row length, and the copies in the row, for each nested plate.
std::vector<double> TemperedNormaliser::row_sizes(std::int64_t item) const {
  const PlateId plate = model_[model_[statements_[0]].variable].axes[0];
  std::vector<double> out;
  for (std::size_t p = 0; p < model_.plates.size(); ++p) {
    if (model_.plates[p].set != PlateId(p) || model_.plates[p].parent != plate) continue;
    const std::int64_t first = data_.offsets[p][static_cast<std::size_t>(item)];
    const std::int64_t past = data_.offsets[p][static_cast<std::size_t>(item) + 1];
    out.push_back(static_cast<double>(past - first));
    out.push_back(copies(PlateId(p), first, past));
  }
  return out;
}

std::vector<Logs> TemperedNormaliser::of_items(ModelEvaluator& f, std::span<const std::int64_t> items,
                                               SharedResults& cache) const {
  std::map<std::vector<double>, Logs> kinds;  // results by row sizes, if items differ in nothing else
  std::vector<Logs> out;
  for (std::int64_t i : items) {
    if (!equal_items_) {
      out.push_back(of_item(f, i, cache));
      continue;
    }
    Logs& kind = kinds[row_sizes(i)];
    if (kind.empty()) kind = of_item(f, i, cache);
    out.push_back(kind);
  }
  return out;
}

Logs TemperedNormaliser::of_all(ModelEvaluator& f, std::span<const std::int64_t> sample, SharedResults& cache,
                                SampleSums* sums) const {
  Logs out(cache.temperatures.size(), 0.0);
  if (connected_) return of_connected(f, cache);
  if (statements_.empty()) return out;
  const std::vector<double> all_copies = copies();
  std::vector<std::int64_t> used;
  std::vector<double> counts;
  if (equal_items_) {
    std::map<std::vector<double>, std::size_t> kinds;
    for (std::size_t i = 0; i < all_copies.size(); ++i) {
      const auto [kind, fresh] = kinds.try_emplace(row_sizes(static_cast<std::int64_t>(i)), used.size());
      if (fresh) {
        used.push_back(static_cast<std::int64_t>(i));
        counts.push_back(0);
      }
      counts[kind->second] += all_copies[i];
    }
  } else {
    const std::vector<std::int64_t> all = sample.empty() ? all_items() : std::vector<std::int64_t>();
    if (sample.empty()) sample = all;
    const std::size_t n = std::min(sample.size(), kItems);
    double copies_of_used = 0;
    for (std::size_t k = 0; k < n; ++k) {
      used.push_back(sample[k * sample.size() / n]);
      counts.push_back(all_copies[static_cast<std::size_t>(used.back())]);
      copies_of_used += counts.back();
    }
    const double scale = std::accumulate(all_copies.begin(), all_copies.end(), 0.0) / std::max(copies_of_used, 1e-300);
    if (sums && n > 1 && n < all_copies.size()) {
      const double drawn = static_cast<double>(n), share = drawn / static_cast<double>(all_copies.size());
      sums->variance = scale * scale * drawn / (drawn - 1) * (1 - share);
      sums->first = sums->second = out;
    }
    for (double& x : counts)
      x *= scale;
  }
  const std::vector<Logs> logs = of_items(f, used, cache);
  for (std::size_t k = 0; k < used.size(); ++k) {
    add(out, logs[k], counts[k]);
    if (!sums || sums->variance == 0) continue;
    const double square = std::pow(all_copies[static_cast<std::size_t>(used[k])], 2);
    sums->squares += square;
    for (std::size_t m = 0; m < out.size(); ++m) {
      sums->first[m] += square * logs[k][m];
      sums->second[m] += square * logs[k][m] * logs[k][m];
    }
  }
  return out;
}

std::string TemperedNormaliser::unsupported_reason(ModelEvaluator& values, bool every_item) const {
  if (every_item && connected_) return why_connected();
  const Concentrations none;
  const std::vector<double> plain = {1};
  SharedResults cache{none, plain};
  if (every_item) of_items(values, all_items(), cache);
  else of_all(values, {}, cache);
  return cache.refused;
}

std::vector<double> TemperedNormaliser::at(ModelEvaluator& f, std::span<const std::int64_t> items,
                                           const Concentrations& concentrations) const {
  SharedResults cache{concentrations, temperatures_};
  return of_all(f, items, cache);
}

TemperedNormaliser::Estimate TemperedNormaliser::interpolated_at(ModelEvaluator& f, std::span<const std::int64_t> items,
                                                                 const Concentrations& concentrations) const {
  SampleSums sample;
  const FunctionsOfTemperature all =
      interpolate_over_temperatures(temperatures_, [&](const std::vector<double>& temperatures) {
        SharedResults cache{concentrations, temperatures};
        sample = {};
        FunctionsOfTemperature out{of_all(f, items, cache, &sample)};
        if (sample.variance > 0) out.insert(out.end(), {sample.first, sample.second});
        return out;
      });
  Estimate out{all[0], {}};
  const std::vector<double> each = copies();
  const double all_copies = std::accumulate(each.begin(), each.end(), 0.0);
  for (std::size_t m = 0; sample.variance > 0 && m < temperatures_.size(); ++m) {
    // log C(T) of the items is the copies times its mean by copy; residuals are from that mean.
    const double mean = out.log_c[m] / all_copies;
    const double residuals = all[2][m] - 2 * mean * all[1][m] + mean * mean * sample.squares;
    out.error.push_back(std::sqrt(sample.variance * std::max(residuals, 0.0)));  // a NaN stays one
  }
  return out;
}

std::vector<Logs> TemperedNormaliser::by_item(ModelEvaluator& f, std::span<const std::int64_t> items,
                                              const Concentrations& concentrations) const {
  return interpolate_over_temperatures(temperatures_, [&](const std::vector<double>& temperatures) {
    SharedResults cache{concentrations, temperatures};
    return of_items(f, items, cache);
  });
}

TemperedNormaliser::Estimate TemperedNormaliser::under_prior(std::size_t draws, std::uint64_t seed) const {
  Rng rng(seed, 0x7E3);
  std::vector<Logs> all;
  for (std::size_t d = 0; d < draws; ++d) {
    ModelEvaluator f(model_, data_);
    for (const DrawGroup& group : draw_order(model_)) {
      for (StatementId id : group.statements) {
        const Statement& s = model_[id];
        if (model_[s.variable].observed || (local_[s.variable.index()] && is_discrete(model_[s.variable].support)))
          continue;
        IndexValues at = f.origin();
        f.each(s.index_vars, at, [&] {
          if (!f.distribution(s, at).family->draw) return;
          std::ranges::copy(draw_once(f, s, at, f.parameters(s, at), rng), f.values(f.element(s, at)).begin());
        });
      }
    }
    all.push_back(at(f));
  }
  Estimate out;
  for (std::size_t m = 0; m < temperatures_.size(); ++m) {
    double top = -HUGE_VAL, mean = 0, square = 0;
    for (const Logs& l : all)
      top = std::max(top, l[m]);
    for (const Logs& l : all) {
      const double w = std::exp(l[m] - top);
      mean += w / static_cast<double>(draws);
      square += w * w / static_cast<double>(draws);
    }
    out.log_c.push_back(top + std::log(mean));
    // In this order a NaN stays one.
    out.error.push_back(std::sqrt(std::max(square / (mean * mean) - 1, 0.0) / static_cast<double>(draws)));
  }
  return out;
}

}  // namespace lehr
