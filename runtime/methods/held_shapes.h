// What a run holds may come from a checkpoint, which may have been written over: its lengths are looked at before it is
// read.
#pragma once
#include <algorithm>

#include "runtime/methods/journal.h"

namespace lehr {

/// Throws OtherRun where two do not have the same lengths.
inline void expect_alike(const Arrays& a, const Arrays& b) {
  const auto same = [](const std::vector<double>& x, const std::vector<double>& y) { return x.size() == y.size(); };
  if (!std::ranges::equal(a, b, same)) throw OtherRun();
}

/// Throws OtherRun where they are not so many of such a length.
inline void expect_lengths(const Arrays& a, std::size_t count, std::size_t each) {
  const bool all = std::ranges::all_of(a, [&](const std::vector<double>& x) { return x.size() == each; });
  if (a.size() != count || !all) throw OtherRun();
}

}  // namespace lehr
