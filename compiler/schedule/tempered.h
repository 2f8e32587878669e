// Which terms of the log joint a temperature divides.
#pragma once
#include <vector>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// By plate: the first axis of an observed statement.
std::vector<bool> item_plates(const model::Model& m);

/// By origin: observed statements, potentials, statements on the items, and what holds a local variable. The prior of a
/// continuous local variable is not tempered where it is a prior of others and not a coordinate of the data: where the
/// integral of a tempered density depends on it (topic proportions, scales of single points), or where what it is a
/// parent of is such a variable. It could not be integrated out of the tempered density, so that is conditional on it,
/// as on the globals. Mandt et al. (2016) temper latent Dirichlet allocation like this.
std::vector<bool> tempered_origins(const model::Model& m, const Schedule& s);

/// By origin: observed statements and potentials.
std::vector<bool> likelihood_origins(const density::Density& d);

}  // namespace lehr::schedule
