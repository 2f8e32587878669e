// Finds observed values of probability 0, such as a 1 from Bernoulli(0). The log density of such a value is minus
// infinity. A fit would report that as a numerical failure and not name the value.
//
// Only parameters that constants and data determine are looked at. A value is impossible if it is so in every part of a
// mixture whose weight is not 0, and under every choice of the latent categories in its parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/math/evaluate.h"
#include "compiler/model/mixture_part.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

using math::Support;

/// Returns true if the expression is a logistic or probit link, whose values are neither 0 nor 1, whatever they round
/// to.
bool is_inside(const Model& m, ExprId id) {
  const auto* link = std::get_if<Apply>(&m[id].node);
  return link && (link->function == Function::logistic || link->function == Function::probit);
}

/// Returns true if an expression is 0: a number 0, or a product with such a factor.
bool is_zero(Binder& b, ExprId id, const IndexValues& at) {
  if (is_inside(b.model, id)) return false;
  const std::vector<double> values = values_at(b, id, at);
  if (!values.empty()) return std::ranges::all_of(values, [](double v) { return v == 0; });
  const auto* product = std::get_if<Binary>(&b.model[id].node);
  if (!product || product->op == BinaryOp::add || product->op == BinaryOp::subtract) return false;
  return is_zero(b, product->left, at) || (product->op == BinaryOp::multiply && is_zero(b, product->right, at));
}

/// Returns the distribution of the variable that was added to select the part of a mixture; null for other statements.
const Distribution* weights_of(const Model& m, const Statement& s) {
  if (!s.part) return nullptr;
  const VariableId selector = std::get<VariableRef>(m[*s.part].node).variable;
  return is_part_of(m, s, selector) ? &m[m[selector].statement].main : nullptr;
}

/// Returns a value inside the domain, to stand for a parameter that is not determined.
double inside(Support domain) { return domain == Support::unit ? 0.5 : 1; }

/// One observed element of a statement: a number, or a vector of `width` numbers from position `first` on.
class Element {
 public:
  Element(Binder& b, const Slot& slot, const Statement& s, std::size_t first, std::size_t width)
      : b_(b), s_(s), at_(index_values_at(b, slot, s, first)) {
    const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
    x_.assign(x.begin() + static_cast<std::ptrdiff_t>(first), x.begin() + static_cast<std::ptrdiff_t>(first + width));
  }

  bool is_missing() const {
    return std::ranges::any_of(x_, [](double v) { return std::isnan(v); });
  }

  /// Returns the parameter under which the value has probability 0 in this distribution, or null.
  const Parameter* excluding_parameter(const Distribution& d) const {
    for (const Parameter& p : d.parameters) {
      const bool vector = b_.model[p.value].shape.size() == 1;
      if (vector ? !has_mass(d, p) : is_at_end(p) && !is_possible(d, p)) return &p;
    }
    return nullptr;
  }

  /// Returns true if the value has probability 0 whatever the parameters are that are not determined, as 4 of a Zero or
  /// of a Binomial of 3 trials.
  bool is_outside(const Distribution& d) const {
    if (x_.size() != 1 || math::categorical_lookup(*d.family)) return false;
    math::Environment e = environment(d);
    return math::log_density(*d.family, e) == -INFINITY;
  }

  /// Returns true if constants or data give part k of a mixture the weight 0.
  bool is_left_out(std::size_t k) const {
    const Distribution* weights = weights_of(b_.model, s_);
    if (!weights) return false;
    const Parameter& p = weights->parameters[0];
    if (p.spelling->domain == Support::simplex) return !has_mass(p, static_cast<std::int64_t>(k));
    const std::vector<double> values = values_of(p);
    return !values.empty() && std::ranges::all_of(values, [&](double v) { return v == (k == 0 ? 0 : 1); });
  }

 private:
  /// Returns true if the probabilities, given as data, are positive for the observed category or for all categories
  /// with positive counts.
  bool has_mass(const Distribution& d, const Parameter& p) const {
    if (math::categorical_lookup(*d.family)) return has_mass(p, static_cast<std::int64_t>(x_[0]));
    for (std::size_t k = 0; k < x_.size(); ++k)
      if (x_[k] > 0 && !has_mass(p, static_cast<std::int64_t>(k))) return false;
    return true;
  }

  /// Returns true unless the probabilities are data and that of value k is 0.
  bool has_mass(const Parameter& p, std::int64_t k) const {
    const auto* given = std::get_if<GivenRef>(&b_.model[p.value].node);
    if (!given || p.spelling->domain != Support::simplex || p.spelling->convert) return true;
    GivenRef ref = *given;
    ref.indices.push_back({Index::Constant{k}, b_.model[p.value].shape[0], {}});
    const std::vector<double> values = values_at(b_, ref, at_);
    return values.empty() || std::ranges::any_of(values, [](double v) { return v > 0; });
  }

  /// Returns the values that a parameter can have; a product with a factor 0 is 0.
  std::vector<double> values_of(const Parameter& p) const {
    if (is_zero(b_, p.value, at_)) return {0};
    return values_at(b_, p.value, at_);
  }

  /// Returns true if the number is at an end of its domain, under every choice.
  bool is_at_end(const Parameter& p) const {
    if (is_inside(b_.model, p.value)) return false;
    if (p.spelling->convert || (p.spelling->domain != Support::unit && p.spelling->domain != Support::positive))
      return false;
    const std::vector<double> values = values_of(p);
    return !values.empty() && std::ranges::all_of(values, [&](double v) {
      return v == 0 || (v == 1 && p.spelling->domain == Support::unit);
    });
  }

  /// Returns true if the log density of the value is finite for some possible value of the parameter.
  bool is_possible(const Distribution& d, const Parameter& p) const {
    math::Environment e = environment(d);
    return std::ranges::any_of(values_of(p), [&](double value) {
      e.symbols[p.spelling->canonical] = {0, {value}};
      return math::log_density(*d.family, e) != -INFINITY;
    });
  }

  /// Returns the value and the parameters of a distribution: known ones, the largest of several, or one inside the
  /// domain for those that are not determined.
  math::Environment environment(const Distribution& d) const {
    math::Environment e{x_.size(), {}, {}};
    for (const Parameter& p : d.parameters) {
      const std::vector<double> values = values_of(p);
      const Support domain = p.spelling->domain;
      const double unknown = domain == Support::count ? std::ranges::max(x_) : inside(domain);
      e.symbols[p.spelling->canonical] = {0, {values.empty() ? unknown : std::ranges::max(values)}};
    }
    e.symbols["x"] = {b_.model[s_.variable].event.empty() ? 0 : 1, x_};
    return e;
  }

  Binder& b_;              // the run of the pass
  const Statement& s_;     // the statement
  IndexValues at_;         // index variables at the element
  std::vector<double> x_;  // the observed value
};

/// Returns true for supports with probabilities instead of densities.
bool is_discrete_count(Support s) {
  return s == Support::bit || s == Support::count || s == Support::counts || s == Support::category;
}

/// Returns true if constants or data in a rate or probability are 0 or 1 at some element. Otherwise no value can have
/// probability 0, and the loop over elements is skipped.
bool may_end(Binder& b, const Parameter& p) {
  if (p.spelling->domain != Support::unit && p.spelling->domain != Support::simplex &&
      p.spelling->domain != Support::positive)
    return false;
  return std::ranges::any_of(nodes_under(b.model, {p.value}), [&](ExprId id) {
    if (const auto* given = std::get_if<GivenRef>(&b.model[id].node))
      return b.model[given->given].type != GivenType::category &&
             std::ranges::any_of(b.out.givens[given->given.index()].values, [](double v) { return v == 0 || v == 1; });
    if (!b.model[id].shape.empty() || b.model[id].value_plate) return false;
    const std::optional<double> value = value_at(b, id, {});
    return value && (*value == 0 || *value == 1);
  });
}

/// Checks every element of one statement and reports the first value of probability 0.
void check(Binder& b, const Slot& slot, const Statement& s) {
  std::size_t width = 1;
  for (std::size_t k = s.index_vars.size(); k < slot.axes.size(); ++k)
    width *= static_cast<std::size_t>(b.out.sizes[slot.axes[k].index()]);
  const std::vector<const Distribution*> parts =
      s.others.empty() ? std::vector<const Distribution*>{&s.main} : distributions_of(s);
  const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
  for (std::size_t first = 0; first + width <= x.size(); first += width) {
    const Element e(b, slot, s, first, width);
    if (e.is_missing()) continue;
    const Parameter* by = nullptr;
    const Distribution* of = nullptr;
    bool possible = false;
    for (std::size_t k = 0; k < parts.size() && !possible; ++k) {
      const Parameter* excluding = e.excluding_parameter(*parts[k]);
      possible = !excluding && (parts.size() == 1 || !(e.is_left_out(k) || e.is_outside(*parts[k])));
      if (!excluding) continue;
      by = excluding;
      of = parts[k];
    }
    if (possible) continue;
    problem(b, ExitCode::data, b.arrays.at(slot.name).source,
            fmt::format("{} is {:.10g}, which has probability 0", element_name(b, slot, first), x[first]))
        .notes = {by ? fmt::format("it is drawn from {}({} = {}, ...)", of->family->name, by->spelling->name,
                                   print(b.model, by->value))
                     : "parts of the mixture that can give it have the weight 0"};
    return;
  }
}

}  // namespace

void check_zero_probability(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.variable || slot.latent || !b.arrays.contains(slot.name)) continue;
    const Statement& s = b.model[b.model[*slot.variable].statement];
    const bool plain = is_discrete_count(b.model[s.variable].support) && !s.limits.any() && !s.start;
    const auto some_end = [&](const Distribution* d) {
      return std::ranges::any_of(d->parameters, [&](const Parameter& p) { return may_end(b, p); });
    };
    const Distribution* weights = weights_of(b.model, s);
    if (plain && (std::ranges::any_of(distributions_of(s), some_end) || (weights && some_end(weights))))
      check(b, slot, s);
  }
}

}  // namespace lehr::model
