// Finds mixtures in a model and computes their components.
//
// A mixture is found by its form. In `x[n] ~ Normal(mu[z[n]], tau[z[n]])`, one latent category `z` selects the
// parameters, and nothing else of item n occurs in them. The statement is then evaluated with all parameters at their
// posterior means, once for each value of `z`. So any parameterisation works, and any other terms of the statement
// are included.
#include "compiler/report/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/evaluate/forward.h"
#include "compiler/math/evaluate.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"

namespace lehr::report {
namespace {

using namespace model;

/// Returns the indices of a reference to a variable or to given data; null for other expressions.
const std::vector<Index>* indices_of(const Expr& e) {
  if (const auto* v = std::get_if<VariableRef>(&e.node)) return &v->indices;
  if (const auto* g = std::get_if<GivenRef>(&e.node)) return &g->indices;
  return nullptr;
}

/// Returns the one latent category that selects parameters among these expressions. Returns nothing if there is none,
/// or more than one.
std::optional<VariableId> selecting_category(const Model& m, const std::vector<ExprId>& nodes) {
  std::optional<VariableId> out;
  for (const ExprId node : nodes) {
    const std::vector<Index>* indices = indices_of(m[node]);
    for (const Index& i : indices ? *indices : std::vector<Index>()) {
      const auto* look_up = std::get_if<Index::Lookup>(&i.form);
      if (!look_up) continue;
      const auto* z = std::get_if<VariableRef>(&m[look_up->category].node);
      if (!z || m[z->variable].observed || (out && *out != z->variable)) return std::nullopt;
      out = z->variable;
    }
  }
  return out;
}

/// Returns true if all items have the same components: the parameters use no index variable of the item except in the
/// category.
bool is_same_for_all_items(const Model& m, const Statement& s, std::size_t item_axes, VariableId category,
                           const std::vector<ExprId>& nodes) {
  const auto first = s.index_vars.begin(), last = first + static_cast<std::ptrdiff_t>(item_axes);
  return std::ranges::all_of(nodes, [&](ExprId node) {
    const auto* v = std::get_if<VariableRef>(&m[node].node);
    if (v && v->variable == category) return true;
    const std::vector<Index>* indices = indices_of(m[node]);
    return !indices || std::ranges::none_of(*indices, [&](const Index& i) {
      const auto* bound = std::get_if<Index::Shifted>(&i.form);
      return bound && std::find(first, last, bound->bound) != last;
    });
  });
}

/// Sets all continuous latent variables that were saved to their posterior means.
void set_posterior_means(const SavedFit& fit, ModelEvaluator& to) {
  const Model& m = to.model();
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const VariableId id(k);
    const SavedVariable* saved = fit.find(m[id].name);
    if (m[id].observed || m[id].auxiliary || is_discrete(m[id].support) || !saved || saved->parameters.empty())
      continue;
    const std::optional<Moments> means = moments_of(fit, *saved);
    if (means && means->mean.size() == to.values(id).size()) std::ranges::copy(means->mean, to.values(id).begin());
  }
}

/// Reads mixtures from one model with data and a fit.
class Reader {
 public:
  Reader(const Model& m, const BoundData& data, const SavedFit& fit)
      : m_(m), data_(data), fit_(fit), forward_(m, data) {
    set_posterior_means(fit, forward_);
  }

  /// Returns the mixture whose observed variable is `id`, or nothing if it is not one with Gaussian components. The
  /// coordinates are the event of the variable, or one plate after those of the category.
  std::optional<Mixture> read(VariableId id) {
    const Variable& x = m_[id];
    const Statement& s = m_[x.statement];
    if (!x.observed || x.event.size() > 1 || s.start || s.part || !s.main.family->gaussian) return std::nullopt;
    const std::vector<ExprId> nodes = nodes_under(m_, roots_of(s));
    const std::optional<VariableId> category = selecting_category(m_, nodes);
    if (!category || m_[*category].support != math::Support::category) return std::nullopt;
    const std::size_t items = m_[*category].axes.size();
    const bool along = x.event.empty() && x.axes.size() == items + 1 && !m_[x.axes.back()].parent;
    if ((!along && x.axes.size() != items) ||
        !std::equal(x.axes.begin(), x.axes.begin() + static_cast<std::ptrdiff_t>(items), m_[*category].axes.begin()))
      return std::nullopt;
    if (!is_same_for_all_items(m_, s, items, *category, nodes)) return std::nullopt;
    Mixture out{
        x.name, m_[*category].name, m_[*m_[*category].value_plate].name, "", 1, data_.observed[id.index()].values, {}};
    if (along || !x.event.empty()) {
      const PlateId dimensions = along ? x.axes.back() : x.event[0];
      out.dimensions = m_[dimensions].name;
      out.extent = static_cast<std::size_t>(data_.sizes[dimensions.index()]);
    }
    if (out.points.size() < out.extent) return std::nullopt;
    const std::vector<double> weights = weights_of(*category);
    for (std::size_t k = 0; k < forward_.extent(*category); ++k) {
      Component c = component(s, *category, k, along ? out.extent : 1);
      c.weight = weights.empty() ? std::numeric_limits<double>::quiet_NaN() : weights[k];
      if (!std::ranges::all_of(c.covariance, [](double v) { return std::isfinite(v); })) return std::nullopt;
      out.components.push_back(std::move(c));
    }
    return out;
  }

 private:
  /// Returns the mean of the category's distribution, if it is the same for all items; else empty.
  std::vector<double> weights_of(VariableId category) const {
    const Statement& s = m_[m_[category].statement];
    const std::vector<ExprId> nodes = nodes_under(m_, roots_of(s));
    if (s.lagged || !s.main.family->mean || !is_same_for_all_items(m_, s, m_[category].axes.size(), category, nodes))
      return {};
    std::vector<double> out =
        math::evaluate_all(*s.main.family->mean, forward_.parameters(s, forward_.at({category, 0})), 1).values;
    if (std::ranges::any_of(out, [](double w) { return std::isnan(w); })) out.clear();
    return out;
  }

  /// Returns component k with mean and covariance for the first item. `along`: number of elements that are the
  /// coordinates of one observation, 1 for vectors and scalars.
  Component component(const Statement& s, VariableId category, std::size_t k, std::size_t along) {
    std::ranges::fill(forward_.values(category), static_cast<double>(k));
    Component out;
    out.index = k;
    const math::FamilyRow& family = *s.main.family;
    if (along == 1) {
      const math::Environment at = forward_.parameters(s, forward_.at({s.variable, 0}));
      const int rank = static_cast<int>(m_[s.variable].event.size());
      out.mean = math::evaluate_all(*family.mean, at, rank).values;
      out.covariance = math::evaluate_all(*family.covariance, at, 2 * rank).values;
      return out;
    }
    out.covariance.assign(along * along, 0.0);
    for (std::size_t j = 0; j < along; ++j) {
      const math::Environment at = forward_.parameters(s, forward_.at({s.variable, j}));
      out.mean.push_back(math::evaluate(*family.mean, at));
      out.covariance[j * along + j] = math::evaluate(*family.covariance, at);
    }
    return out;
  }

  const Model& m_;
  const BoundData& data_;
  const SavedFit& fit_;
  ModelEvaluator forward_;
};

}  // namespace

std::vector<Mixture> mixtures(const Model& m, const BoundData& data, const SavedFit& fit) {
  Reader reader(m, data, fit);
  std::vector<Mixture> out;
  for (std::size_t k = 0; k < m.variables.size(); ++k)
    if (std::optional<Mixture> found = reader.read(VariableId(k))) out.push_back(std::move(*found));
  return out;
}

}  // namespace lehr::report
