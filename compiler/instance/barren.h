// Barren nodes: latent elements on which no data depend, directly or through others (Shachter 1986). Integrated out,
// they contribute nothing to the other factors. With a mask, a term with a barren element counts for the factor of this
// element only, which then is its distribution given its parents. With an ordinary factor it would narrow the posterior
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
/// has one mask value for each entry. The mask of a variable is empty if none of its elements is barren. It is also
/// empty if barren elements are not looked for: the variable shares a factor, is a chain, has limits, depends on no
/// latent variable, or is a category that chooses a part of an observation.
using Masks = std::vector<std::vector<double>>;
/// Finds the latent elements of a model on which none of these data depend, and returns them as masks. Elements of
/// partly observed variables count too if they have no value. With `items`, the data are those of some elements of that
/// plate, and only variables whose outermost plate it is are examined.
Masks find_barren(const model::Model& model, const BoundData& data, std::optional<model::PlateId> items = {});

/// Returns the masks of variables that have nothing but barren elements, so that the choice of joint factors leaves
/// these variables out; the other masks are cleared.
Masks unreached_masks(Masks masks);

/// Returns the masks with those of the members of joint factors cleared: no element of a member counts as barren,
/// because it has no factor of its own.
Masks without_members(const model::Guide& guide, Masks masks);

/// Returns the masks for predictions and scores, which infer item variables alone: those of variables that no item
/// stage updates are cleared, since these have their factors from a fit.
Masks item_masks(const schedule::Schedule& schedule, Masks masks);

/// Returns the options with which density::expand gives a mask to each variable that has one in `masks`; the other
/// options stay.
density::ExpandOptions with_masks(density::ExpandOptions options, const Masks& masks);

/// Puts the masks into the data, as the input arrays that a model expanded with with_masks() reads. If the model has a
/// mask for a variable that has none in `masks`, its array stays as it is, or gets ones if it is empty.
void add_masks(const model::Model& model, const Masks& masks, BoundData& data);

}  // namespace lehr
