// The rules that choose a plot. They are tried in order, and the first that applies wins. Images that the user asked
// for come first, then bands along an ordered plate. Probabilities become lists or heat maps, matrices heat maps. Few
// numbers become an interval plot, and many a summary with a histogram.
#include "compiler/report/choose_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/math/member_families.h"
#include "compiler/posterior/element_names.h"
#include "compiler/report/page.h"

namespace lehr::report {
namespace {

// Simplexes with more elements become ranked lists; with labels, those with more than kLabelledSimplex.
constexpr std::size_t kLargeSimplex = 20;
constexpr std::size_t kLabelledSimplex = 10;
// The most intervals, plots of a kind, lists and sequences that one variable gets.
constexpr std::size_t kMostIntervals = 64, kMostPictures = 12, kMostLists = 40, kMostSequences = 9;
// The most elements that are plotted as one band.
constexpr std::size_t kMostBandElements = 20000;

/// Returns the variable of this name in the model, or null; null also without a model.
const model::Variable* find_variable(const PlotContext& s, const std::string& name) {
  if (!s.model) return nullptr;
  const auto found = std::ranges::find(s.model->variables, name, &model::Variable::name);
  return found == s.model->variables.end() ? nullptr : &*found;
}

/// Returns the ordered plate along which a variable's elements lie (a chain in time), or null. It must be the only axis
/// besides those of the event.
const model::Plate* ordered_plate(const PlotContext& s, const PosteriorSummary& n) {
  const model::Variable* v = find_variable(s, n.variable->name);
  if (!v || v->axes.empty() || n.shape.size() != n.event + 1) return nullptr;
  const model::Plate& p = (*s.model)[v->axes.back()];
  return p.ordered ? &p : nullptr;
}

/// Returns where the sequences of a nested plate begin; one sequence for other plates, or without data.
Sequences sequences(const PlotContext& s, const model::Plate& plate) {
  if (!s.data || !plate.parent) return {};
  return {s.data->offsets[plate.set.index()], (*s.model)[*plate.parent].name};
}

/// Returns true if the expression is the variable `name` plus or minus other terms, as `level[t] + offset` is for
/// `level`.
bool adds_to(const model::Model& m, model::ExprId id, const std::string& name) {
  if (const auto* ref = std::get_if<model::VariableRef>(&m[id].node)) return m[ref->variable].name == name;
  const auto* binary = std::get_if<model::Binary>(&m[id].node);
  if (!binary) return false;
  const bool sum = binary->op == model::BinaryOp::add, difference = binary->op == model::BinaryOp::subtract;
  return ((sum || difference) && adds_to(m, binary->left, name)) || (sum && adds_to(m, binary->right, name));
}

/// Returns true if the mean of the observed variable `x` is `name` plus other terms. The data are then on the scale of
/// the variable and can be drawn over its posterior.
bool lies_about(const model::Model& m, const model::Variable& x, const std::string& name) {
  const model::Distribution& d = m[x.statement].main;
  return std::ranges::any_of(d.parameters, [&](const model::Parameter& p) {
    return p.spelling->canonical == math::role_names(*d.family).location && adds_to(m, p.value, name);
  });
}

/// Returns observed values with the same axes as the variable and on its scale; empty if there are none.
std::vector<double> observations_of(const PlotContext& s, const PosteriorSummary& n) {
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

/// Returns a plot of the expected number of elements with each value of a category: its probabilities summed over all
/// elements.
Markup expected_counts(const SavedFit& fit, const PosteriorSummary& n) {
  const std::size_t width = n.last_extent();
  std::vector<double> sums(width, 0.0);
  for (std::size_t k = 0; k < n.size(); ++k)
    sums[k % width] += n.mean[k];
  std::vector<Interval> entries;
  for (std::size_t k = 0; k < std::min(width, kMostIntervals); ++k)
    entries.push_back(
        {lehr::element(fit, n.axes.back(), k), sums[k], std::nan(""), std::nan(""), std::nan(""), "", false});
  return intervals(entries, fmt::format("Expected number of elements of each value, of {}.", n.size() / width));
}

/// Returns quantiles and a histogram, for variables with too many scalars to show.
Markup summary_of_many(const PosteriorSummary& n) {
  std::vector<double> sorted = n.mean;
  std::erase_if(sorted, [](double x) { return std::isnan(x); });
  if (sorted.empty()) return definition_list({{"numbers", text(fmt::format("{}, without means", n.size()))}});
  std::ranges::sort(sorted);
  const auto at = [&](double q) {
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  return definition_list({{"numbers", text(fmt::format("{}", n.size()))},
                          {"smallest mean", number(at(0))},
                          {"a quarter is below", number(at(0.25))},
                          {"half is below", number(at(0.5))},
                          {"three quarters are below", number(at(0.75))},
                          {"largest mean", number(at(1))}}) +
         beside(histogram(n.mean, "posterior mean of " + n.variable->name));
}

/// Returns the plot of probabilities: totals by value for many categories, ranked lists for large simplexes, intervals
/// for one simplex, heat maps for the others.
Markup of_simplex(const SavedFit& fit, const PosteriorSummary& n, const PlotOptions& o) {
  const std::size_t width = n.last_extent(), rank = n.shape.size();
  const bool labelled = find_label(fit, n.axes.back(), 0) != nullptr;
  if (n.support == math::Support::category && n.size() / width > kMostIntervals) return expected_counts(fit, n);
  if (width > (labelled ? kLabelledSimplex : kLargeSimplex) && (rank < 2 || n.axes[rank - 2] != n.axes[rank - 1]))
    return ranked(fit, n, o.top, kMostLists);
  if (rank == 1) return intervals(fit, n, kMostIntervals);
  if (static_cast<std::size_t>(n.shape[rank - 2]) * width <= kMostTiles) return heat_maps(fit, n, kMostPictures);
  return ranked(fit, n, o.top, kMostLists);
}

}  // namespace

bool is_single(const PosteriorSummary& n) { return n.size() == 1; }

Markup plot_of(const SavedFit& fit, const PosteriorSummary& n, const PlotContext& context, const PlotOptions& o) {
  for (std::size_t axis = n.axes.size(); axis-- > 0;) {
    const auto shape = o.images.find(n.axes[axis]);
    if (shape != o.images.end() &&
        static_cast<std::size_t>(n.shape[axis]) == shape->second.rows * shape->second.columns)
      return images(fit, n, axis, shape->second, 4 * kMostPictures);
  }
  const model::Plate* along = n.size() > 2 ? ordered_plate(context, n) : nullptr;
  if (along && n.support == math::Support::category)
    return state_ribbons(fit, n, sequences(context, *along), kMostSequences);
  if (along && n.event < 2 && !n.is_simplex())
    return ribbons(fit, n, sequences(context, *along), observations_of(context, n), kMostSequences);
  if (n.is_simplex()) return of_simplex(fit, n, o);
  const std::size_t rank = n.shape.size();
  if (n.event == 2)
    return n.last_extent() * n.last_extent() <= kMostTiles ? heat_maps(fit, n, kMostPictures) : summary_of_many(n);
  const bool square = rank == 2 && n.axes[0] == n.axes[1] && n.size() <= kMostTiles;
  if (n.size() <= kMostIntervals && !square) return intervals(fit, n, kMostIntervals);
  if (rank == 2 && n.size() <= kMostTiles) return heat_maps(fit, n, 1);
  if (rank == 1 && n.size() <= kMostBandElements) return ribbons(fit, n, {}, {}, 1);
  return summary_of_many(n);
}

}  // namespace lehr::report
