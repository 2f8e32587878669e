// Checks the lengths of snapshots before they are read. A snapshot may come from a checkpoint file, which may be
// damaged; a wrong length must end the run with an error instead of an access outside an array.
#pragma once
#include <algorithm>

#include "runtime/parallel/journal.h"

namespace lehr {

/// Throws ReplayMismatch unless both snapshots have the same number of arrays, of the same lengths; that of a damaged
/// checkpoint may differ.
inline void expect_same_lengths(const Arrays& a, const Arrays& b) {
  const auto same = [](const std::vector<double>& x, const std::vector<double>& y) { return x.size() == y.size(); };
  if (!std::ranges::equal(a, b, same)) throw ReplayMismatch();
}

/// Throws ReplayMismatch unless the snapshot has `count` arrays of length `each`; that of a damaged checkpoint may
/// differ.
inline void expect_lengths(const Arrays& a, std::size_t count, std::size_t each) {
  const bool all = std::ranges::all_of(a, [&](const std::vector<double>& x) { return x.size() == each; });
  if (a.size() != count || !all) throw ReplayMismatch();
}

}  // namespace lehr
