// The tempered normaliser, item by item. Each tempered statement gives a table over the discrete elements that it
// depends on (found by trial evaluation), at all temperatures together. Variable elimination sums the tables out.
//
// Equal work is done once: items that differ at most in the sizes of their rows are evaluated once for each combination
// of sizes; elements of a nested plate that are alike (tokens of a document) are evaluated once and raised to their
// number.
#include "compiler/evaluate/normaliser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "compiler/evaluate/forward_order.h"
#include "compiler/evaluate/over_temperatures.h"
#include "compiler/math/gamma_ratios.h"
#include "compiler/model/walk.h"
#include "runtime/rng.h"

namespace lehr {

using namespace model;

namespace {

/// Logarithms, by temperature.
using Logs = std::vector<double>;

/// If there are more items and they differ, so many of them represent all.
constexpr std::size_t kItems = 200;

/// Most joint states of discrete elements in one table, or in a sum over one element.
constexpr double kMostStates = 1 << 20;

/// Returns log(exp(a) + exp(b)).
double log_sum(double a, double b) {
  const double top = std::max(a, b);
  return std::isinf(top) ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
}

}  // namespace

/// A factor over discrete elements: its logarithm for every assignment of values (the last element fastest), at every
/// temperature.
struct TemperedNormaliser::Table {
  std::vector<Element> dims;
  std::vector<std::int64_t> sizes;
  std::vector<Logs> logs;

  /// Returns the number of assignments.
  double states() const {
    return std::accumulate(sizes.begin(), sizes.end(), 1.0,
                           [](double all, std::int64_t n) { return all * static_cast<double>(n); });
  }
  /// Returns the position of an assignment.
  std::size_t index(const std::map<Element, std::int64_t>& assignment) const {
    std::size_t out = 0;
    for (std::size_t k = 0; k < dims.size(); ++k)
      out = out * static_cast<std::size_t>(sizes[k]) + static_cast<std::size_t>(assignment.at(dims[k]));
    return out;
  }
};

namespace {

/// Calls `visit` for every assignment of values to `dims`, the last fastest.
void each_assignment(const std::vector<Element>& dims, const std::vector<std::int64_t>& sizes,
                     const std::function<void(const std::map<Element, std::int64_t>&)>& visit) {
  std::map<Element, std::int64_t> assignment;
  const std::function<void(std::size_t)> level = [&](std::size_t k) {
    if (k == dims.size()) {
      visit(assignment);
      return;
    }
    for (std::int64_t v = 0; v < sizes[k]; ++v) {
      assignment[dims[k]] = v;
      level(k + 1);
    }
  };
  level(0);
}

/// Sums out `e`: multiplies the tables that depend on it and adds the product up over its values. Returns false if the
/// result would be too large.
template <class Table>
bool eliminate(std::vector<Table>& tables, Element e, std::size_t temperatures) {
  std::vector<Table> with, rest;
  Table out;
  std::int64_t size = 1;
  for (Table& t : tables) {
    const auto at = std::find(t.dims.begin(), t.dims.end(), e);
    if (at == t.dims.end()) {
      rest.push_back(std::move(t));
      continue;
    }
    size = t.sizes[static_cast<std::size_t>(at - t.dims.begin())];
    for (std::size_t k = 0; k < t.dims.size(); ++k) {
      if (t.dims[k] == e || std::find(out.dims.begin(), out.dims.end(), t.dims[k]) != out.dims.end()) continue;
      out.dims.push_back(t.dims[k]);
      out.sizes.push_back(t.sizes[k]);
    }
    with.push_back(std::move(t));
  }
  if (out.states() * static_cast<double>(size) > kMostStates) return false;
  each_assignment(out.dims, out.sizes, [&](std::map<Element, std::int64_t> assignment) {
    Logs total(temperatures, -HUGE_VAL);
    for (std::int64_t v = 0; v < size; ++v) {
      assignment[e] = v;
      Logs product(temperatures, 0.0);
      for (const Table& t : with) {
        const Logs& logs = t.logs[t.index(assignment)];
        for (std::size_t m = 0; m < temperatures; ++m)
          product[m] += logs[m];
      }
      for (std::size_t m = 0; m < temperatures; ++m)
        total[m] = log_sum(total[m], product[m]);
    }
    out.logs.push_back(std::move(total));
  });
  rest.push_back(std::move(out));
  tables = std::move(rest);
  return true;
}

/// Sums out every element for which `wanted` holds, those with the fewest neighbours first. Returns the element at
/// which a table would be too large, or nothing.
template <class Table>
std::optional<Element> eliminate_all(std::vector<Table>& tables, const std::function<bool(Element)>& wanted,
                                     std::size_t temperatures) {
  for (;;) {
    std::map<Element, std::set<Element>> neighbours;
    for (const Table& t : tables) {
      for (const Element& e : t.dims) {
        if (wanted(e)) neighbours[e].insert(t.dims.begin(), t.dims.end());
      }
    }
    if (neighbours.empty()) return std::nullopt;
    const auto fewest = std::min_element(neighbours.begin(), neighbours.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    });
    if (!eliminate(tables, fewest->first, temperatures)) return fewest->first;
  }
}

}  // namespace

TemperedNormaliser::TemperedNormaliser(const Model& model, const schedule::Schedule& schedule, const BoundData& data,
                                       std::vector<double> temperatures)
    : model_(model),
      schedule_(schedule),
      data_(data),
      temperatures_(std::move(temperatures)),
      local_(model.variables.size()) {
  const conditionals::Conditionals& c = schedule.conditionals;
  for (std::size_t k = 0; k < model.variables.size(); ++k) {
    if (!model.variables[k].observed && c.block_of[k].valid()) local_[k] = schedule.local[c.block_of[k].index()];
  }
  for (std::size_t k = 0; k < c.density.origins.size(); ++k) {
    if (schedule.tempered[k] && c.density.origins[k].statement) statements_.push_back(*c.density.origins[k].statement);
  }
  for (StatementId s : statements_)
    equal_items_ =
        equal_items_ && !model[s].index_vars.empty() && !mentions(model[s], model[model[s].index_vars[0]].plate);
}

std::string TemperedNormaliser::unsupported_reason() const {
  if (!model_.potentials.empty()) return "its potentials have no density per item";
  if (!model_.joint_priors.empty()) return "the prior of variables that share a factor is of all of them together";
  for (const Variable& v : model_.variables) {
    if (v.auxiliary && !is_joint(v)) return fmt::format("'{}' is a bound, and not the density, of the data", v.name);
    if (v.clamped && !is_discrete(v.support))
      return fmt::format("some values of the continuous '{}' are known", v.name);
  }
  std::optional<PlateId> item;
  for (StatementId s : statements_) {
    const std::vector<PlateId>& axes = model_[model_[s].variable].axes;
    if (axes.empty()) return fmt::format("'{}' is not on a plate of items", model_[model_[s].variable].name);
    if (item && *item != axes[0]) return "its data are on more than one plate of items";
    item = axes[0];
    for (PlateId p : axes) {
      if (model_[p].times && mentions(model_[s], p))
        return fmt::format("the copies of '{}' have parameters of their own", model_[p].name);
    }
  }
  return {};
}

bool TemperedNormaliser::is_summed(const Statement& s) const {
  return local_[s.variable.index()] && is_discrete(model_[s.variable].support);
}

bool TemperedNormaliser::mentions(const Statement& s, PlateId plate) const {
  const auto direct = [&](const std::vector<Index>& indices) {
    return std::any_of(indices.begin(), indices.end(), [&](const Index& i) {
      const auto* b = std::get_if<Index::Shifted>(&i.form);
      return b && (model_[b->bound].plate == plate || b->offset != 0);
    });
  };
  for (const ExprId id : nodes_under(model_, roots_of(s))) {
    const auto& node = model_[id].node;
    if (const auto* g = std::get_if<GivenRef>(&node); g && direct(g->indices)) return true;
    if (const auto* c = std::get_if<Component>(&node); c && model_[c->at].plate == plate) return true;
    const auto* v = std::get_if<VariableRef>(&node);
    if (!v || !direct(v->indices)) continue;
    const Variable& var = model_[v->variable];
    const bool discrete = local_[v->variable.index()] && is_discrete(var.support);
    const bool lagged = std::any_of(v->indices.begin(), v->indices.end(), [](const Index& i) {
      const auto* b = std::get_if<Index::Shifted>(&i.form);
      return b && b->offset != 0;
    });
    if (!discrete || lagged) return true;
  }
  return false;
}

/// The temperatures of one computation, and results that many items share.
struct TemperedNormaliser::SharedResults {
  /// log E[x_k^(1/T)] of a Dirichlet element: of the sum over entries, and of each entry.
  struct Moments {
    Logs all;
    std::vector<Logs> entries;
  };
  const Concentrations& concentrations;
  const std::vector<double>& temperatures;
  // Tempered integrals, by family and parameters.
  std::map<std::pair<const math::FamilyRow*, std::vector<double>>, Logs> integrals = {};
  std::map<Element, Moments> moments = {};
  std::optional<VariableId> too_wide = {};  // a variable whose table is too large; if set, no other result is valid
};

const Logs& TemperedNormaliser::moments(Element e, std::optional<std::size_t> k, std::size_t width,
                                        SharedResults& cache) const {
  SharedResults::Moments& out = cache.moments[e];
  if (k && !out.entries.empty()) return out.entries[*k];
  if (!k && !out.all.empty()) return out.all;
  // With C the sum of the concentrations c and b = 1 / T, E[x_k^b] = Gamma(c_k + b) / Gamma(c_k) * Gamma(C) / Gamma(C +
  // b).
  const std::span<const double> c =
      std::span(cache.concentrations[e.variable.index()]).subspan(e.position * width, width);
  const double sum = std::accumulate(c.begin(), c.end(), 0.0);
  const math::GammaRatios ratios(c), of_sum({&sum, 1});
  if (k) out.entries.resize(width);
  for (double t : cache.temperatures) {
    const double shared = -std::log(of_sum(1 / t)[0]);
    const std::vector<double> x = ratios(1 / t);
    if (!k) out.all.push_back(std::log(std::accumulate(x.begin(), x.end(), 0.0)) + shared);
    for (std::size_t j = 0; k && j < width; ++j)
      out.entries[j].push_back(std::log(x[j]) + shared);
  }
  return k ? out.entries[*k] : out.all;
}

/// Returns log p(value) / T for a discrete local variable, otherwise the log of the integral of the tempered density. A
/// location parameter does not change that integral and is replaced by 0.
Logs TemperedNormaliser::tempered(ModelEvaluator& f, const Statement& s, const IndexValues& at,
                                  SharedResults& cache) const {
  const math::FamilyRow& row = *f.distribution(s, at).family;
  const bool own = is_summed(s);
  const Element self = f.element(s, at);
  Logs out;
  if (const math::AtValue* look_up = math::categorical_lookup(row)) {
    for (const Parameter& p : f.distribution(s, at).parameters) {
      if (p.spelling->name != look_up->vector) continue;
      const std::optional<Element> e = f.named(p.value, at);
      if (f.unknown()) return out;
      if (e && cache.concentrations.size() > e->variable.index() &&
          !cache.concentrations[e->variable.index()].empty()) {
        const auto k = own ? std::optional(static_cast<std::size_t>(f.values(self)[0])) : std::nullopt;
        return moments(*e, k, f.width(e->variable), cache);
      }
    }
  }
  if (own) {
    const double log_p = f.log_density(s, at);
    for (double t : cache.temperatures)
      out.push_back(log_p / t);
    return out;
  }
  math::Environment spelled{f.extent(s.variable), {}};
  std::map<std::string, math::Quantity> location;
  for (const Parameter& p : f.distribution(s, at).parameters) {
    if (std::find(row.location.begin(), row.location.end(), p.spelling->canonical) != row.location.end()) {
      location[p.spelling->canonical] = {0, {0.0}};
      continue;
    }
    const Tensor x = f.value(p.value, at);
    spelled.symbols[p.spelling->name] = {static_cast<int>(x.shape.size()), x.values};
  }
  math::Environment parameters{spelled.extent, math::canonical_parameters(row, spelled)};
  parameters.symbols.insert(location.begin(), location.end());
  if (f.unknown()) return out;
  // A multinomial without an explicit total has that of the data.
  for (const math::Spelling& x : row.spellings) {
    const std::span<const double> own_value = f.values(self);
    if (x.optional && !parameters.symbols.contains(x.canonical))
      parameters.symbols[x.canonical] = {0, {std::accumulate(own_value.begin(), own_value.end(), 0.0)}};
  }
  Logs& integral = cache.integrals[{&row, math::flatten_parameters(row, parameters)}];
  if (integral.empty()) {
    for (double t : cache.temperatures)
      integral.push_back(math::tempered_log_normaliser(row, parameters, t));
  }
  return integral;
}

TemperedNormaliser::Table TemperedNormaliser::factor(ModelEvaluator& f, const Statement& s, const IndexValues& at,
                                                     SharedResults& cache) const {
  Table t;
  const auto add = [&](Element e) {
    t.dims.push_back(e);
    t.sizes.push_back(static_cast<std::int64_t>(f.states(e.variable)));
    if (t.states() > kMostStates) cache.too_wide = s.variable;
  };
  if (is_summed(s)) add(f.element(s, at));
  // Each trial evaluation that misses a discrete element adds it to the table's dimensions.
  for (bool complete = false; !complete && !cache.too_wide;) {
    complete = true;
    t.logs.clear();
    each_assignment(t.dims, t.sizes, [&](const std::map<Element, std::int64_t>& assignment) {
      if (!complete) return;
      for (const auto& [e, v] : assignment)
        f.values(e)[0] = f.state(e.variable, static_cast<std::size_t>(v));
      f.clear();
      Logs logs = tempered(f, s, at, cache);
      if (f.unknown()) {
        complete = false;
        add(*f.unknown());
      } else {
        t.logs.push_back(std::move(logs));
      }
    });
    for (const Element& e : t.dims)
      f.values(e)[0] = std::nan("");
  }
  return t;
}

std::vector<double> TemperedNormaliser::of_item(ModelEvaluator& f, std::int64_t item, SharedResults& cache) const {
  const auto sum_out = [&](std::vector<Table>& tables, const std::function<bool(Element)>& wanted) {
    if (cache.too_wide) return false;
    if (const auto stuck = eliminate_all(tables, wanted, cache.temperatures.size())) cache.too_wide = stuck->variable;
    return !cache.too_wide;
  };
  Logs out(cache.temperatures.size(), 0.0);
  std::vector<Table> tables;
  std::map<PlateId, std::vector<StatementId>> lifted;  // by nested plate whose elements are alike
  for (StatementId s : statements_) {
    const std::vector<IndexVarId>& bounds = model_[s].index_vars;
    const PlateId inner = bounds.size() == 2 ? model_[bounds[1]].plate : PlateId();
    // Elements of the inner plate are alike if no density depends on their position.
    const bool alike = bounds.size() == 2 && model_[inner].parent &&
                       std::none_of(statements_.begin(), statements_.end(),
                                    [&](StatementId other) { return mentions(model_[other], inner); });
    IndexValues at = f.origin();
    at[bounds[0].index()] = item;
    if (alike) lifted[inner].push_back(s);
    else
      f.each(
          bounds, at, [&] { tables.push_back(factor(f, model_[s], at, cache)); }, std::pair(bounds[0], item));
  }
  for (const auto& [plate, statements] : lifted) {
    const std::int64_t first = data_.offsets[plate.index()][static_cast<std::size_t>(item)];
    const std::int64_t past = data_.offsets[plate.index()][static_cast<std::size_t>(item) + 1];
    if (first == past) continue;
    std::vector<Table> one;
    for (StatementId s : statements) {
      IndexValues at = f.origin();
      at[model_[s].index_vars[0].index()] = item;
      at[model_[s].index_vars[1].index()] = first;
      one.push_back(factor(f, model_[s], at, cache));
    }
    const bool done = sum_out(one, [&, plate = plate](Element e) {
      const auto& axes = model_[e.variable].axes;
      return axes.size() == 2 && axes[1] == plate;
    });
    if (!done) return out;
    const double all = copies(plate, first, past);
    for (Table& t : one) {
      for (Logs& logs : t.logs) {
        for (double& x : logs)
          x *= all;
      }
      tables.push_back(std::move(t));
    }
  }
  if (!sum_out(tables, [](Element) { return true; })) return out;
  for (const Table& t : tables) {
    for (std::size_t m = 0; m < out.size(); ++m)
      out[m] += t.logs.at(0)[m];
  }
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
  if (statements_.empty()) return out;
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

std::vector<double> TemperedNormaliser::of_all(ModelEvaluator& f, std::span<const std::int64_t> sample,
                                               SharedResults& cache) const {
  Logs out(cache.temperatures.size(), 0.0);
  if (statements_.empty()) return out;
  const std::vector<double> all_copies = copies();
  const auto items = static_cast<std::int64_t>(all_copies.size());
  std::vector<std::int64_t> used;
  std::vector<double> counts;
  if (equal_items_) {
    std::map<std::vector<double>, std::size_t> kinds;
    for (std::int64_t i = 0; i < items; ++i) {
      const auto [kind, fresh] = kinds.try_emplace(row_sizes(i), used.size());
      if (fresh) {
        used.push_back(i);
        counts.push_back(0);
      }
      counts[kind->second] += all_copies[static_cast<std::size_t>(i)];
    }
  } else {  // every item counts once: unsupported_reason() excludes copies whose parameters differ
    const std::vector<std::int64_t> all = sample.empty() ? all_items() : std::vector<std::int64_t>();
    if (sample.empty()) sample = all;
    const std::size_t n = std::min(sample.size(), kItems);
    for (std::size_t k = 0; k < n; ++k)
      used.push_back(sample[k * sample.size() / n]);
    counts.assign(n, static_cast<double>(items) / static_cast<double>(n));
  }
  const std::vector<Logs> logs = of_items(f, used, cache);
  for (std::size_t k = 0; k < used.size(); ++k) {
    for (std::size_t m = 0; m < out.size(); ++m)
      out[m] += counts[k] * logs[k][m];
  }
  return out;
}

std::string TemperedNormaliser::unsupported_reason(ModelEvaluator& values, bool every_item) const {
  const Concentrations none;
  const std::vector<double> plain = {1};
  SharedResults cache{none, plain};
  if (every_item) of_items(values, all_items(), cache);
  else of_all(values, {}, cache);
  if (!cache.too_wide) return {};
  return fmt::format("its normaliser is a sum over more than {} states of discrete variables together, for '{}'",
                     static_cast<std::int64_t>(kMostStates), model_[*cache.too_wide].name);
}

std::vector<double> TemperedNormaliser::at(ModelEvaluator& f, std::span<const std::int64_t> items,
                                           const Concentrations& concentrations) const {
  SharedResults cache{concentrations, temperatures_};
  return of_all(f, items, cache);
}

std::vector<double> TemperedNormaliser::interpolated_at(ModelEvaluator& f, std::span<const std::int64_t> items,
                                                        const Concentrations& concentrations) const {
  return interpolate_over_temperatures(temperatures_, [&](const std::vector<double>& temperatures) {
    SharedResults cache{concentrations, temperatures};
    return FunctionsOfTemperature{of_all(f, items, cache)};
  })[0];
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
          const math::FamilyRow& row = *f.distribution(s, at).family;
          if (!row.draw) return;
          const math::Environment parameters = f.parameters(s, at);
          const std::vector<double> x = row.draw(math::flatten_parameters(row, parameters), parameters.extent, rng);
          std::ranges::copy(x, f.values(f.element(s, at)).begin());
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
    out.error.push_back(std::sqrt(std::max(0.0, square / (mean * mean) - 1) / static_cast<double>(draws)));
  }
  return out;
}

}  // namespace lehr
