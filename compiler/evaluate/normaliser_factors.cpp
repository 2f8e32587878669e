// The factors of the tempered normaliser: the tempered integral of each observed or continuous element, the tempered
// probability of each value of a discrete one, and the tempered value of each potential. The discrete elements that a
// factor depends on are found by trial evaluation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "compiler/evaluate/log_sum_exp.h"
#include "compiler/evaluate/normaliser.h"
#include "compiler/math/gamma_ratios.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/support/overloaded.h"

namespace lehr {

using namespace model;

namespace {

/// Returns the values of the summands into which an entry of an expression expands, as the density expands it: sums,
/// inner products and products of sums.
std::vector<double> summands(const ModelEvaluator& f, ExprId id, IndexValues& at, std::size_t i = 0) {
  const Model& m = f.model();
  const auto single = [&] { return std::vector<double>{f.entry(id, at, i)}; };
  const auto times = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> out;
    for (const double x : a) {
      for (const double y : b)
        out.push_back(x * y);
    }
    return out;
  };
  return std::visit(
      Overloaded{[&](const Binary& b) {
                   if (b.op != BinaryOp::add && b.op != BinaryOp::multiply) return single();
                   std::vector<double> left = summands(f, b.left, at, m[b.left].shape.empty() ? 0 : i);
                   const std::vector<double> right = summands(f, b.right, at, m[b.right].shape.empty() ? 0 : i);
                   if (b.op == BinaryOp::multiply) return times(left, right);
                   left.insert(left.end(), right.begin(), right.end());
                   return left;
                 },
                 [&](const SumOver& s) {
                   std::vector<double> out;
                   f.each(s.index_vars, at, [&] {
                     const std::vector<double> more = summands(f, s.body, at, i);
                     out.insert(out.end(), more.begin(), more.end());
                   });
                   return out;
                 },
                 [&](const Dot& d) {
                   std::vector<double> out;
                   for (std::size_t k = 0; k < f.extent_of(d.left, 0); ++k) {
                     const std::vector<double> more = times(summands(f, d.left, at, k), summands(f, d.right, at, k));
                     out.insert(out.end(), more.begin(), more.end());
                   }
                   return out;
                 },
                 [&](const auto&) { return single(); }},
      m[id].node);
}

/// Returns the log of the sum over k of x_k^b.
double log_power_sum(const std::vector<double>& x, double b) {
  std::vector<double> logs;
  for (const double v : x)
    logs.push_back(b * std::log(v));
  return log_sum_exp(logs);
}

}  // namespace

void TemperedNormaliser::SharedResults::too_wide(const Variable& v) {
  refused = fmt::format("its normaliser is a sum over more than {} states of discrete variables together, for '{}'",
                        static_cast<std::int64_t>(kMostStates), v.name);
}

bool TemperedNormaliser::is_summed(VariableId v) const { return local_[v.index()] && is_discrete(model_[v].support); }

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

std::optional<VariableId> TemperedNormaliser::added_for(VariableId host, Auxiliary::Kind kind) const {
  for (std::size_t k = 0; k < model_.variables.size(); ++k) {
    const auto& a = model_.variables[k].auxiliary;
    if (a && a->kind == kind && a->host == host) return VariableId(k);
  }
  return std::nullopt;
}

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

bool TemperedNormaliser::has_terms(const ModelEvaluator& f, Element e, SharedResults& cache) const {
  const Variable& v = model_[e.variable];
  const std::size_t width = f.width(e.variable);
  if (v.observed) {
    const std::span<const double> x = f.values(e.variable).subspan(e.position * width, width);
    return std::ranges::none_of(x, [](double value) { return std::isnan(value); });
  }
  const auto mask = mask_of(model_, v);
  if (!mask || data_.givens[mask->index()].values.empty()) return true;
  const std::size_t entries = model_[*mask].event.empty() ? 1 : width;
  const auto first = data_.givens[mask->index()].values.begin() + static_cast<std::ptrdiff_t>(e.position * entries);
  const auto d_connected =
      static_cast<std::size_t>(std::count(first, first + static_cast<std::ptrdiff_t>(entries), 1.0));
  if (d_connected > 0 && d_connected < entries)
    cache.refused = fmt::format("some entries of '{}' have no data", v.name);
  return d_connected > 0;
}

math::Environment TemperedNormaliser::shape_parameters(const ModelEvaluator& f, const Statement& s,
                                                       const IndexValues& at) const {
  const Distribution& d = f.distribution(s, at);
  const math::FamilyRow& row = *d.family;
  math::Environment spelled{f.extent(s.variable), {}}, out{f.extent(s.variable), {}};
  for (const Parameter& p : d.parameters) {
    if (std::ranges::find(row.location, p.spelling->canonical) != row.location.end()) {
      out.symbols[p.spelling->canonical] = {0, {0.0}};
      continue;
    }
    const Tensor x = f.value(p.value, at);
    spelled.symbols[p.spelling->name] = {static_cast<int>(x.shape.size()), x.values};
    if (const auto logs = f.logarithms(p.value, at)) out.logarithms[p.spelling->canonical] = *logs;
  }
  out.symbols.merge(math::canonical_parameters(row, spelled));
  return out;
}

Logs TemperedNormaliser::with_sources(ModelEvaluator& f, const Statement& s, const IndexValues& at, VariableId source,
                                      const math::Environment& parameters, SharedResults& cache) const {
  // With the source k of each count, log p(x, k) = x log m_k + r(m) where log p(x) = x log m + r(m). Its tempered sum
  // over k has the rate m'^b = sum_k m_k^b in the place of m^b, and r(m) stays.
  const Distribution& d = f.distribution(s, at);
  const math::FamilyRow& row = *d.family;
  const auto rest = [&](math::Environment e) {
    e.symbols["x"] = {0, {0.0}};
    return row.support == math::Support::count ? math::log_density(row, e) : 0.0;
  };
  IndexValues free = at;
  std::map<std::string, std::vector<std::vector<double>>> parts;  // by parameter, of each of its entries
  for (const Parameter& p : d.parameters) {
    if (p.spelling->optional) continue;
    for (std::size_t i = 0; i < parameters.symbols.at(p.spelling->canonical).values.size(); ++i) {
      parts[p.spelling->canonical].push_back(summands(f, p.value, free, i));
      const std::size_t found = parts[p.spelling->canonical].back().size();
      if (found != 1 && found != f.extent(source))
        cache.refused = fmt::format("the summands of the rate of '{}' are not known", model_[s.variable].name);
    }
  }
  math::Environment summed = parameters;
  Logs out;
  for (const double t : cache.temperatures) {
    for (const auto& [name, entries] : parts) {
      for (std::size_t i = 0; i < entries.size(); ++i)
        summed.symbols[name].values[i] = std::exp(t * log_power_sum(entries[i], 1 / t));
    }
    out.push_back(math::tempered_log_normaliser(row, summed, t) + (rest(parameters) - rest(summed)) / t);
  }
  return out;
}

/// Returns log p(value) / T for a discrete local variable, otherwise the log of the integral of the tempered density. A
/// location parameter does not change that integral and is replaced by 0. Where an auxiliary variable makes the terms
/// conjugate and the log joint is exact with it, the integral is of the joint density; where it is a bound, of the
/// density that is bounded.
Logs TemperedNormaliser::tempered(ModelEvaluator& f, const Statement& s, const IndexValues& at,
                                  SharedResults& cache) const {
  const Distribution& d = f.distribution(s, at);
  const math::FamilyRow& row = *d.family;
  const bool own = is_summed(s.variable);
  const Element self = f.element(s, at);
  Logs out;
  if (const math::AtValue* look_up = math::categorical_lookup(row)) {
    for (const Parameter& p : d.parameters) {
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
  math::Environment parameters = shape_parameters(f, s, at);
  if (f.unknown()) return out;
  // A multinomial without an explicit total has that of the data.
  for (const math::Spelling& x : row.spellings) {
    const std::span<const double> own_value = f.values(self);
    if (x.optional && !parameters.symbols.contains(x.canonical))
      parameters.symbols[x.canonical] = {0, {std::accumulate(own_value.begin(), own_value.end(), 0.0)}};
  }
  if (const auto source = added_for(s.variable, Auxiliary::Kind::source))
    return with_sources(f, s, at, *source, parameters, cache);
  if (row.support == math::Support::bit && added_for(s.variable, Auxiliary::Kind::value)) {
    // The bit is the sign of a Normal number of variance 1, over both sides of 0.
    for (const double t : cache.temperatures)
      out.push_back(0.5 * (1 - 1 / t) * std::log(2 * std::numbers::pi) + 0.5 * std::log(t));
    return out;
  }
  std::vector<double> key = math::flatten_parameters(row, parameters);
  for (const auto& [name, logs] : parameters.logarithms)
    key.insert(key.end(), {logs.first, logs.second});
  Logs& integral = cache.integrals[{&row, std::move(key)}];
  if (integral.empty()) {
    for (double t : cache.temperatures)
      integral.push_back(math::tempered_log_normaliser(row, parameters, t));
  }
  return integral;
}

TemperedTable TemperedNormaliser::tabulate(ModelEvaluator& f, std::optional<Element> own,
                                           const std::function<Logs()>& evaluate, SharedResults& cache) const {
  TemperedTable t;
  const auto add = [&](Element e) {
    const Variable& v = model_[e.variable];
    if (!local_[e.variable.index()])
      cache.refused = fmt::format("its normaliser depends on the discrete '{}', whose prior is not tempered", v.name);
    t.dims.push_back(e);
    t.states.push_back(f.states(e.variable));
    if (t.assignments() > kMostStates) cache.too_wide(v);
  };
  if (own) add(*own);
  // Each trial evaluation that misses a discrete element adds it to the table's dimensions.
  for (bool complete = false; !complete && cache.refused.empty();) {
    complete = true;
    t.logs.clear();
    each_assignment(t, [&](const std::vector<std::size_t>& values) {
      if (!complete) return;
      for (std::size_t k = 0; k < values.size(); ++k)
        f.values(t.dims[k])[0] = f.state(t.dims[k].variable, values[k]);
      f.clear();
      Logs logs = evaluate();
      complete = !f.unknown();
      if (complete) t.logs.push_back(std::move(logs));
    });
    const std::optional<Element> missing = complete ? std::nullopt : f.unknown();
    for (const Element& e : t.dims)
      f.values(e)[0] = std::nan("");
    if (missing) add(*missing);
  }
  f.clear();
  return t;
}

TemperedTable TemperedNormaliser::factor(ModelEvaluator& f, StatementId id, const IndexValues& at,
                                         SharedResults& cache) const {
  const Statement& s = model_[id];
  const auto own = is_summed(s.variable) ? std::optional(f.element(s, at)) : std::nullopt;
  TemperedTable t = tabulate(
      f, own, [&] { return tempered(f, s, at, cache); }, cache);
  if (t.assignments() > kMostStates) cache.too_wide(model_[s.variable]);
  return t;
}

void TemperedNormaliser::append_factors(ModelEvaluator& f, StatementId id,
                                        std::optional<std::pair<IndexVarId, std::int64_t>> item,
                                        std::vector<TemperedTable>& tables, SharedResults& cache) const {
  const Statement& s = model_[id];
  IndexValues at = f.origin();
  if (item) at[item->first.index()] = item->second;
  f.each(
      s.index_vars, at,
      [&] {
        if (!cache.refused.empty() || !has_terms(f, f.element(s, at), cache)) return;
        TemperedTable t = factor(f, id, at, cache);
        // Copies of an item count in of_all().
        double all = 1;
        for (const IndexVarId b : s.index_vars) {
          const std::int64_t k = at[b.index()];
          if (model_[model_[b].plate].times && !(item && item->first == b)) all *= copies(model_[b].plate, k, k + 1);
        }
        for (Logs& logs : t.logs) {
          for (double& x : logs)
            x *= all;
        }
        tables.push_back(std::move(t));
      },
      item);
}

void TemperedNormaliser::append_potential(ModelEvaluator& f, const Potential& p, std::vector<TemperedTable>& tables,
                                          SharedResults& cache) const {
  IndexValues at = f.origin();
  f.each(p.index_vars, at, [&] {
    if (!cache.refused.empty()) return;
    double all = 1;
    for (const IndexVarId b : p.index_vars)
      if (model_[model_[b].plate].times) all *= copies(model_[b].plate, at[b.index()], at[b.index()] + 1);
    tables.push_back(tabulate(
        f, std::nullopt,
        [&] {
          const double value = all * f.entry(p.value, at);
          Logs logs;
          for (const double t : cache.temperatures)
            logs.push_back(value / t);
          return logs;
        },
        cache));
  });
}

}  // namespace lehr
