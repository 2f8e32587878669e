// A recursive interpreter of model expressions, entry by entry: entry(e, at, i, j) evaluates one number of an
// expression and forms no intermediate vectors or matrices.
#include "compiler/evaluate/forward.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/evaluate/arithmetic.h"
#include "compiler/evaluate/log_entry.h"
#include "compiler/evaluate/log_sum_exp.h"
#include "compiler/math/special.h"
#include "compiler/model/roles.h"
#include "compiler/support/overloaded.h"

namespace lehr {
namespace {

using namespace model;

/// Returns plates and event axes as one list.
std::vector<PlateId> all_axes(std::vector<PlateId> axes, const std::vector<PlateId>& event) {
  axes.insert(axes.end(), event.begin(), event.end());
  return axes;
}

}  // namespace

ModelEvaluator::ModelEvaluator(const Model& model, const BoundData& data) : model_(model), data_(data) {
  for (const Given& g : model.givens)
    given_axes_.push_back(all_axes(g.axes, g.event));
  for (std::size_t k = 0; k < model.variables.size(); ++k) {
    const Variable& v = model.variables[k];
    variable_axes_.push_back(all_axes(v.axes, v.event));
    if (v.auxiliary) values_.emplace_back();
    else if (v.observed && !data.observed[k].values.empty()) values_.push_back(data.observed[k].values);
    else values_.emplace_back(elements(VariableId(k)) * width(VariableId(k)), std::numeric_limits<double>::quiet_NaN());
  }
}

std::size_t ModelEvaluator::elements(VariableId v) const {
  const std::vector<PlateId>& axes = model_[v].axes;
  std::size_t n = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool inside_next = i + 1 < axes.size() && model_[axes[i + 1]].parent;
    if (!inside_next) n *= static_cast<std::size_t>(size(axes[i]));
  }
  return n;
}

std::size_t ModelEvaluator::width(VariableId v) const {
  std::size_t n = 1;
  for (const PlateId p : model_[v].event)
    n *= static_cast<std::size_t>(size(p));
  return n;
}

std::size_t ModelEvaluator::states(VariableId v) const {
  return model_[v].support == math::Support::category ? extent(v) : 2;
}

double ModelEvaluator::state(VariableId v, std::size_t k) const {
  if (model_[v].support == math::Support::spin) return k == 0 ? -1 : 1;
  return static_cast<double>(k);
}

std::size_t ModelEvaluator::extent(VariableId v) const {
  const Variable& variable = model_[v];
  if (variable.value_plate) return static_cast<std::size_t>(size(*variable.value_plate));
  return variable.event.empty() ? 1 : static_cast<std::size_t>(size(variable.event[0]));
}

std::int64_t ModelEvaluator::row_of(PlateId nested, std::int64_t position) const {
  const auto& offsets = data_.offsets[nested.index()];
  return std::upper_bound(offsets.begin(), offsets.end(), position) - offsets.begin() - 1;
}

IndexValues ModelEvaluator::at(Element e) const {
  const Statement& s = model_[model_[e.variable].statement];
  IndexValues at = origin();
  auto rest = static_cast<std::int64_t>(e.position);
  for (std::size_t i = s.index_vars.size(); i-- > 0;) {
    const std::int64_t n = size(model_[s.index_vars[i]].plate);
    at[s.index_vars[i].index()] = rest % n;
    rest /= n;
    for (; i > 0 && model_[s.index_vars[i]].parent; --i) {
      const PlateId nested = model_[s.index_vars[i]].plate;
      at[s.index_vars[i - 1].index()] = row_of(nested, at[s.index_vars[i].index()]);
    }
  }
  return at;
}

Element ModelEvaluator::element(const Statement& s, const IndexValues& at) const {
  std::size_t position = 0;
  for (std::size_t i = 0; i < s.index_vars.size(); ++i) {
    const bool inside_next = i + 1 < s.index_vars.size() && model_[s.index_vars[i + 1]].parent;
    if (inside_next) continue;
    const IndexVar& b = model_[s.index_vars[i]];
    position =
        position * static_cast<std::size_t>(size(b.plate)) + static_cast<std::size_t>(at[s.index_vars[i].index()]);
  }
  return {s.variable, position};
}

void ModelEvaluator::each(std::span<const IndexVarId> bounds, IndexValues& at, const std::function<void()>& visit,
                          std::optional<std::pair<IndexVarId, std::int64_t>> fixed) const {
  // Fixing an element of a nested plate also fixes its row.
  std::vector<std::pair<IndexVarId, std::int64_t>> held;
  while (fixed) {
    held.push_back(*fixed);
    const IndexVar& b = model_[fixed->first];
    if (b.parent) fixed = std::pair(*b.parent, row_of(b.plate, fixed->second));
    else fixed.reset();
  }
  const std::function<void(std::size_t)> loop = [&](std::size_t i) {
    if (i == bounds.size()) return visit();
    const IndexVar& b = model_[bounds[i]];
    std::int64_t begin = 0, end = size(b.plate);
    if (b.parent) {
      const auto row = static_cast<std::size_t>(at[b.parent->index()]);
      begin = data_.offsets[b.plate.index()][row];
      end = data_.offsets[b.plate.index()][row + 1];
    }
    for (const auto& [bound, position] : held) {
      if (bound == bounds[i]) begin = position, end = position + 1;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      at[bounds[i].index()] = k;
      loop(i + 1);
    }
  };
  loop(0);
}

std::int64_t ModelEvaluator::coordinate(const Index& index, std::optional<std::int64_t> row,
                                        const IndexValues& at) const {
  const std::int64_t first = row ? data_.offsets[index.set.index()][static_cast<std::size_t>(*row)] : 0;
  return std::visit(Overloaded{[&](const Index::Constant& c) { return first + c.value; },
                               [&](const Index::Shifted& s) { return at[s.bound.index()] + s.offset; },
                               [&](const Index::Lookup& l) {
                                 const double k = entry(l.category, at);
                                 return first + (std::isnan(k) ? 0 : static_cast<std::int64_t>(k));
                               }},
                    index.form);
}

std::size_t ModelEvaluator::address(const std::vector<PlateId>& axes, std::size_t event_rank,
                                    const std::vector<Index>& indices, const IndexValues& at) const {
  // `before` is the row-major position over finished axes. `here` is the position in the current plate; a nested plate
  // replaces its parent's position by one among the elements of all rows.
  std::int64_t before = 0, here = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool nested = i > 0 && i + event_rank < axes.size() && model_[axes[i]].parent.has_value();
    if (!nested && i > 0) before = before * size(axes[i - 1]) + here;
    here = i < indices.size() ? coordinate(indices[i], nested ? std::optional(here) : std::nullopt, at) : 0;
  }
  return static_cast<std::size_t>(axes.empty() ? 0 : before * size(axes.back()) + here);
}

std::size_t ModelEvaluator::variable_address(const VariableRef& r, const IndexValues& at) const {
  return address(variable_axes_[r.variable.index()], model_[r.variable].event.size(), r.indices, at);
}

std::size_t ModelEvaluator::given_address(const GivenRef& r, const IndexValues& at) const {
  return address(given_axes_[r.given.index()], model_[r.given].event.size(), r.indices, at);
}

double ModelEvaluator::read(VariableId v, std::size_t at) const {
  const double x = values_[v.index()][at];
  if (std::isnan(x) && !unknown_ && is_discrete(model_[v].support)) unknown_ = Element{v, at};
  return x;
}

double ModelEvaluator::entry(ExprId id, const IndexValues& at, std::size_t i, std::size_t j) const {
  const auto of = [this](ExprId e, const IndexValues& x, std::size_t k, std::size_t l) { return entry(e, x, k, l); };
  const std::size_t offset = position_of(id, i, j);
  return std::visit(
      Overloaded{[&](const Number& n) { return n.value; },
                 [&](const ConstantRef& c) { return data_.constants[c.constant.index()]; },
                 [&](const GivenRef& r) { return data_.givens[r.given.index()].values[given_address(r, at) + offset]; },
                 [&](const VariableRef& r) { return read(r.variable, variable_address(r, at) + offset); },
                 [&](const SizeOf& s) {
                   if (s.row.empty()) return static_cast<double>(size(s.plate));
                   const auto row = static_cast<std::size_t>(at[s.row.back().index()]);
                   const auto& offsets = data_.offsets[s.plate.index()];
                   return static_cast<double>(offsets[row + 1] - offsets[row]);
                 },
                 Arithmetic{*this, at, i, j, 0.0, of},
                 [&](const Binary& b) { return value_of(b.op, entry(b.left, at, i, j), entry(b.right, at, i, j)); },
                 [&](const StickBreaking& s) {
                   double left = 1;
                   for (std::size_t k = 0; k < i; ++k)
                     left *= 1 - entry(s.fractions, at, k);
                   return i < extent_of(s.fractions, 0) ? left * entry(s.fractions, at, i) : left;
                 },
                 [&](const Softmax& s) {
                   std::vector<double> scores;
                   for (std::size_t k = 0; k < extent_of(s.scores, 0); ++k)
                     scores.push_back(entry(s.scores, at, k));
                   return std::exp(scores[i] - log_sum_exp(scores));
                 },
                 [&](const OrderedLogistic& o) {
                   // The probability of category i is that of a logistic variable between cuts a and b. It is written
                   // as logistic(b - e) logistic(e - a) (1 - exp(a - b)), without cancellation.
                   const double at_location = entry(o.location, at);
                   const bool first = i == 0, last = i == extent_of(o.cuts, 0);
                   const double a = first ? -INFINITY : entry(o.cuts, at, i - 1);
                   const double b = last ? INFINITY : entry(o.cuts, at, i);
                   const double above = first ? 1.0 : value_of(Function::logistic, at_location - a);
                   const double below = last ? 1.0 : value_of(Function::logistic, b - at_location);
                   return above * below * -std::expm1(a - b);
                 },
                 [&](const Cumulative& c) {
                   double total = 0;
                   for (std::size_t k = 0; k < i; ++k)
                     total += entry(c.steps, at, k);
                   return total;
                 },
                 [&](const Apply& a) { return value_of(a.function, entry(a.argument, at, i, j)); }},
      model_[id].node);
}

Tensor ModelEvaluator::value(ExprId id, const IndexValues& at) const {
  const Expr& e = model_[id];
  Tensor out;
  for (const PlateId p : e.shape)
    out.shape.push_back(static_cast<std::size_t>(size(p)));
  const std::size_t rows = out.shape.empty() ? 1 : out.shape[0], columns = out.shape.size() == 2 ? out.shape[1] : 1;
  // Whole vectors that lie in memory are copied without a visit to each entry.
  const auto copy = [&](const std::vector<double>& from, std::size_t begin) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
    out.values.assign(first, first + static_cast<std::ptrdiff_t>(rows * columns));
    return out;
  };
  if (const auto* g = std::get_if<GivenRef>(&e.node))
    return copy(data_.givens[g->given.index()].values, given_address(*g, at));
  const auto* v = std::get_if<VariableRef>(&e.node);
  if (v && !is_discrete(model_[v->variable].support))
    return copy(values_[v->variable.index()], variable_address(*v, at));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j)
      out.values.push_back(entry(id, at, i, j));
  }
  return out;
}

std::optional<Element> ModelEvaluator::named(ExprId id, const IndexValues& at) const {
  const auto* v = std::get_if<VariableRef>(&model_[id].node);
  if (!v || v->indices.size() != model_[v->variable].axes.size()) return std::nullopt;
  return Element{v->variable, variable_address(*v, at) / width(v->variable)};
}

std::pair<std::size_t, std::size_t> ModelEvaluator::read_by(const VariableRef& r, const IndexValues& at) const {
  const std::vector<PlateId>& axes = variable_axes_[r.variable.index()];
  const std::size_t first = variable_address(r, at);
  std::size_t scalars = 1;
  for (std::size_t i = r.indices.size(); i < axes.size(); ++i)
    scalars *= static_cast<std::size_t>(size(axes[i]));
  const std::size_t n = width(r.variable);
  return {first / n, scalars == 0 ? first / n : (first + scalars - 1) / n + 1};
}

const Distribution& ModelEvaluator::distribution(const Statement& s, const IndexValues& at) const {
  if (s.part) {
    const double part = entry(*s.part, at);
    // The parts of a mixture are numbered by a category, or by a bit whose value 1 is the first part.
    const auto k = static_cast<std::size_t>(std::isnan(part) ? 0 : model_[*s.part].value_plate ? part : 1 - part);
    return k == 0 ? s.main : s.others.at(k - 1);
  }
  if (!s.start || !s.lagged) return s.main;
  const IndexVar& b = model_[*s.lagged];
  const std::int64_t first =
      b.parent ? data_.offsets[b.plate.index()][static_cast<std::size_t>(at[b.parent->index()])] : 0;
  return at[s.lagged->index()] < first + lag_of(model_, s) ? *s.start : s.main;
}

math::Environment ModelEvaluator::parameters(const Statement& s, const IndexValues& at) const {
  const Distribution& d = distribution(s, at);
  math::Environment spelled{extent(s.variable), {}};
  for (const Parameter& p : d.parameters) {
    Tensor t = value(p.value, at);
    spelled.symbols[p.spelling->name] = {static_cast<int>(t.shape.size()), std::move(t.values)};
  }
  return {spelled.extent, math::canonical_parameters(*d.family, spelled)};
}

std::pair<double, double> ModelEvaluator::limits(const Statement& s, const IndexValues& at) const {
  const auto number = [&](const std::optional<ExprId>& e, double none) { return e ? entry(*e, at) : none; };
  const auto& [above, below] = s.limits;
  const bool censored = model_[s.variable].observed;
  return {number(censored ? below : above, -INFINITY), number(censored ? above : below, INFINITY)};
}

std::optional<std::pair<double, double>> ModelEvaluator::logarithms(ExprId probability, const IndexValues& at) const {
  const auto* link = std::get_if<Apply>(&model_[probability].node);
  if (!link || (link->function != Function::logistic && link->function != Function::probit)) return std::nullopt;
  const Tensor of = value(link->argument, at);
  if (!of.shape.empty()) return std::nullopt;
  const double x = of.values[0];
  if (link->function == Function::probit) return std::pair(math::log_tail_value(-x), math::log_tail_value(x));
  return std::pair(log_logistic(x), log_logistic(-x));
}

namespace {

/// Returns the log density of the observed entries of a Normal vector, whose parameters are its mean and precision, end
/// to end. The other entries, at least one, are NaN and integrated out: the precision of the observed ones is the Schur
/// complement P_oo - P_om P_mm^-1 P_mo.
double log_density_of_observed(const std::vector<double>& parameters, std::span<const double> x) {
  const auto d = static_cast<Eigen::Index>(x.size());
  std::vector<Eigen::Index> observed, missing;
  for (Eigen::Index k = 0; k < d; ++k)
    (std::isnan(x[static_cast<std::size_t>(k)]) ? missing : observed).push_back(k);
  const Eigen::VectorXd from_mean =
      Eigen::Map<const Eigen::VectorXd>(x.data(), d) - Eigen::Map<const Eigen::VectorXd>(parameters.data(), d);
  const Eigen::Map<const Eigen::MatrixXd> p(parameters.data() + d, d, d);
  const Eigen::MatrixXd between = p(observed, missing);
  const Eigen::MatrixXd of_observed =
      p(observed, observed) - between * p(missing, missing).llt().solve(between.transpose());
  const Eigen::VectorXd r = from_mean(observed);
  const Eigen::LLT<Eigen::MatrixXd> root(of_observed);
  return Eigen::ArrayXd(root.matrixLLT().diagonal()).log().sum() -
         0.5 * (static_cast<double>(observed.size()) * std::log(2 * std::numbers::pi) + r.dot(of_observed * r));
}

/// Adds to the environment the logarithms of a probability or rate that underflows. Probabilities of counts x are in
/// their log density as sum of x log p alone: those that underflow become 1, and their part of the sum is returned.
double add_small(const ModelEvaluator& f, const Parameter& p, const IndexValues& at, std::span<const double> x,
                 math::Environment& to) {
  const math::Support domain = p.spelling->domain;
  const auto found = to.symbols.find(p.spelling->name);
  if (p.spelling->convert || found == to.symbols.end()) return 0;
  std::vector<double>& values = found->second.values;
  if (found->second.rank == 0) {
    const bool small = (domain == math::Support::unit || domain == math::Support::positive) && underflows(values[0]);
    if (small) to.logarithms[p.spelling->name] = {log_entry(f, p.value, at), std::log1p(-values[0])};
    return 0;
  }
  double out = 0;
  for (std::size_t k = 0; domain == math::Support::simplex && k < x.size() && k < values.size(); ++k) {
    if (!(x[k] > 0) || !underflows(values[k])) continue;
    out += x[k] * log_entry(f, p.value, at, k);
    values[k] = 1;
  }
  return out;
}

}  // namespace

double ModelEvaluator::log_density(const Statement& s, const IndexValues& at) const {
  const Distribution& d = distribution(s, at);
  const Element e = element(s, at);
  const std::span<const double> x = values(e);
  if (is_discrete(model_[s.variable].support)) read(e.variable, e.position);
  if (unknown_) return std::numeric_limits<double>::quiet_NaN();
  // A density such as Categorical needs one entry of a vector that may be long.
  if (const math::AtValue* look_up = math::categorical_lookup(*d.family)) {
    for (const Parameter& p : d.parameters) {
      if (p.spelling->name == look_up->vector) return log_entry(*this, p.value, at, static_cast<std::size_t>(x[0]));
    }
  }
  math::Environment environment = parameters(s, at);
  environment.symbols["x"] = {static_cast<int>(model_[s.variable].event.size()), {x.begin(), x.end()}};
  const auto missing = std::ranges::count_if(x, [](double entry) { return std::isnan(entry); });
  if (d.family->gaussian && missing > 0 && missing < std::ssize(x))
    return log_density_of_observed(math::flatten_parameters(*d.family, environment), x);
  double of_small = 0;
  for (const Parameter& p : d.parameters) {
    if (const auto logs = logarithms(p.value, at)) environment.logarithms[p.spelling->name] = *logs;
    else of_small += add_small(*this, p, at, x, environment);
  }
  // A censored value at or beyond a limit contributes the probability of that tail. A latent value there is impossible.
  if (const auto [lower, upper] = limits(s, at); x[0] <= lower || x[0] >= upper) {
    if (!model_[s.variable].observed) return -INFINITY;
    const double limit = std::clamp(x[0], lower, upper);
    if (d.family->log_tail)
      return d.family->log_tail(math::flatten_parameters(*d.family, environment), limit, x[0] >= upper);
    environment.symbols["x"] = {0, {limit}};
    return math::evaluate(x[0] >= upper ? *d.family->log_above : *d.family->log_below, environment);
  }
  return of_small + math::log_density(*d.family, environment);
}

}  // namespace lehr
