// Chooses and computes the numbers by which simulations are compared. A sum of squares over an exchangeable axis does
// not depend on the order of the components. It does not depend on their signs, either: factor loadings may change
// sign.
#include "compiler/calibrate/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/evaluate/forward.h"

namespace lehr {
namespace {

using namespace model;

/// An axis of an array; a nested plate and its parent are one axis.
struct Axis {
  std::int64_t extent = 1;  // its length
  bool summed = false;      // true if squares are summed along it
};

/// Returns the axes of a variable's values, event axes last. `summed` says by PlateId which plates are summed over.
std::vector<Axis> axes_of(const Model& m, const BoundData& d, const Variable& v, const std::vector<bool>& summed) {
  std::vector<Axis> out;
  const auto add = [&](PlateId p) {
    if (m[p].parent && !out.empty()) out.pop_back();
    out.push_back({d.sizes[p.index()], summed[m[p].set.index()]});
  };
  std::ranges::for_each(v.axes, add);
  std::ranges::for_each(v.event, add);
  return out;
}

/// Returns the quantities of a variable; positions along summed axes are combined into one. Stops after kMaxOfVariable
/// + 1, so that the caller sees whether there are more.
std::vector<Quantity> quantities_of(const Variable& v, VariableId id, const std::vector<Axis>& axes) {
  const bool squares = std::ranges::any_of(axes, &Axis::summed);
  std::vector<Quantity> out;
  std::size_t total = 1;
  for (const Axis& a : axes)
    total *= static_cast<std::size_t>(a.extent);
  for (std::size_t i = 0; i < total; ++i) {
    std::string name;
    std::size_t left = i;
    std::vector<std::size_t> index(axes.size());
    for (std::size_t k = axes.size(); k-- > 0;) {
      const auto extent = static_cast<std::size_t>(axes[k].extent);
      index[k] = left % extent;
      left /= extent;
      name = (axes[k].summed ? ".*" : fmt::format(".{}", index[k] + 1)) + name;
    }
    // A matrix is symmetric, so each pair of equal entries appears once.
    if (v.event.size() == 2 && index[index.size() - 2] > index.back() && !squares) continue;
    name = v.name + (squares ? "^2" : "") + name;
    const auto same = std::ranges::find(out, name, &Quantity::name);
    if (same != out.end()) {
      same->at.push_back(i);
      continue;
    }
    if (out.size() <= kMaxOfVariable) out.push_back({name, id, {i}, squares});
  }
  return out;
}

}  // namespace

Values values_of(const Model& m, const std::vector<NamedArray>& arrays) {
  Values out(m.variables.size());
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const auto a = std::ranges::find(arrays, m.variables[k].name, &NamedArray::name);
    if (a != arrays.end()) out[k] = a->values;
  }
  return out;
}

Values draw_of(const Model& m, const std::vector<NamedArray>& draws, std::size_t d) {
  Values out(m.variables.size());
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const auto a = std::ranges::find(draws, m.variables[k].name, &NamedArray::name);
    if (a == draws.end()) continue;
    const std::size_t width = a->values.size() / static_cast<std::size_t>(a->shape[0]);
    const auto begin = a->values.begin() + static_cast<std::ptrdiff_t>(d * width);
    out[k].assign(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

double value(const Quantity& q, const Values& values) {
  const std::vector<double>& x = values[q.variable.index()];
  if (!q.squares) return x[q.at[0]];
  double total = 0;
  for (const std::size_t i : q.at)
    total += x[i] * x[i];
  return total;
}

std::vector<bool> exchangeable_plates(const Model& m) {
  std::vector<bool> out(m.plates.size(), true);
  // Marks a plate as not exchangeable.
  const auto exclude = [&](PlateId p) { out[m[p].set.index()] = false; };
  const auto exclude_all = [&](const std::vector<PlateId>& plates) { std::ranges::for_each(plates, exclude); };
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const Plate& p = m.plates[k];
    if (p.ordered || p.parent || p.times || p.stick) exclude(PlateId(k));
    if (p.parent) exclude(*p.parent);
    if (p.stick) exclude(*p.stick);
  }
  const auto data = [&](const auto& a) {
    exclude_all(a.axes);
    exclude_all(a.event);
    if (a.value_plate) exclude(*a.value_plate);
  };
  std::ranges::for_each(m.givens, data);
  for (const Variable& v : m.variables)
    if (v.observed) data(v);
  // An index that is a constant or shifted singles out an element.
  for (const Expr& e : m.exprs) {
    const auto look = [&](const std::vector<Index>& indices) {
      for (const Index& i : indices) {
        const auto* shifted = std::get_if<Index::Shifted>(&i.form);
        if (std::holds_alternative<Index::Constant>(i.form) || (shifted && shifted->offset != 0)) exclude(i.set);
      }
    };
    if (const auto* g = std::get_if<GivenRef>(&e.node)) look(g->indices);
    if (const auto* v = std::get_if<VariableRef>(&e.node)) look(v->indices);
    // These functions give their components an order: the last class of a softmax, sticks, cut points and cumulative
    // sums.
    if (std::holds_alternative<Softmax>(e.node)) exclude_all(e.shape);
    if (const auto* s = std::get_if<StickBreaking>(&e.node)) {
      exclude_all(m[s->fractions].shape);
      exclude_all(e.shape);
    }
    if (const auto* o = std::get_if<OrderedLogistic>(&e.node)) {
      exclude_all(m[o->cuts].shape);
      exclude_all(e.shape);
    }
    if (const auto* c = std::get_if<Cumulative>(&e.node)) {
      exclude_all(m[c->steps].shape);
      exclude_all(e.shape);
    }
  }
  return out;
}

Measures measures_of(const Model& m, const BoundData& d, const std::vector<std::string>& names, bool every) {
  const std::vector<bool> exchangeable = exchangeable_plates(m), none(m.plates.size(), false);
  Measures out;
  const auto skip = [&](const Variable& v, const std::string& why) { out.skipped.push_back(v.name + ": " + why); };
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    if (!is_latent(v)) continue;
    if (std::ranges::find(names, v.name) == names.end()) {
      out.densities = false;
      skip(v, "the posterior that was found has no draws of it");
      continue;
    }
    if (!every && v.value_plate && exchangeable[m[*v.value_plate].set.index()]) {
      skip(v, fmt::format("its values are elements of '{}', which nothing tells apart", m[*v.value_plate].name));
      continue;
    }
    const std::vector<Axis> axes = axes_of(m, d, v, every ? none : exchangeable);
    std::vector<Quantity> quantities = quantities_of(v, VariableId(k), axes);
    const bool more = quantities.size() > kMaxOfVariable;
    if (more) quantities.resize(kMaxOfVariable);
    if (!quantities.empty() && quantities[0].squares)
      skip(v, "single elements, whose order nothing fixes; their squares are summed");
    if (more) skip(v, fmt::format("numbers after the first {}", kMaxOfVariable));
    std::ranges::move(quantities, std::back_inserter(out.quantities));
  }
  for (const Statement& s : m.statements)
    if (every && !m[s.variable].observed) out.given_parents.push_back(m[s.variable].name);
  if (!out.densities) out.skipped.push_back("lp__, log_lik__: they need draws of every variable");
  return out;
}

std::vector<std::string> Measures::names() const {
  std::vector<std::string> out;
  for (const Quantity& q : quantities)
    out.push_back(q.name);
  if (densities) out.insert(out.end(), {"lp__", "log_lik__"});
  for (const std::string& name : given_parents)
    out.push_back("lp__." + name);
  return out;
}

std::vector<double> Measures::of(const Model& m, const BoundData& data, const Values& latent) const {
  std::vector<double> out;
  for (const Quantity& q : quantities)
    out.push_back(value(q, latent));
  if (!densities) return out;
  ModelEvaluator f(m, data);
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    if (!m.variables[k].observed && !latent[k].empty()) std::ranges::copy(latent[k], f.values(VariableId(k)).begin());
  }
  // The densities of all statements add up to the log joint density, those of observed variables to the log likelihood.
  double joint = 0, likelihood = 0;
  std::vector<double> latent_ones;
  IndexValues at = f.origin();
  for (const Statement& s : m.statements) {
    double sum = 0;
    f.each(s.index_vars, at, [&] { sum += f.log_density(s, at); });
    joint += sum;
    if (m[s.variable].observed) likelihood += sum;
    else latent_ones.push_back(sum);
  }
  out.push_back(joint);
  out.push_back(likelihood);
  if (!given_parents.empty()) std::ranges::copy(latent_ones, std::back_inserter(out));
  return out;
}

}  // namespace lehr
