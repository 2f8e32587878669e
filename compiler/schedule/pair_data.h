// What the data say about the pairs of elements that a term sums over: which value nearly all have, which pairs differ
// from it, and which pairs there are.
//
// The pairs are the entries of an array over two plates with the same elements (`tie[i, j]`), or those of a list whose
// data name both elements (`tie[pair]` with `a[pair]` and `b[pair]`).
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/density/algebra.h"

namespace lehr::schedule {

using density::DataSource;

/// The pairs of elements that a term of the log joint sums over, all pairs (an array with a cell for each) or those of
/// a list in the data. A cell is the position of a pair: in the array, row after row, or in the list.
struct Pairs {
  /// The plate whose elements are paired.
  model::PlateId elements;
  /// For a list, the data that name the first and the second element of each pair; none for an array.
  std::optional<std::pair<DataSource, DataSource>> named_by = {};
  /// The observed variable that must have a value at the cell; none if all cells count.
  std::optional<model::VariableId> present = {};
  /// Orders objects of this type field by field, so that they can be keys of a map.
  auto operator<=>(const Pairs&) const = default;
};

/// An exception in Coverage: a pair of elements that occurs in the data although its region is not covered, or that
/// does not occur exactly once although its region is.
struct UncoveredPair {
  /// The two elements of the pair, from 0.
  std::int64_t first, second;
  /// How often the pair occurs, minus how often it should.
  double excess;
};

/// Which pairs of elements occur in the data: each pair of the covered regions once, but for exceptions. A region is
/// covered if more of its pairs occur exactly once than not at all.
struct Coverage {
  /// True if the region of the pairs of an element with itself is covered.
  bool diagonal = false;
  /// True if the region of the pairs whose first element comes before the second is covered.
  bool above = false;
  /// True if the region of the pairs whose first element comes after the second is covered.
  bool below = false;
  /// The pairs that occur although their region is not covered, those that occur more than once, and those of a covered
  /// region that do not occur.
  std::vector<UncoveredPair> exceptions = {};
};

/// Answers questions about the pairs of elements that a term sums over, from the data: which value nearly all have,
/// which pairs differ from it, which pairs there are. separate_pairs() asks them.
class PairData {
 public:
  /// Makes an object for `data`, which were bound to `m`; both must outlive it.
  PairData(const model::Model& m, const BoundData& data) : m_(m), data_(data) {}

  /// Returns how many pairs the array or list has, also those where Pairs::present has no value.
  std::int64_t cells(const Pairs& pairs) const;
  /// Returns the values of a data array, as bound: missing ones are NaN.
  const std::vector<double>& values(const DataSource& source) const;
  /// Returns the two elements of the pair at a cell, from 0.
  std::pair<std::int64_t, std::int64_t> elements(const Pairs& pairs, std::int64_t cell) const;
  /// Returns the only value of `source`, an array with a number for each cell, that more than half of the cells can
  /// have. Returns nothing if there is none or it is not finite. It is only a candidate: others() counts how many cells
  /// differ from it. Cells where Pairs::present has no value do not count, here and below.
  std::optional<double> common_value(const Pairs& pairs, const DataSource& source) const;
  /// Returns the cells, ascending, whose value of `source` is not `common`. Returns nothing if they are more than
  /// `most` or if a value is missing (NaN).
  std::optional<std::vector<std::int64_t>> others(const Pairs& pairs, const DataSource& source, double common,
                                                  std::int64_t most) const;
  /// Returns which pairs there are. Returns nothing if there would be more than `most` exceptions, or if counting the
  /// pairs would need too much memory: more than 2^20 elements, or more than eight possible pairs for each cell.
  /// Returns nothing as well if an element is out of range or a pair occurs 255 times.
  std::optional<Coverage> coverage(const Pairs& pairs, std::int64_t most) const;

 private:
  /// Returns true if the cell counts: Pairs::present has a value there, or is empty.
  bool counts(const Pairs& pairs, std::size_t cell) const;

  const model::Model& m_;  // the model that the data were bound to
  const BoundData& data_;  // the data that it reads
};

}  // namespace lehr::schedule
