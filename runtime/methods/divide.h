// A component divided into two: a part of its items, or of the elements of a stored category, becomes another one's.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "runtime/methods/components.h"
#include "runtime/methods/sweep.h"
#include "runtime/rng.h"

namespace lehr {

/// What single elements have of each component: their number, and that.
using Shares = Arrays;

/// Of a random sample of the items where the category is not stored (from the statistics of each of them alone; the
/// state moves), and of all elements where it is.
Shares shares_of(const Engine& e, const SweepOptions& o, const Components& c, const Allocation& a, Rng& rng);

/// Those of which a component has a share worth moving, ascending.
/// Throws OtherRun where the shares are those of other components, or of more elements (`elements_of`).
std::vector<std::int64_t> members_of(const Shares& shares, std::size_t k, const Components& c, std::size_t elements);
std::size_t elements_of(const Engine& e, const Components& c, const Allocation& a);

/// A component that is free, or is left free by a merge.
struct Room {
  std::size_t at = 0;
  std::optional<std::pair<std::size_t, std::size_t>> merged = {};  // from, to
};

/// An edit: what `part` has of component k becomes the other's. `state` is the one in place.
std::int32_t divide(const Engine& e, const SweepOptions& o, const Components& c, const Allocation& a,
                    const Arrays& state, std::size_t k, const Room& room, const std::vector<std::int64_t>& part);

}  // namespace lehr
