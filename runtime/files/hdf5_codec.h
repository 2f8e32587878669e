// The interface between Lehr and its plugin for HDF5: a table of functions that a shared library exports as
// `lehr_plugin`. The plugin alone links the HDF5 library; it is loaded when such a file is read (runtime/plugin.h).
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// A sparse matrix in compressed rows (CSR) or columns (CSC), as stored in the file and not yet validated. Row i has
/// the column numbers `indices` and the `values` from pointers[i] to pointers[i + 1] - 1.
struct CompressedMatrix {
  bool by_columns = false;  // true for CSC: pointers are those of columns, and indices are rows
  std::vector<double> shape, pointers, indices, values;  // `shape`: {rows, columns}; all arrays are doubles, as read
};

/// An array as the HDF5 plugin returns it: a dataset of numbers or text, a sparse matrix, or a column of an AnnData
/// table. One of `values`, `texts` and `sparse` is set.
struct Hdf5Array {
  std::vector<std::int64_t> shape;  // extents of a dense array
  std::vector<double> values;       // numbers, row-major, NaN if missing; empty for text and sparse matrices
  /// Strings, row-major, nothing if missing; empty unless the array is text.
  std::vector<std::optional<std::string>> texts;
  std::optional<CompressedMatrix> sparse;  // a sparse matrix, which has its own shape
};

/// Serialises a CompressedMatrix (bytes.h), for the pipe of a child process.
template <class Archive>
void fields(Archive& a, CompressedMatrix& m) {
  a(m.by_columns, m.shape, m.pointers, m.indices, m.values);
}
/// Serialises an Hdf5Array (bytes.h), for the pipe of a child process.
template <class Archive>
void fields(Archive& a, Hdf5Array& x) {
  a(x.shape, x.values, x.texts, x.sparse);
}

/// An open array of numbers whose rows (elements along the first axis) are read on demand.
class Hdf5Rows {
 public:
  /// Closes the HDF5 file.
  virtual ~Hdf5Rows() = default;
  /// Returns the extents of the array; there is at least one axis.
  virtual const std::vector<std::int64_t>& shape() const = 0;
  /// Reads rows begin .. end - 1 of the array and appends their numbers to `to`, row-major. Returns an error, or
  /// nothing.
  virtual std::optional<Error> read(std::int64_t begin, std::int64_t end, std::vector<double>& to) const = 0;
};

/// The functions of the plugin for HDF5 files. A damaged file can crash the HDF5 library, so callers run them in a
/// child process.
struct Hdf5Codec {
  /// Reads the arrays at the paths `parts` inside a file, given as its bytes; with no parts, all arrays outside of
  /// groups. Returns them by path. Errors are of ExitCode::data: a part is missing or cannot be read.
  Result<std::map<std::string, Hdf5Array>> (*read)(std::string_view bytes, const std::string& path,
                                                   const std::vector<std::string>& parts);
  /// Returns the row names of an AnnData table (`obs`, `var`); an empty list if the file has no such table.
  Result<std::vector<std::string>> (*index)(std::string_view bytes, const std::string& path, const std::string& table);
  /// Opens one array of the file for reading in pieces. An error of ExitCode::data if the part is not an array of
  /// numbers.
  Result<std::shared_ptr<const Hdf5Rows>> (*rows)(const std::string& path, const std::string& part);
};

}  // namespace lehr
