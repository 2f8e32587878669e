// Latent elements on which no data depend (barren nodes of a Bayesian network; Shachter 1986). Integrated out they are
// no factor of anything else: terms that hold them count for their own factors alone, which are then their
// distributions given their parents. With a factor like those of the others they would narrow the posterior of the
// parents, of which they say nothing.
#pragma once
#include <optional>

#include "compiler/density/density.h"
#include "compiler/model/bind.h"
#include "compiler/schedule/schedule.h"

namespace lehr {

/// By VariableId, where some elements are barren: 1 for those that are not, else 0. A vector of independent entries has
/// a number for each entry, 0 also for one without a value in an element on which nothing else depends. Empty where
/// there are none, or the variable shares a factor, is a chain, or depends on no other latent variable. With `items`
/// the data are those of some of its elements, and only variables that lie on it are looked at.
using Masks = std::vector<std::vector<double>>;
Masks find_barren(const model::Model& model, const BoundData& data, std::optional<model::PlateId> items = {});

/// Those of variables that are inferred item by item: what else there is has its factors from a fit.
Masks of_items(const schedule::Schedule& schedule, Masks masks);

/// The options that leave barren elements out; the others stay.
density::ExpandOptions with_masks(density::ExpandOptions options, const Masks& masks);

/// The arrays of a model that was expanded so.
void add_masks(const model::Model& model, const Masks& masks, BoundData& data);

}  // namespace lehr
