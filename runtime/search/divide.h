// Splits a component in two: some of its items, or of the elements of a stored category, are moved to another
// component. split.h chooses which. The statistics of moved items are subtracted from the first component and added to
// the second, so only these items are visited. If the category is stored, the probabilities of the moved elements
// change component, and all statistics are recomputed.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "runtime/inference/sweep.h"
#include "runtime/rng.h"
#include "runtime/search/components.h"

namespace lehr {

/// How much single elements belong to each component, from which a split takes the elements of a component: one array
/// an element. It has the number of the element, then one entry for each component: the probability of a stored
/// category, or the expected count of the item's elements.
using Memberships = Arrays;

/// Returns the memberships of the elements that an allocation assigns. If the category is not stored, they are those of
/// a random sample of at most 1000 items, computed from the statistics of each item alone; this changes the state.
/// Items that fail are left out. If it is stored, they are those of all elements.
Memberships memberships_of(const Engine& e, const SweepOptions& o, const Components& c, const Allocation& a, Rng& rng);

/// Returns the numbers of the elements of which a fraction of at least 0.3 belongs to component k, in the order of
/// `memberships`, which is ascending. Throws ReplayMismatch if the memberships do not fit the components or the number
/// of elements, as those of a damaged checkpoint may.
std::vector<std::int64_t> members_of(const Memberships& memberships, std::size_t k, const Components& c,
                                     std::size_t elements);
/// Returns how many elements an allocation assigns to components: items if it has a step of its own (Allocation::step),
/// otherwise elements of the stored category.
std::size_t elements_of(const Engine& e, const Components& c, const Allocation& a);

/// A component that a split can fill: one without elements, or one that a merge empties first.
struct SplitTarget {
  std::size_t at = 0;                                              // number of the component that is filled
  std::optional<std::pair<std::size_t, std::size_t>> merged = {};  // the merge (from, to); none: it is empty already
};

/// Moves the elements `part` of component k to the component `target.at`, after the merge of `target` if there is one.
/// `state` must be the state in place. The edit is incomplete until update_from_sums(). Returns 0 or a status of the
/// generated code.
std::int32_t divide(const Engine& e, const SweepOptions& o, const Components& c, const Allocation& a,
                    const Arrays& state, std::size_t k, const SplitTarget& target,
                    const std::vector<std::int64_t>& part);

}  // namespace lehr
