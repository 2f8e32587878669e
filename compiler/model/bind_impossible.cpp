// Values that cannot be: a 1 of probability 0. A density that is 0 has no logarithm, and what came of it would be told
// as a failure of the numbers, without the datum that is the cause.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/math/evaluate.h"
#include "compiler/model/binder.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

using math::Support;

/// A number of a product that is 0 whatever its other factors are.
bool is_zero(Binder& b, ExprId id, const Bounds& at) {
  const std::vector<double> values = values_at(b, id, at);
  if (!values.empty()) return std::ranges::all_of(values, [](double v) { return v == 0; });
  const auto* product = std::get_if<Binary>(&b.model[id].node);
  if (!product || product->op == BinaryOp::add || product->op == BinaryOp::subtract) return false;
  return is_zero(b, product->left, at) || (product->op == BinaryOp::multiply && is_zero(b, product->right, at));
}

/// What stands for a number that is not known, inside its domain.
double inside(Support domain) { return domain == Support::unit ? 0.5 : 1; }

class Element {
 public:
  Element(Binder& b, const Slot& slot, const Statement& s, std::size_t first, std::size_t width)
      : b_(b), s_(s), at_(bounds_at(b, slot, s, first)) {
    const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
    x_.assign(x.begin() + static_cast<std::ptrdiff_t>(first), x.begin() + static_cast<std::ptrdiff_t>(first + width));
  }

  bool is_missing() const {
    return std::ranges::any_of(x_, [](double v) { return std::isnan(v); });
  }

  /// The parameter that rules the value out in this distribution, null if none does.
  const Parameter* ruled_out_by(const Distribution& d) const {
    for (const Parameter& p : d.parameters) {
      const bool vector = b_.model[p.value].shape.size() == 1;
      if (vector ? !has_mass(d, p) : is_at_end(p) && !is_possible(d, p)) return &p;
    }
    return nullptr;
  }

 private:
  /// Of probabilities that are data: those of what was observed.
  bool has_mass(const Distribution& d, const Parameter& p) const {
    const auto* given = std::get_if<GivenRef>(&b_.model[p.value].node);
    if (!given || p.spelling->domain != Support::simplex || p.spelling->convert) return true;
    const auto mass = [&](std::int64_t k) {
      GivenRef ref = *given;
      ref.indices.push_back({Index::Constant{k}, b_.model[p.value].shape[0], {}});
      const std::vector<double> values = values_at(b_, ref, at_);
      return values.empty() || std::ranges::any_of(values, [](double v) { return v > 0; });
    };
    if (math::looks_up(*d.family)) return mass(static_cast<std::int64_t>(x_[0]));
    for (std::size_t k = 0; k < x_.size(); ++k)
      if (x_[k] > 0 && !mass(static_cast<std::int64_t>(k))) return false;
    return true;
  }

  std::vector<double> values_of(const Parameter& p) const {
    if (is_zero(b_, p.value, at_)) return {0};
    return values_at(b_, p.value, at_);
  }

  /// Whether the number is at an end of its domain, under every choice.
  bool is_at_end(const Parameter& p) const {
    if (p.spelling->convert || (p.spelling->domain != Support::unit && p.spelling->domain != Support::positive))
      return false;
    const std::vector<double> values = values_of(p);
    return !values.empty() && std::ranges::all_of(values, [&](double v) {
      return v == 0 || (v == 1 && p.spelling->domain == Support::unit);
    });
  }

  bool is_possible(const Distribution& d, const Parameter& p) const {
    math::Environment e{x_.size(), {}, {}};
    for (const Parameter& other : d.parameters) {
      const std::vector<double> values = values_of(other);
      const double value = values.empty() ? inside(other.spelling->domain) : std::ranges::max(values);
      e.symbols[other.spelling->canonical] = {0, {value}};
    }
    e.symbols["x"] = {b_.model[s_.variable].event.empty() ? 0 : 1, x_};
    return std::ranges::any_of(values_of(p), [&](double value) {
      e.symbols[p.spelling->canonical] = {0, {value}};
      return math::log_density(*d.family, e) != -INFINITY;
    });
  }

  Binder& b_;
  const Statement& s_;
  Bounds at_;
  std::vector<double> x_;
};

bool is_discrete_count(Support s) {
  return s == Support::bit || s == Support::count || s == Support::counts || s == Support::category;
}

/// Whether data or constants in a rate or probability are 0 or 1 somewhere.
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

void check(Binder& b, const Slot& slot, const Statement& s) {
  std::size_t width = 1;
  for (std::size_t k = s.bounds.size(); k < slot.axes.size(); ++k)
    width *= static_cast<std::size_t>(b.out.sizes[slot.axes[k].index()]);
  const std::vector<const Distribution*> parts =
      s.others.empty() ? std::vector<const Distribution*>{&s.main} : distributions_of(s);
  const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
  for (std::size_t first = 0; first + width <= x.size(); first += width) {
    const Element e(b, slot, s, first, width);
    if (e.is_missing()) continue;
    const Parameter* by = nullptr;
    const Distribution* of = nullptr;
    const bool possible = std::ranges::any_of(parts, [&](const Distribution* d) {
      of = d;
      by = e.ruled_out_by(*d);
      return !by;
    });
    if (possible) continue;
    problem(b, ExitCode::data, b.arrays.at(slot.name).source,
            fmt::format("{} is {:.10g}, which has probability 0", element_name(b, slot, first), x[first]))
        .notes = {fmt::format("it is drawn from {}({} = {}, ...)", of->family->name, by->spelling->name,
                              print(b.model, by->value))};
    return;
  }
}

}  // namespace

void check_impossible(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.variable || slot.latent || !b.arrays.contains(slot.name)) continue;
    const Statement& s = b.model[b.model[*slot.variable].statement];
    const bool plain = is_discrete_count(b.model[s.variable].support) && !s.limits.any() && !s.start;
    const auto some_end = [&](const Distribution* d) {
      return std::ranges::any_of(d->parameters, [&](const Parameter& p) { return may_end(b, p); });
    };
    if (plain && std::ranges::any_of(distributions_of(s), some_end)) check(b, slot, s);
  }
}

}  // namespace lehr::model
