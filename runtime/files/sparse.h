// Sparse matrices as files have them, on the way to arrays: counts, or all numbers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// Rows, columns and counts are no larger: others would make plates of absurd size.
inline constexpr std::int64_t kLargestIndex = 2147483647;

/// Rows without entries take no bytes of a file; more than this for each of its bytes are a damaged number.
inline constexpr std::int64_t kMostRowsPerByte = 256;

/// The entries of row i stand from row_offsets[i] to row_offsets[i + 1], in the order of the file.
struct SparseMatrix {
  std::int64_t columns = 0;
  bool columns_known = true;  // by the file; otherwise they go to the last that has an entry
  std::vector<std::int64_t> row_offsets{0};
  std::vector<std::int64_t> column;  // from 0
  std::vector<double> values;
  std::vector<std::string> row_labels, column_labels;  // empty where the file has none
  std::optional<Error> no_counts;                      // about the first entry that is no count

  std::int64_t rows() const { return static_cast<std::int64_t>(row_offsets.size()) - 1; }
};

/// One entry of a file that has them in any order.
struct SparseEntry {
  std::int64_t row, column;  // from 0
  double value;
};

/// Entries by rows; those of one row stay in their order.
SparseMatrix by_rows(const std::vector<SparseEntry>& entries, std::int64_t rows, std::int64_t columns);

/// A whole number from 0 to kLargestIndex.
bool is_count(double value);

/// Where an entry is no count: what to do about it.
inline constexpr const char* kNoCounts =
    "sparse matrices hold counts; `:dense` after the file reads any numbers, with the zeros";

/// A bag of columns a row, as of LDA-C: the ragged array of columns with the counts as multiplicity. Zeros that the
/// file has are left out. An error where an entry is no count, or there are no rows.
Result<DataArray> as_counts(const SparseMatrix& matrix, const std::string& path);

/// All numbers, zeros included. An error where they do not fit into memory.
Result<DataArray> as_dense(const SparseMatrix& matrix, const std::string& path);

/// The part that asks for all numbers.
inline constexpr const char* kDense = "dense";

/// What the part of a binding means: none, the counts; kDense, all numbers.
Result<DataArray> as_asked(const SparseMatrix& matrix, const std::string& path, const std::string& part);

/// The error of a part that there is not.
Error no_part(const std::string& path, const std::string& part);

/// One array under the name of its binding; an error where it has none.
Result<Dataset> under_name(Result<DataArray> array, const std::string& path, const std::string& name);

}  // namespace lehr
