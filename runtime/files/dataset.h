// Named arrays as read from the user's files, before they are matched with a model.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// One named array, row-major. Numbers of every file type arrive as double (integers up to 2^53 exact).
/// A ragged array has shape {rows, longest row}, `row_offsets` of size rows + 1, and `values` packed row
/// after row without padding. Missing entries (empty CSV field, NA, NaN, JSON null) are NaN.
struct DataArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  std::vector<std::int64_t> row_offsets;  // empty unless ragged
  std::vector<double> multiplicity;       // sparse counts: copies of each element of `values`; empty otherwise
  std::vector<std::string> levels;        // text column: values are positions in this sorted list
  std::vector<std::string> axis_labels;   // names of the last axis: CSV columns; of sparse counts, those of the values
  std::vector<std::string> row_labels;    // names of the first axis, where the file has them
  bool integral = false;                  // every present value is an integer
  bool has_missing = false;               // some value is NaN
  bool of_columns = false;                // sparse counts: values are columns of a matrix, which have no numbers
  bool by_name = false;                   // the binding says the name, not the file
  double largest = -1;                    // where it is a part: the largest of all values, if above those here
  std::string source;                     // for messages: "points.csv, column 'x'"
  std::vector<DataArray> again;  // of the same name in other files, as a column that tells whose lines these are

  bool ragged() const { return !row_offsets.empty(); }
};

/// What a line of a column says, in words.
std::string name_on_line(const DataArray& column, std::size_t line);

/// Text that is whole numbers from 0, without leading zeros, becomes these numbers.
void read_numbers(DataArray& column);

using Dataset = std::map<std::string, DataArray>;

/// Reads one `--data` binding, NAME=FILE:PART, in the forms of kDataFormats (readers.h):
///   arrays by name (columns, members of an archive, JSON as Stan's: scalars, nested arrays) ·
///   one array, under the name before the `=` (of one column: a vector) ·
///   columns as the last axis of one array: those listed, or all numeric ones.
/// Every type may be compressed (`.gz`). CSV columns without a name are passed over; text, in CSV or JSON, becomes
/// levels; an NPZ or JSON file of one array needs no `:member`, and an LDA-C file gives `multiplicity` with its array.
/// A missing file, a syntax error, an unknown column, text where a number is needed, ragged CSV rows or an
/// empty file are errors of ExitCode::data that name file, line and cure; a malformed binding is ExitCode::usage.
Result<Dataset> read_binding(const std::string& binding);

/// An error that names the sources of an array, and of another of its name.
Error given_twice(std::string where, const DataArray& first, const DataArray& then);

/// Reads all bindings; a name that two bindings give is an error that names both sources, but where both are files of
/// arrays by name: DataArray::again.
Result<Dataset> read_bindings(const std::vector<std::string>& bindings);

/// One label a line (`--labels term=vocab.txt`; blank lines at the end are dropped); also for plate sizes.
Result<std::vector<std::string>> read_labels(const std::string& path);

}  // namespace lehr
