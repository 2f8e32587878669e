// Conversion of sparse matrices, by counting sort of their entries.
#include "runtime/files/sparse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "runtime/files/text.h"
#include "runtime/host.h"
#include "runtime/terminal/printable.h"

namespace lehr {

SparseMatrix by_rows(const std::vector<SparseEntry>& entries, std::int64_t rows, std::int64_t columns) {
  SparseMatrix out;
  out.columns = columns;
  out.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const SparseEntry& e : entries)
    ++out.row_offsets[static_cast<std::size_t>(e.row) + 1];
  std::partial_sum(out.row_offsets.begin(), out.row_offsets.end(), out.row_offsets.begin());
  std::vector<std::int64_t> next(out.row_offsets.begin(), out.row_offsets.end() - 1);
  out.column.resize(entries.size());
  out.values.resize(entries.size());
  for (const SparseEntry& e : entries) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(e.row)]++);
    out.column[at] = e.column;
    out.values[at] = e.value;
  }
  return out;
}

bool is_count(double value) {
  return value >= 0 && value <= static_cast<double>(kLargestIndex) && value == std::trunc(value);
}

Result<DataArray> as_counts(const SparseMatrix& matrix, const std::string& path) {
  if (matrix.not_counts_error) return *matrix.not_counts_error;
  if (matrix.rows() == 0) return data_error(path, "the matrix has no rows");
  DataArray out;
  out.source = path;
  out.row_offsets.push_back(0);
  std::int64_t longest = 0;
  for (std::size_t row = 1; row < matrix.row_offsets.size(); ++row) {
    const auto end = static_cast<std::size_t>(matrix.row_offsets[row]);
    for (auto k = static_cast<std::size_t>(matrix.row_offsets[row - 1]); k < end; ++k) {
      if (matrix.values[k] == 0) continue;
      out.values.push_back(static_cast<double>(matrix.column[k]));
      out.multiplicity.push_back(matrix.values[k]);
    }
    out.row_offsets.push_back(static_cast<std::int64_t>(out.values.size()));
    longest = std::max(longest, out.row_offsets[row] - out.row_offsets[row - 1]);
  }
  out.shape = {matrix.rows(), longest};
  out.of_columns = true;
  if (matrix.has_column_count) out.largest = static_cast<double>(matrix.columns - 1);
  out.row_labels = matrix.row_labels;
  out.axis_labels = matrix.column_labels;
  set_flags(out);
  return out;
}

Result<DataArray> as_dense(const SparseMatrix& matrix, const std::string& path) {
  const double needed = 8 * static_cast<double>(matrix.rows()) * static_cast<double>(matrix.columns);
  const auto memory = static_cast<double>(available_memory());
  if (needed > memory)
    return data_error(path, fmt::format("{} x {} numbers need {}, more than the memory of {}", matrix.rows(),
                                        matrix.columns, format_bytes(needed), format_bytes(memory)));
  DataArray out;
  out.source = path;
  out.shape = {matrix.rows(), matrix.columns};
  out.values.assign(static_cast<std::size_t>(matrix.rows() * matrix.columns), 0);
  for (std::size_t row = 1; row < matrix.row_offsets.size(); ++row) {
    double* const row_values = out.values.data() + static_cast<std::int64_t>(row - 1) * matrix.columns;
    const auto end = static_cast<std::size_t>(matrix.row_offsets[row]);
    for (auto k = static_cast<std::size_t>(matrix.row_offsets[row - 1]); k < end; ++k)
      row_values[matrix.column[k]] += matrix.values[k];
  }
  out.row_labels = matrix.row_labels;
  out.axis_labels = matrix.column_labels;
  set_flags(out);
  return out;
}

Result<DataArray> convert_as_requested(const SparseMatrix& matrix, const std::string& path, const std::string& part) {
  if (part.empty()) return as_counts(matrix, path);
  if (part == kDense) return as_dense(matrix, path);
  return missing_part_error(path, part);
}

Error missing_part_error(const std::string& path, const std::string& part) {
  return data_error(path, fmt::format("there is no part '{}'", printable(part)),
                    {"after the `:` stands `dense`, for all numbers with the zeros"});
}

Result<Dataset> as_named_dataset(Result<DataArray> array, const std::string& path, const std::string& name) {
  if (!array) return array.error();
  if (name.empty()) return data_error(path, "the array needs a name", {"name it: `x=" + path + "`"});
  array->name = name;
  return Dataset{{name, std::move(*array)}};
}

}  // namespace lehr
