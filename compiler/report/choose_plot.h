// The choice of a plot for each variable of a posterior. It depends on the family, the plates and the sizes of the
// variable, and not on names. For example, a large simplex becomes a ranked list, values along an ordered plate a band
// over time, and a matrix a heat map.
#pragma once
#include <map>
#include <string>

#include "compiler/binding/bind.h"
#include "compiler/report/plots.h"

namespace lehr::report {

/// The options of the user of `lehr report` for the plots of the posterior.
struct PlotOptions {
  /// By plate whose elements are pixels: height and width of the images to draw them as.
  std::map<std::string, ImageShape> images;
  std::size_t top = 12;  // number of most probable elements listed of a large simplex
};

/// What a plot may use besides the posterior: the model and the data of the fit, for time axes and dots of data. Either
/// is null if it is no longer available.
struct PlotContext {
  const model::Model* model = nullptr;  // the model of the fit, or null
  const BoundData* data = nullptr;      // the data, bound to the model, or null
};

/// Chooses the plot of one variable by its family, plates and sizes, and returns it as HTML. A plate that the user
/// declared as pixels (PlotOptions::images) gives images, an ordered plate bands, a matrix a heat map, a large simplex
/// a ranked list, a few numbers intervals, many a histogram. `n` has its posterior means and intervals, `context` the
/// model and data if they are available.
Markup plot_of(const SavedFit& fit, const PosteriorSummary& n, const PlotContext& context, const PlotOptions& options);

/// Returns true if the posterior of the variable is a single number, also if it has axes of extent 1. The report shows
/// all such variables as rows of one table of intervals, and each other variable by plot_of().
bool is_single(const PosteriorSummary& n);

}  // namespace lehr::report
