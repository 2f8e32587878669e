// Parses SVMlight and LIBSVM files: a line a row, `LABEL column:value column:value ... # comment`.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/files/line_tokenizer.h"
#include "runtime/files/readers.h"
#include "runtime/files/sparse.h"

namespace lehr {
namespace {

constexpr std::string_view kLine = "a line is `LABEL column:value column:value ...`, the label a number";

/// A matrix and the label of each of its rows.
struct LabelledMatrix {
  SparseMatrix matrix;
  std::vector<double> labels;
};

/// Parses one `column:value` and appends it to the last row.
std::optional<Error> read_pair(const LineTokenizer& in, std::string_view word, SparseMatrix& out) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::string_view after = word.substr(std::min(colon + 1, word.size()));
  if (word.substr(0, colon) == "qid") return std::nullopt;  // ranking data: the group of a query, which is ignored
  const std::optional<std::int64_t> column = LineTokenizer::index(word.substr(0, colon), 0, kLargestIndex);
  const std::optional<double> value = parse_number(after);
  if (!column || !value) return in.fail("expected `column:value`", {std::string(kLine)});
  if (!out.not_counts_error && !is_count(*value))
    out.not_counts_error = in.fail(fmt::format("{:.10g} is not a count", *value), {kNotCountsNote});
  out.column.push_back(*column);
  out.values.push_back(*value);
  return std::nullopt;
}

/// Parses all lines.
Result<LabelledMatrix> read_lines(std::string_view bytes, const std::string& path) {
  LineTokenizer in(bytes, path);
  LabelledMatrix out;
  out.matrix.has_column_count = false;
  while (in.next_nonempty_line('#')) {
    const std::optional<double> label = parse_number(in.next());
    if (!label) return in.fail("expected the label of the row", {std::string(kLine)});
    out.labels.push_back(*label);
    while (!in.done())
      if (std::optional<Error> wrong = read_pair(in, in.next(), out.matrix)) return *wrong;
    out.matrix.row_offsets.push_back(static_cast<std::int64_t>(out.matrix.column.size()));
  }
  if (out.labels.empty()) return data_error(path, "the file is empty", {std::string(kLine)});
  // Columns count from 1, as SVMlight counts, unless some line has a column 0, as scikit-learn writes.
  std::vector<std::int64_t>& column = out.matrix.column;
  if (column.empty()) return out;
  const auto [least, most] = std::minmax_element(column.begin(), column.end());
  const std::int64_t first = *least == 0 ? 0 : 1;
  out.matrix.columns = *most + 1 - first;
  for (std::int64_t& c : column)
    c -= first;
  return out;
}

}  // namespace

Result<Dataset> parse_svmlight(std::string_view bytes, const std::string& path, const std::string& name,
                               const std::string& part) {
  Result<LabelledMatrix> parsed = read_lines(bytes, path);
  if (!parsed) return parsed.error();
  if (!part.empty() && part != kDense && part != "label") {
    Error e = missing_part_error(path, part);
    e.notes.emplace_back("or `label`, for the labels of the rows");
    return e;
  }
  if (part != "label") return as_named_dataset(convert_as_requested(parsed->matrix, path, part), path, name);
  DataArray labels;
  labels.source = path + ", the labels";
  labels.shape = {std::ssize(parsed->labels)};
  labels.values = std::move(parsed->labels);
  set_flags(labels);
  return as_named_dataset(std::move(labels), path, name);
}

}  // namespace lehr
