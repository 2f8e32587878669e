// The statistics of a schedule: the inner parts of divided terms. Equal inner parts share one statistic.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Adds statistics to a schedule, so that each sum over items is formed once: if an earlier statistic has an equal
/// inner part, it reuses that one.
class SharedStatistics {
 public:
  /// Adds statistics to `s`, which must outlive this object. Statistics that `s` already has are not reused.
  explicit SharedStatistics(Schedule& s) : s_(s), a_(s.conditionals.density.algebra) {}

  /// Adds the sum `stat`, which has all but its arrays, to the schedule, unless an equal one is there. Returns `outer`,
  /// the outer part of its term, as a product with the statistic; `outer_at` is the entry of `stat` that it is
  /// multiplied by. Inner parts that are equal up to names of index variables and order of axes share one statistic. If
  /// an item stage forms the sum, `item` is the index variable of its items, and a new statistic is also added to the
  /// terms of the stage.
  OuterTerm add(Statistic stat, Term outer, std::vector<density::IndexId> outer_at, density::IndexVarId item);

 private:
  /// Appends a number for each node of a coefficient to `out`: its kind, and the data array if it reads one.
  void add_sources(density::CoefId c, std::vector<std::int64_t>& out) const;
  /// Returns a key that equal inner parts have in common, whatever the names of their index variables: the data and the
  /// variables in them. Only statistics with the same key are compared by same().
  std::vector<std::int64_t> signature(const Term& inner) const;
  /// Returns the permutation of axes under which `stat` is `existing`: for each axis of `existing`, the axis of `stat`.
  /// Returns nothing if they are different, or if 120 assignments of index variables do not show that they are equal.
  std::optional<std::vector<std::size_t>> same(const Statistic& existing, const Statistic& stat);
  /// Returns true if guards, multiplicities and atoms of `x` are those of `y` after renaming, in the same order.
  bool equal_parts(const Term& x, const Term& y, const density::Algebra::Substitution& rename);

  Schedule& s_;          // has the statistics
  density::Algebra& a_;  // of the terms
  /// The statistics by item stage, number of axes and signature, in order.
  std::map<std::tuple<std::optional<std::size_t>, std::size_t, std::vector<std::int64_t>>, std::vector<std::size_t>>
      by_signature_;
};

}  // namespace lehr::schedule
