// Named arrays as read from the user's files, before they are matched with the variables of a model. Every reader of a
// format produces these; compiler/binding/bind.h consumes them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// One named array of data, row-major.
///
/// Numbers of every type of file are stored as double; integers are exact up to 2^53. Missing entries (an empty CSV
/// field, NA, NaN, JSON's null) are NaN. In a ragged array the rows have different lengths: `shape` is {rows, longest
/// row}, and `values` has the rows end to end without padding.
struct DataArray {
  std::string name;  // name of the variable or plate that it is for; empty if neither file nor binding has one
  std::vector<std::int64_t> shape;  // extent of each axis; empty for a scalar
  std::vector<double> values;       // elements, row-major; of a text array, positions in `levels`
  /// Ragged: row i is values[row_offsets[i]] .. values[row_offsets[i + 1] - 1]; otherwise empty.
  std::vector<std::int64_t> row_offsets;
  std::vector<double> multiplicity;  // sparse counts: copies of each element of `values`; otherwise empty
  std::vector<std::string> levels;   // text array: its distinct strings, sorted; otherwise empty
  /// Names along the last axis (CSV columns); of sparse counts, names of the column numbers in `values`. A single CSV
  /// column of numbers that is bound to a name has its own name here, although its shape has no axis of columns.
  std::vector<std::string> axis_labels;
  std::vector<std::string> row_labels;  // names along the first axis, if the file has them
  bool integral = false;                // true if every value that is present is a whole number
  bool has_missing = false;             // true if some value is NaN
  /// True for counts of a sparse matrix: `values` are column numbers from 0, even if the plate whose elements they name
  /// counts from another number.
  bool of_columns = false;
  bool named_by_binding = false;  // true if the name is from the binding (`x=file`), false if from the file
  /// Largest value that the array can have, where `values` does not show it: in an excerpt of a file, or the last
  /// column of a sparse matrix. -1: the values show it.
  double largest = -1;
  std::string source;  // origin, for messages: "points.csv, column 'x'"
  /// Further arrays of this name from other files, such as a key column that several tables have.
  std::vector<DataArray> duplicates;

  /// Returns true if the rows have different lengths, stored end to end.
  bool ragged() const { return !row_offsets.empty(); }
};

/// Returns the entry of a key column on a line (from 0) as text, by which an element is named: its level, or its number
/// with ten significant digits. The entry must not be missing.
std::string entry_text(const DataArray& column, std::size_t line);

/// Converts a key column of text to numbers if all its levels are whole numbers from 0, written without leading zeros
/// or signs, so that they count elements and do not name them. Other columns stay as they are.
void parse_numeric_levels(DataArray& column);

/// A set of named arrays, as read from files: each DataArray by its name.
using Dataset = std::map<std::string, DataArray>;

/// Reads one `--data` binding, NAME=FILE:PART, and returns its arrays. kDataFormats (readers.h) lists the forms.
///
/// * Without NAME, the arrays of the file by their own names (columns, members of an archive, entries of JSON): those
///   in PART, or all. A file with one array that has no name is an error.
/// * With NAME, one array of that name. PART selects it if the file has several. Of a table, several columns become
///   its last axis: those in PART, or all numeric ones; a single column becomes a vector.
///
/// Every type of file may be compressed (`.gz`). CSV columns without a name are skipped; text becomes levels. An LDA-C
/// file gives its counts in DataArray::multiplicity. A file that is missing, malformed or empty is an error of
/// ExitCode::data with file, line and remedy. A malformed binding is one of ExitCode::usage.
Result<Dataset> read_binding(const std::string& binding);

/// Makes an error (ExitCode::data) saying that an array is given twice: by the source of `first` and by that of `then`.
/// `where` is what the message is about, such as the binding.
Error duplicate_name_error(std::string where, const DataArray& first, const DataArray& then);

/// Reads all bindings and returns their arrays together. Two arrays of one name are an error if a binding names one of
/// them; if both names are from files, the second joins DataArray::duplicates of the first.
Result<Dataset> read_bindings(const std::vector<std::string>& bindings);

/// Reads the labels of a plate's elements from a file with one label a line (`--labels term=vocab.txt`), which may be
/// compressed (`.gz`). Blank lines at the end are dropped; labels must differ.
Result<std::vector<std::string>> read_labels(const std::string& path);

}  // namespace lehr
