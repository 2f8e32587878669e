// Parses Matrix Market files: sparse matrices as lists of entries, counted from 1, and dense ones column by column.
#include <fmt/format.h>

#include "runtime/files/line_tokenizer.h"
#include "runtime/files/readers.h"
#include "runtime/files/sparse.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// The properties in the first line of a file.
struct Banner {
  bool sparse = false, pattern = false;  // coordinate format; entries without values, each 1
  double mirrored = 0;  // factor of the entry on the other side of the diagonal: 1 symmetric, -1 skew-symmetric, 0 none
};

/// Converts ASCII letters to lower case.
std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Parses the first line.
Result<Banner> read_banner(LineTokenizer& in) {
  in.next_line();
  if (lower(in.next()) != "%%matrixmarket" || lower(in.next()) != "matrix")
    return in.fail("the first line is not that of a Matrix Market file",
                   {"before counts it is `%%MatrixMarket matrix coordinate integer general`"});
  Banner out;
  const std::string format = lower(in.next());
  out.sparse = format == "coordinate";
  if (!out.sparse && format != "array")
    return in.fail(fmt::format("'{}' matrices are not read", printable(format)), {"coordinate and array are"});
  const std::string field = lower(in.next());
  out.pattern = out.sparse && field == "pattern";
  if (field != "real" && field != "double" && field != "integer" && !out.pattern)
    return in.fail(fmt::format("'{}' entries are not read", printable(field)), {"real, integer and pattern are"});
  const std::string symmetry = lower(in.next());
  out.mirrored = symmetry == "symmetric" ? 1 : symmetry == "skew-symmetric" ? -1 : 0;
  if (symmetry != "general" && (out.mirrored == 0 || !out.sparse))
    return in.fail(fmt::format("'{}' matrices are not read here", printable(symmetry)),
                   {"general ones are, and of coordinates symmetric and skew-symmetric ones"});
  return out;
}

/// Parses the sizes and entries of a sparse matrix.
Result<SparseMatrix> read_entries(LineTokenizer& in, const Banner& banner, std::int64_t most_rows) {
  const std::optional<std::int64_t> rows = in.next_index(1, most_rows), columns = in.next_index(1, kLargestIndex),
                                    count = in.next_index(0, kLargestIndex);
  if (!rows || !columns || !count || !in.done())
    return in.fail("expected the line `ROWS COLUMNS ENTRIES`, three whole numbers that the file accounts for");
  if (banner.mirrored != 0 && *rows != *columns) return in.fail("a symmetric matrix has as many rows as columns");
  std::vector<SparseEntry> entries;
  std::optional<Error> not_counts_error;
  std::int64_t read = 0;
  for (; in.next_nonempty_line('%'); ++read) {
    const std::optional<std::int64_t> row = in.next_index(1, *rows);
    if (!row) return in.fail(fmt::format("expected a row, a whole number from 1 to {}", *rows));
    const std::optional<std::int64_t> column = in.next_index(1, *columns);
    if (!column) return in.fail(fmt::format("expected a column, a whole number from 1 to {}", *columns));
    const std::optional<double> value = banner.pattern ? std::optional<double>(1) : parse_number(in.next());
    if (!value) return in.fail("expected a number after row and column");
    if (!in.done()) return in.fail("there is more in this line than an entry");
    if (read == *count) return in.fail(fmt::format("the first line announces {} entries, and there are more", *count));
    if (!not_counts_error && !is_count(*value))
      not_counts_error = in.fail(fmt::format("{:.10g} is not a count", *value), {kNotCountsNote});
    entries.push_back({*row - 1, *column - 1, *value});
    if (banner.mirrored != 0 && *row != *column) entries.push_back({*column - 1, *row - 1, banner.mirrored * *value});
  }
  if (read != *count)
    return in.fail(fmt::format("the file ends after {} of the {} entries that it announces", read, *count));
  SparseMatrix out = by_rows(entries, *rows, *columns);
  out.not_counts_error = std::move(not_counts_error);
  return out;
}

/// Parses a dense matrix; with one column it becomes a vector.
Result<DataArray> read_array(LineTokenizer& in, const std::string& path) {
  const std::optional<std::int64_t> rows = in.next_index(1, kLargestIndex), columns = in.next_index(1, kLargestIndex);
  if (!rows || !columns || !in.done()) return in.fail("expected the line `ROWS COLUMNS`, two whole numbers");
  std::vector<double> by_columns;
  while (in.next_nonempty_line('%')) {
    const std::optional<double> value = parse_number(in.next());
    if (!value || !in.done()) return in.fail("expected a line with one number");
    by_columns.push_back(*value);
  }
  if (std::ssize(by_columns) != *rows * *columns)
    return in.fail(fmt::format("the file has {} of {} x {} numbers", by_columns.size(), *rows, *columns));
  DataArray out;
  out.source = path;
  out.shape = {*rows, *columns};
  if (*columns == 1) out.shape.pop_back();
  for (std::int64_t row = 0; row < *rows; ++row)
    for (std::int64_t column = 0; column < *columns; ++column)
      out.values.push_back(by_columns[static_cast<std::size_t>(column * *rows + row)]);
  set_flags(out);
  return out;
}

}  // namespace

Result<Dataset> parse_matrix_market(std::string_view bytes, const std::string& path, const std::string& name,
                                    const std::string& part) {
  if (bytes.empty()) return data_error(path, "the file is empty");
  LineTokenizer in(bytes, path);
  const Result<Banner> banner = read_banner(in);
  if (!banner) return banner.error();
  if (!in.next_nonempty_line('%')) return in.fail("the file ends after its first line");
  if (!banner->sparse) {
    if (!part.empty() && part != kDense) return missing_part_error(path, part);
    return as_named_dataset(read_array(in, path), path, name);
  }
  const auto most_rows = std::min(kLargestIndex, kMostRowsPerByte * static_cast<std::int64_t>(bytes.size()));
  const Result<SparseMatrix> matrix = read_entries(in, *banner, most_rows);
  if (!matrix) return matrix.error();
  return as_named_dataset(convert_as_requested(*matrix, path, part), path, name);
}

}  // namespace lehr
