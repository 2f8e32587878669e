// A survey is what one complete pass over out-of-core data finds out: sizes, largest values, labels, missing values. It
// is made in parts, one after another, by one process or by each process of a group. Surveys of consecutive ranges of
// items add up to the survey of both.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/evaluate/ill_scaled_columns.h"
#include "runtime/bytes.h"

namespace lehr {

/// What the survey found in one array of the files, before the array is bound to the model: what gives plates their
/// sizes and labels.
struct SurveyedArray {
  double largest = -1;           // the largest number, if there is no text; -1: none is larger
  std::set<std::string> levels;  // the distinct texts among its values
  bool has_numeric = false;      // true if some values are numbers and not text
};

/// What the survey found in one array of the model (an input or a variable) after it was bound: moments that show
/// ill-scaled columns, missing values, and elements on which no data depend.
struct CheckedArray {
  RunningMoments moments;    // mean and standard deviation of each column of real numbers; empty for other types
  bool has_missing = false;  // true if a value is missing
  bool has_barren = false;   // true if some element on the items has no data that depend on it
  /// True if all elements of a variable outside the items count as d-connected to data, without a search: it has not
  /// exactly one axis, or the data name elements by text. `d_connected` is then not used.
  bool is_d_connected = false;
  /// By element of a variable outside the items: 1 if the data of some item depend on it, else 0. It may be shorter
  /// than the variable; the elements after its end are 0.
  std::vector<double> d_connected;

  /// Merges in the mask of further items into `d_connected`: an element is 1 if it is 1 in either. `mask` is laid out
  /// as by find_barren.
  void add_d_connected(const std::vector<double>& mask);
};

/// The survey of a consecutive range of items of out-of-core data: what one pass over them found. Parts that are read
/// later are bound with its sizes and labels, and compared with it.
struct DataSurvey {
  std::int64_t begin = 0;                       // the number of the first item of the range
  std::map<std::string, SurveyedArray> arrays;  // findings on each array of the files, by its name
  /// Findings on the inputs, by GivenId, and on all variables, by VariableId. Those of latent variables are
  /// `has_barren`, `is_d_connected` and `d_connected` alone.
  std::vector<CheckedArray> givens, observed;
  /// For each nested plate, by PlateId: the number of elements in all rows, and in the longest row.
  std::vector<std::int64_t> elements, longest;
  /// For each nested plate, by PlateId: a sparse index of where items begin. The entries belong to the items whose
  /// number is a multiple of `stride`; each counts the elements of the range before that item.
  std::vector<std::vector<std::int64_t>> item_offsets;
  std::int64_t stride = 1;  // distance of the items in `item_offsets`: a power of two that keeps them few
  /// A checksum of the values of all arrays on the items, as hexadecimal digits. It shows a resumed fit whether the
  /// data are still the same.
  std::string digest;
  double value_count = 0;  // how many numbers all arrays have together

  /// Doubles `stride` until no list in `item_offsets` has more than 65536 entries.
  void thin();
  /// Merges in the survey `next` of the items that follow this range; it is then the survey of both ranges.
  void add(const DataSurvey& next);

 private:
  /// Removes the entries of `item_offsets` whose item is not a multiple of `new_stride`, a multiple of `stride`.
  void coarsen_index(std::int64_t new_stride);
};

/// Serialises a SurveyedArray, for messages between processes.
template <class Archive>
void fields(Archive& a, SurveyedArray& x) {
  std::vector<std::string> levels(x.levels.begin(), x.levels.end());
  a(x.largest, levels, x.has_numeric);
  x.levels = {levels.begin(), levels.end()};
}

/// Serialises a CheckedArray, for messages between processes.
template <class Archive>
void fields(Archive& a, CheckedArray& x) {
  a(x.moments, x.has_missing, x.has_barren, x.is_d_connected, x.d_connected);
}

/// Serialises a DataSurvey, for messages between processes that survey a range of items each.
template <class Archive>
void fields(Archive& a, DataSurvey& x) {
  a(x.begin, x.arrays, x.givens, x.observed, x.elements, x.longest, x.item_offsets, x.stride, x.digest, x.value_count);
}

}  // namespace lehr
