// Barren nodes: latent elements on which no data depend, directly or through others (Shachter 1986). Integrated out,
// they contribute nothing to the other factors. A mask makes each term that holds one count for the element's own
// factor only, which then is its distribution given its parents. With an ordinary factor it would narrow the posterior
// of its parents, without any evidence.
//
//   mu ~ Normal(...);  x[i] ~ Normal(mean = mu, ...);  observe y[i] ~ Normal(mean = x[i], ...);   with y[3] missing
//
// Here x[3] is barren: q(x[3]) follows q(mu), but q(mu) is formed from the other elements alone.
#pragma once
#include <optional>

#include "compiler/binding/bind.h"
#include "compiler/density/density.h"
#include "compiler/schedule/schedule.h"

namespace lehr {

/// Masks of barren elements, by VariableId: 0 for a barren element, 1 for any other. A vector of independent entries
/// has one mask value for each entry. The mask of a variable is empty if none of its elements is barren, or if barren
/// elements are not looked for: it shares a factor, is a chain, or depends on no latent variable.
using Masks = std::vector<std::vector<double>>;
/// Finds the barren elements of a model with these data. With `items`, the data are those of some elements of that
/// plate, and only variables whose outermost plate it is are examined.
Masks find_barren(const model::Model& model, const BoundData& data, std::optional<model::PlateId> items = {});

/// Returns the masks with those cleared that have some element with data. The others are of variables that no data
/// reach.
Masks unreached_masks(Masks masks);

/// Returns the masks with those of the members of joint factors cleared: all elements of a member count.
Masks without_members(const model::Guide& guide, Masks masks);

/// Returns the masks with those of global variables cleared: these have their factors from a fit.
Masks item_masks(const schedule::Schedule& schedule, Masks masks);

/// Returns the options under which the density gets a mask for each variable that has one in `masks`; the other options
/// stay.
density::ExpandOptions with_masks(density::ExpandOptions options, const Masks& masks);

/// Puts the masks into the data, as the arrays that a model expanded with with_masks() reads. A variable without barren
/// elements gets ones.
void add_masks(const model::Model& model, const Masks& masks, BoundData& data);

}  // namespace lehr
