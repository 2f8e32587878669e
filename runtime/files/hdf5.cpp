// Reads HDF5 and AnnData files (HDF5 in a layout of its own) as arrays of a model. The HDF5 library runs in a plugin
// and in a child process; this file validates what it returns and converts it.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "runtime/child_process.h"
#include "runtime/files/hdf5_codec.h"
#include "runtime/files/npy.h"
#include "runtime/files/random_access_file.h"
#include "runtime/files/readers.h"
#include "runtime/files/rows.h"
#include "runtime/files/sparse.h"
#include "runtime/files/text.h"
#include "runtime/plugin.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// Loads the plugin once and returns its functions. They must run in a child process, because damaged files can crash
/// the library.
const Hdf5Codec& hdf5_codec() {
  static const auto* const loaded = static_cast<const Hdf5Codec*>(load_plugin("hdf5"));
  return *loaded;
}

using Arrays = std::map<std::string, Hdf5Array>;

/// Reads parts of a file in a child process.
Result<Arrays> read_arrays(std::string_view bytes, const std::string& path, const std::vector<std::string>& parts) {
  const Hdf5Codec& c = hdf5_codec();
  return in_child<Arrays>(path, [&] { return c.read(bytes, path, parts); });
}

/// Returns true if the numbers are whole, start at 0, never fall, and end at `last`.
bool are_offsets(const std::vector<double>& pointers, double last) {
  double before = 0;
  for (const double p : pointers) {
    if (!(p >= before && p <= last && p == std::trunc(p))) return false;  // NaN fails these comparisons
    before = p;
  }
  return !pointers.empty() && pointers.front() == 0 && pointers.back() == last;
}

/// Validates a sparse matrix from a file: pointers rise from 0 to the number of entries, and indices are inside the
/// shape.
std::optional<Error> fault_of(const CompressedMatrix& m, const std::string& where) {
  const auto wrong = [&](const char* text) { return data_error(where, text, {"the sparse matrix is damaged"}); };
  if (m.shape.size() != 2) return wrong("its attribute 'shape' is not two numbers");
  const auto [rows, columns] = std::pair(m.shape[0], m.shape[1]);
  if (!is_count(rows) || !is_count(columns)) return wrong("its shape is not two whole numbers");
  if (static_cast<double>(m.pointers.size()) != (m.by_columns ? columns : rows) + 1)
    return wrong("'indptr' has not one number more than there are rows");
  if (m.indices.size() != m.values.size() || !are_offsets(m.pointers, static_cast<double>(m.values.size())))
    return wrong("'indptr', 'indices' and 'data' do not belong together");
  // For a matrix by columns, the pointers do not limit the number of rows.
  if (rows > static_cast<double>(kMostRowsPerByte) * static_cast<double>(m.values.size() + m.pointers.size()))
    return wrong("its shape has more rows than its entries account for");
  const double most = m.by_columns ? rows : columns;
  if (!std::all_of(m.indices.begin(), m.indices.end(), [&](double i) { return is_count(i) && i < most; }))
    return wrong("an index is outside of the shape");
  return std::nullopt;
}

/// Returns true if the number of elements is the product of the shape.
bool is_filled(const std::vector<std::int64_t>& shape, std::size_t elements) {
  double count = 1;
  for (const std::int64_t n : shape)
    count *= static_cast<double>(n);
  return count == static_cast<double>(elements);
}

/// Converts a validated sparse matrix to rows, and records the first entry that is not a count.
SparseMatrix matrix_of(const CompressedMatrix& m, const std::string& where) {
  std::vector<SparseEntry> entries;
  for (std::size_t i = 0; i + 1 < m.pointers.size(); ++i)
    for (auto k = static_cast<std::size_t>(m.pointers[i]); k < static_cast<std::size_t>(m.pointers[i + 1]); ++k) {
      const auto outer = static_cast<std::int64_t>(i), inner = static_cast<std::int64_t>(m.indices[k]);
      entries.push_back({m.by_columns ? inner : outer, m.by_columns ? outer : inner, m.values[k]});
    }
  SparseMatrix out = by_rows(entries, static_cast<std::int64_t>(m.shape[0]), static_cast<std::int64_t>(m.shape[1]));
  const auto wrong =
      std::find_if(entries.begin(), entries.end(), [](const SparseEntry& e) { return !is_count(e.value); });
  if (wrong != entries.end())
    out.not_counts_error = data_error(
        where,
        fmt::format("the entry in row {}, column {} is {:.10g}, not a count", wrong->row, wrong->column, wrong->value),
        {kNotCountsNote});
  return out;
}

/// Converts an array of the file to data. `how` is "dense" or empty, for a sparse matrix.
Result<DataArray> data_of(Hdf5Array array, const std::string& where, const std::string& how) {
  if (array.sparse) {
    if (std::optional<Error> wrong = fault_of(*array.sparse, where)) return *wrong;
    return convert_as_requested(matrix_of(*array.sparse, where), where, how);
  }
  DataArray out;
  out.source = where;
  out.shape = std::move(array.shape);
  out.values = std::move(array.values);
  if (!is_filled(out.shape, std::max(out.values.size(), array.texts.size())))
    return data_error(where, "it has not as many elements as its shape");
  for (const std::optional<std::string>& text : array.texts)
    if (text && find_invalid_utf8(*text)) return data_error(where, fmt::format("'{}' is not UTF-8", printable(*text)));
  if (!array.texts.empty()) set_levels(out, array.texts);
  set_flags(out);
  return out;
}

/// Stores the row names of an AnnData table in `to`, if there are `count` of them and all are different.
Result<bool> add_names(std::string_view bytes, const std::string& path, const std::string& table, std::int64_t count,
                       std::vector<std::string>& to) {
  const Hdf5Codec& c = hdf5_codec();
  Result<std::vector<std::string>> names =
      in_child<std::vector<std::string>>(path, [&] { return c.index(bytes, path, table); });
  if (!names) return names.error();
  const std::unordered_set<std::string_view> different(names->begin(), names->end());
  if (std::ssize(*names) != count || different.size() != names->size()) return true;
  for (const std::string& name : *names)
    if (find_invalid_utf8(name))
      return data_error(path + ":" + table, fmt::format("'{}' is not UTF-8", printable(name)));
  to = std::move(*names);
  return true;
}

/// A parsed part PATH, PATH,dense or dense: which array, and how a sparse one is read.
struct Part {
  std::string path, how;
};

/// Parses a part; `otherwise` is the path if none is given.
Part split(const std::string& text, const std::string& otherwise) {
  const std::string with_comma = std::string(",") + kDense;
  if (text.empty() || text == kDense) return {otherwise, text};
  if (text.ends_with(with_comma)) return {text.substr(0, text.size() - with_comma.size()), kDense};
  return {text, ""};
}

/// Reads one part of a file as data.
Result<DataArray> read_part(std::string_view bytes, const std::string& path, const Part& part) {
  Result<Arrays> read = read_arrays(bytes, path, {part.path});
  if (!read) return read.error();
  return data_of(std::move(read->begin()->second), fmt::format("{}:{}", path, printable(part.path)), part.how);
}

/// The rows of an array in an HDF5 file. Each excerpt opens the file in a child process.
class RowsOfHdf5 : public RowFile {
 public:
  RowsOfHdf5(RandomAccessFile file, std::string path, std::string part, std::vector<std::int64_t> shape)
      : file_(std::move(file)), path_(std::move(path)), part_(std::move(part)), shape_(std::move(shape)) {}

  std::int64_t rows() const override { return shape_[0]; }
  std::int64_t skipped_lines(std::int64_t) const override { return 0; }
  Result<std::string> excerpt(std::span<const RowRange> runs) const override {
    const Hdf5Codec& c = hdf5_codec();
    Result<std::vector<double>> values = in_child<std::vector<double>>(path_, [&] { return read(c, runs); });
    if (!values) return values.error();
    if (std::optional<Error> e = file_.changed()) return *e;
    NamedArray part{"", shape_, std::move(*values)};
    part.shape[0] = count_rows(runs);
    return format_npy(part);
  }

 private:
  /// Reads the rows; runs in the child.
  Result<std::vector<double>> read(const Hdf5Codec& c, std::span<const RowRange> runs) const {
    const Result<std::shared_ptr<const Hdf5Rows>> from = c.rows(path_, part_);
    if (!from) return from.error();
    std::vector<double> out;
    for (const RowRange& run : runs)
      if (std::optional<Error> e = (*from)->read(run.begin, run.end, out)) return *e;
    return out;
  }

  RandomAccessFile file_;
  std::string path_, part_;
  std::vector<std::int64_t> shape_;
};

}  // namespace

Result<std::unique_ptr<RowFile>> open_hdf5(const std::string& path, const std::string& part) {
  Result<RandomAccessFile> file = RandomAccessFile::open(path);
  if (!file) return file.error();
  const Hdf5Codec& c = hdf5_codec();
  using Shape = std::vector<std::int64_t>;
  Result<Shape> shape = in_child<Shape>(path, [&]() -> Result<Shape> {
    const Result<std::shared_ptr<const Hdf5Rows>> rows = c.rows(path, part);
    if (!rows) return rows.error();
    return (*rows)->shape();
  });
  if (!shape) return shape.error();
  return std::unique_ptr<RowFile>(std::make_unique<RowsOfHdf5>(std::move(*file), path, part, std::move(*shape)));
}

Result<Dataset> parse_hdf5(std::string_view bytes, const std::string& path, const std::string& name,
                           const std::string& part) {
  if (!part.empty()) {
    const Part one = split(part, "");
    const std::string last = one.path.substr(one.path.rfind('/') + 1);
    return as_named_dataset(read_part(bytes, path, one), path, name.empty() ? last : name);
  }
  Result<Arrays> read = read_arrays(bytes, path, {});
  if (!read) return read.error();
  if (read->empty())
    return data_error(path, "the file has no arrays outside of groups", {"name one: `x=file.h5:group/array`"});
  if (!name.empty() && read->size() > 1)
    return data_error(path, fmt::format("the file holds {} arrays", read->size()), {"take one with `x=file.h5:array`"});
  Dataset out;
  for (auto& [key, array] : *read) {
    Result<DataArray> data = data_of(std::move(array), fmt::format("{}:{}", path, printable(key)), "");
    if (!data) return data.error();
    data->name = name.empty() ? key : name;
    out[data->name] = std::move(*data);
  }
  return out;
}

Result<Dataset> parse_h5ad(std::string_view bytes, const std::string& path, const std::string& name,
                           const std::string& part) {
  const Part one = split(part, "X");
  Result<DataArray> array = read_part(bytes, path, one);
  if (!array || array->shape.empty()) return as_named_dataset(std::move(array), path, name);
  const bool of_both = one.path == "X" || one.path.starts_with("layers/");
  if (of_both || one.path.starts_with("obs")) {
    if (Result<bool> r = add_names(bytes, path, "obs", array->shape.front(), array->row_labels); !r) return r.error();
  }
  if (of_both && array->shape.size() == 2) {
    const auto columns = array->ragged() ? static_cast<std::int64_t>(array->largest) + 1 : array->shape.back();
    if (Result<bool> r = add_names(bytes, path, "var", columns, array->axis_labels); !r) return r.error();
  }
  return as_named_dataset(std::move(array), path, name);
}

}  // namespace lehr
