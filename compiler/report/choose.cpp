#include "compiler/report/choose.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/fitting/element_names.h"
#include "compiler/math/member_families.h"
#include "compiler/report/page.h"

namespace lehr::report {
namespace {

constexpr std::size_t kLargeSimplex = 20;  // longer ones are ranked, and so are those with labels that are longer than
constexpr std::size_t kLabelledSimplex = 10;
constexpr std::size_t kMostIntervals = 64, kMostPictures = 12, kMostLists = 40, kMostSequences = 9;
constexpr std::size_t kMostSteps = 20000;

/// The variable among those of the model, or null.
const model::Variable* find_variable(const Surroundings& s, const std::string& name) {
  if (!s.model) return nullptr;
  const auto found = std::ranges::find(s.model->variables, name, &model::Variable::name);
  return found == s.model->variables.end() ? nullptr : &*found;
}

/// The ordered plate that the elements of the variable lie along, the last of its axes.
const model::Plate* ordered_plate(const Surroundings& s, const Numbers& n) {
  const model::Variable* v = find_variable(s, n.variable->name);
  if (!v || v->axes.empty() || n.shape.size() != n.event + 1) return nullptr;
  const model::Plate& p = (*s.model)[v->axes.back()];
  return p.ordered ? &p : nullptr;
}

Sequences sequences(const Surroundings& s, const model::Plate& plate) {
  if (!s.data || !plate.parent) return {};
  return {s.data->offsets[plate.set.index()], (*s.model)[*plate.parent].name};
}

/// Whether the expression is the variable, with numbers added to it or taken off.
bool adds_to(const model::Model& m, model::ExprId id, const std::string& name) {
  if (const auto* ref = std::get_if<model::VariableRef>(&m[id].node)) return m[ref->variable].name == name;
  const auto* binary = std::get_if<model::Binary>(&m[id].node);
  if (!binary) return false;
  const bool sum = binary->op == model::BinaryOp::add, difference = binary->op == model::BinaryOp::subtract;
  return ((sum || difference) && adds_to(m, binary->left, name)) || (sum && adds_to(m, binary->right, name));
}

/// Whether values of `x` lie about those of the variable: it stands in their mean as it is.
bool lies_about(const model::Model& m, const model::Variable& x, const std::string& name) {
  const model::Distribution& d = m[x.statement].main;
  return std::ranges::any_of(d.parameters, [&](const model::Parameter& p) {
    return p.spelling->canonical == math::role_names(*d.family).location && adds_to(m, p.value, name);
  });
}

/// Observed numbers on the same axes, element by element, that are measured in the same unit.
std::vector<double> seen_beside(const Surroundings& s, const Numbers& n) {
  const model::Variable* v = find_variable(s, n.variable->name);
  if (!s.data || !v) return {};
  for (std::size_t k = 0; k < s.model->variables.size(); ++k) {
    const model::Variable& x = s.model->variables[k];
    if (x.observed && x.axes == v->axes && x.event.empty() && x.support == math::Support::real &&
        lies_about(*s.model, x, v->name))
      return s.data->observed[k].values;
  }
  return {};
}

/// How many elements there are of each value on average: the sums of the probabilities.
Markup shares(const SavedFit& fit, const Numbers& n) {
  const std::size_t width = n.last();
  std::vector<double> sums(width, 0.0);
  for (std::size_t k = 0; k < n.size(); ++k)
    sums[k % width] += n.mean[k];
  std::vector<Interval> rows;
  for (std::size_t k = 0; k < std::min(width, kMostIntervals); ++k)
    rows.push_back(
        {lehr::element(fit, n.axes.back(), k), sums[k], std::nan(""), std::nan(""), std::nan(""), "", false});
  return intervals(rows, fmt::format("Expected number of elements of each value, of {}.", n.size() / width));
}

/// Of too many numbers to show: how they are distributed.
Markup summarised(const Numbers& n) {
  std::vector<double> sorted = n.mean;
  std::ranges::sort(sorted);
  const auto at = [&](double q) {
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  return facts({{"numbers", text(fmt::format("{}", n.size()))},
                {"smallest mean", number(at(0))},
                {"a quarter is below", number(at(0.25))},
                {"half is below", number(at(0.5))},
                {"three quarters are below", number(at(0.75))},
                {"largest mean", number(at(1))}}) +
         beside(histogram(n.mean, "posterior mean of " + n.variable->name));
}

Markup of_simplex(const SavedFit& fit, const Numbers& n, const PictureOptions& o) {
  const std::size_t width = n.last(), rank = n.shape.size();
  const bool labelled = find_label(fit, n.axes.back(), 0) != nullptr;
  if (n.support == math::Support::category && n.size() / width > kMostIntervals) return shares(fit, n);
  if (width > (labelled ? kLabelledSimplex : kLargeSimplex) && (rank < 2 || n.axes[rank - 2] != n.axes[rank - 1]))
    return ranked(fit, n, o.top, kMostLists);
  if (rank == 1) return intervals(fit, n, kMostIntervals);
  if (static_cast<std::size_t>(n.shape[rank - 2]) * width <= kMostTiles) return heat_maps(fit, n, kMostPictures);
  return ranked(fit, n, o.top, kMostLists);
}

}  // namespace

bool is_single(const Numbers& n) { return n.size() == 1; }

Markup picture(const SavedFit& fit, const Numbers& n, const Surroundings& around, const PictureOptions& o) {
  for (std::size_t axis = n.axes.size(); axis-- > 0;) {
    const auto shape = o.images.find(n.axes[axis]);
    if (shape != o.images.end() &&
        static_cast<std::size_t>(n.shape[axis]) == shape->second.rows * shape->second.columns)
      return images(fit, n, axis, shape->second, 4 * kMostPictures);
  }
  const model::Plate* along = n.size() > 2 ? ordered_plate(around, n) : nullptr;
  if (along && n.support == math::Support::category)
    return state_ribbons(fit, n, sequences(around, *along), kMostSequences);
  if (along && n.event < 2 && !n.is_simplex())
    return ribbons(fit, n, sequences(around, *along), seen_beside(around, n), kMostSequences);
  if (n.is_simplex()) return of_simplex(fit, n, o);
  const std::size_t rank = n.shape.size();
  if (n.event == 2) return n.last() * n.last() <= kMostTiles ? heat_maps(fit, n, kMostPictures) : summarised(n);
  const bool square = rank == 2 && n.axes[0] == n.axes[1] && n.size() <= kMostTiles;
  if (n.size() <= kMostIntervals && !square) return intervals(fit, n, kMostIntervals);
  if (rank == 2 && n.size() <= kMostTiles) return heat_maps(fit, n, 1);
  if (rank == 1 && n.size() <= kMostSteps) return ribbons(fit, n, {}, {}, 1);
  return summarised(n);
}

}  // namespace lehr::report
