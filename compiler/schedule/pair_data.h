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

/// The pairs that a term sums over. A cell is the position of a pair: in the array, row after row, or in the list.
struct Pairs {
  /// The plate whose elements are paired.
  model::PlateId elements;
  /// For a list, the data that name the first and the second element of each pair; none for an array.
  std::optional<std::pair<DataSource, DataSource>> named_by = {};
  /// The observed variable that must have a value at the cell; none if all cells count.
  std::optional<model::VariableId> present = {};
  /// Orders pairs, for maps.
  auto operator<=>(const Pairs&) const = default;
};

/// A pair of elements that occurs more or less often than Coverage says.
struct UncoveredPair {
  /// The elements of the pair.
  std::int64_t first, second;
  /// How often the pair occurs, minus how often it should.
  double excess;
};

/// The pairs of elements in the data: each pair of the regions once, but for exceptions.
struct Coverage {
  /// True if the pairs of an element with itself occur.
  bool diagonal = false;
  /// True if the pairs occur whose first element comes before the second.
  bool above = false;
  /// True if the pairs occur whose first element comes after the second.
  bool below = false;
  /// The pairs that occur in no region, more than once, or in a region but not in the data.
  std::vector<UncoveredPair> exceptions = {};
};

/// Answers questions about pairs from the data.
class PairData {
 public:
  /// Reads `data`, which were bound to `m`; both must outlive this.
  PairData(const model::Model& m, const BoundData& data) : m_(m), data_(data) {}

  /// Returns the number of cells.
  std::int64_t cells(const Pairs& pairs) const;
  /// Returns the values of a data array, as bound.
  const std::vector<double>& values(const DataSource& source) const;
  /// Returns the elements of the pair at a cell.
  std::pair<std::int64_t, std::int64_t> elements(const Pairs& pairs, std::int64_t cell) const;
  /// Returns the one value that more than half of the cells can have, of an array with a number for each cell; nothing
  /// if no value can.
  std::optional<double> common_value(const Pairs& pairs, const DataSource& source) const;
  /// Returns the cells, ascending, whose value is not `common`; nothing if they are more than `most`.
  std::optional<std::vector<std::int64_t>> others(const Pairs& pairs, const DataSource& source, double common,
                                                  std::int64_t most) const;
  /// Returns which pairs there are; nothing if there would be more than `most` exceptions.
  std::optional<Coverage> coverage(const Pairs& pairs, std::int64_t most) const;

 private:
  /// Returns true if the cell counts: the variable that must have a value there has one.
  bool counts(const Pairs& pairs, std::size_t cell) const;

  const model::Model& m_;  // the model
  const BoundData& data_;  // its data
};

}  // namespace lehr::schedule
