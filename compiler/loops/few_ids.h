// Sets of arrays or scalars, as passes over code form and drop them by the thousand.
#pragma once
#include <algorithm>
#include <boost/container/flat_set.hpp>
#include <utility>

namespace lehr::loops {

/// A vector in order: members come at once or are few.
template <class Id>
using FewIds = boost::container::flat_set<Id>;

template <class Id, class Condition>
void erase_if(FewIds<Id>& ids, const Condition& condition) {
  auto members = ids.extract_sequence();
  members.erase(std::remove_if(members.begin(), members.end(), condition), members.end());
  ids.adopt_sequence(boost::container::ordered_unique_range, std::move(members));
}

}  // namespace lehr::loops
