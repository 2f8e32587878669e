// Sparse matrices from files (Matrix Market, SVMlight, AnnData), and their conversion to arrays of a model: as counts
// or as dense numbers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// Largest number of rows or columns, and largest count, that is read of a sparse matrix; larger ones would make plates
/// of absurd size.
inline constexpr std::int64_t kLargestIndex = 2147483647;

/// Most rows that a sparse matrix may claim for each byte of its file. Empty rows take no bytes, so a damaged number of
/// rows could otherwise exhaust memory.
inline constexpr std::int64_t kMostRowsPerByte = 256;

/// A sparse matrix from a file, by rows (CSR). The entries of row i are at positions row_offsets[i] .. row_offsets[i +
/// 1] - 1, in the order of the file.
struct SparseMatrix {
  std::int64_t columns = 0;  // number of columns that the matrix has
  /// True if the file has the number of columns; otherwise the last column with an entry is the last.
  bool has_column_count = true;
  std::vector<std::int64_t> row_offsets{0};            // first entry of each row, and the number of entries
  std::vector<std::int64_t> column;                    // column of each entry, from 0
  std::vector<double> values;                          // value of each entry
  std::vector<std::string> row_labels, column_labels;  // names of rows and columns; empty if the file has none
  /// The error of as_counts(), about the first entry that is not a count; nothing if all are.
  std::optional<Error> not_counts_error;

  /// Returns the number of rows of the matrix.
  std::int64_t rows() const { return static_cast<std::int64_t>(row_offsets.size()) - 1; }
};

/// One entry of a sparse matrix in a file that lists entries in any order; row and column count from 0.
struct SparseEntry {
  std::int64_t row, column;  // position, from 0
  double value;              // may be zero
};

/// Makes a sparse matrix by rows (CSR) of entries in any order. Entries of one row keep their order.
SparseMatrix by_rows(const std::vector<SparseEntry>& entries, std::int64_t rows, std::int64_t columns);

/// Returns true if the value can be a count of a sparse matrix: a whole number from 0 to kLargestIndex.
bool is_count(double value);

/// The note that advises `:dense` in errors about an entry that is not a count.
inline constexpr const char* kNotCountsNote =
    "sparse matrices hold counts; `:dense` after the file reads any numbers, with the zeros";

/// Converts a sparse matrix of counts to the ragged array that a model of documents reads: for each row the columns of
/// its nonzero entries, with the counts as multiplicity, as parse_ldac() gives. An error if an entry is not a count, or
/// if there are no rows.
Result<DataArray> as_counts(const SparseMatrix& matrix, const std::string& path);

/// Converts a matrix to a dense array of rows x columns, zeros included; repeated entries are added. An error if it
/// would exceed the memory. Messages name `path`, the file, as the origin of the array.
Result<DataArray> as_dense(const SparseMatrix& matrix, const std::string& path);

/// The part of a binding that asks for all numbers of a sparse matrix with its zeros: `x=file.mtx:dense`.
inline constexpr const char* kDense = "dense";

/// Converts a sparse matrix as the part of a binding asks: to counts if it is empty, to dense numbers for kDense; an
/// error otherwise.
Result<DataArray> convert_as_requested(const SparseMatrix& matrix, const std::string& path, const std::string& part);

/// Makes an error saying that a sparse matrix in the file `path` cannot be read as `part`; its note names kDense.
Error missing_part_error(const std::string& path, const std::string& part);

/// Returns a data set with this one array under `name`, the name of the binding. An error in `array` is passed on; an
/// empty name is an error.
Result<Dataset> as_named_dataset(Result<DataArray> array, const std::string& path, const std::string& name);

}  // namespace lehr
