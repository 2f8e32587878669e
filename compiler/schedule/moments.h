// Items that enter a model by the moments of their data: probabilistic principal components, factor analysis, random
// effects of units with complete data.
#pragma once
#include "compiler/conditionals/conditionals.h"

namespace lehr::schedule {

/// Returns true if the log joint is a polynomial of degree 2 at most in the data and the latent real variables of each
/// item of the plate together, with coefficients that are the same for all items. Given the global factors, the optimal
/// means of an item's variables are then affine in its data, and their covariances are those of all other items. So the
/// sums over items depend on the data by their first and second moments alone, and the same sums come from a few
/// artificial items with these moments (runtime/search/sigma_points.h).
bool depends_on_moments(const model::Model& m, const conditionals::Conditionals& c, model::PlateId item);

}  // namespace lehr::schedule
