#pragma once
#include "compiler/report/markup.h"
#include "compiler/report/mixture.h"

namespace lehr::report {

/// The data with an ellipse of two standard deviations for each component, in the pairs of coordinates that tell the
/// components apart; of numbers a histogram with their densities. Components of next to no weight are left out, and
/// that is said.
Markup scatter(const SavedFit& fit, const Mixture& mixture);

}  // namespace lehr::report
