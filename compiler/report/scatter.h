// Scatter plots of data under a Gaussian mixture.
#pragma once
#include "compiler/report/markup.h"
#include "compiler/report/mixture.h"

namespace lehr::report {

/// Returns plots of the data with an ellipse of two standard deviations for each component. There is one plot for each
/// pair of the (up to four) coordinates whose means differ most between components. Scalar data become a histogram with
/// the density of each component. Components with a weight below kMinShownWeight are left out, which the caption says.
Markup scatter(const SavedFit& fit, const Mixture& mixture);

}  // namespace lehr::report
