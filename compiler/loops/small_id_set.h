// Small sets of ids, as sorted vectors. Passes create and drop such sets by the thousand. A sorted vector needs one
// allocation, and is fast as long as members are inserted in order or are few.
#pragma once
#include <algorithm>
#include <boost/container/flat_set.hpp>
#include <utility>

namespace lehr::loops {

/// A set of ids as a sorted vector, with the interface of std::set: fast if members are few or inserted in order.
template <class Id>
using SmallIdSet = boost::container::flat_set<Id>;

/// Removes the members for which the condition is true.
template <class Id, class Condition>
void erase_if(SmallIdSet<Id>& ids, const Condition& condition) {
  auto members = ids.extract_sequence();
  members.erase(std::remove_if(members.begin(), members.end(), condition), members.end());
  ids.adopt_sequence(boost::container::ordered_unique_range, std::move(members));
}

}  // namespace lehr::loops
