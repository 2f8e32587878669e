// Which terms of the log joint a temperature divides (annealing and tempering).
#pragma once
#include <vector>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Returns, by PlateId, true for plates whose elements are items of the data (model::is_item_plate). Only the entries
/// of plates that are their own set (Plate::set) can be true.
std::vector<bool> item_plates(const model::Model& m);

/// Returns, by origin, true for the terms that a temperature divides with Tempering::data: observed statements,
/// potentials, statements with an axis over items, and origins with an atom of a local block. The tangent points of a
/// variable outside the items do not count as such atoms. Of `s`, only Schedule::conditionals and Schedule::local are
/// read.
///
/// The prior of a continuous local variable is left out if the integral of the tempered density depends on that
/// variable: topic proportions, or scales of single points. So is the prior of what such a variable depends on. These
/// variables cannot be integrated out of the tempered density, so it is conditional on them, as on the globals. Mandt
/// et al. (2016), Variational tempering, treat latent Dirichlet allocation like this.
std::vector<bool> tempered_origins(const model::Model& m, const Schedule& s);

/// Returns, by origin (statement or potential), true for the terms that a temperature divides with
/// Tempering::likelihood: observed statements and potentials.
std::vector<bool> likelihood_origins(const density::Density& d);

}  // namespace lehr::schedule
