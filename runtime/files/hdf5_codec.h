// What needs the library of HDF5, as a table that a shared library of its own exports: it is loaded when a file is
// read.
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

/// A sparse matrix as it is stored: compressed rows, or columns; not looked at yet.
struct CompressedMatrix {
  bool by_columns = false;
  std::vector<double> shape, pointers, indices, values;
};

/// A dataset of numbers or text, a sparse matrix, or a column of a table of AnnData.
struct Hdf5Array {
  std::vector<std::int64_t> shape;
  std::vector<double> values;                     // missing: NaN
  std::vector<std::optional<std::string>> texts;  // of text, instead
  std::optional<CompressedMatrix> sparse;         // instead of all three
};

template <class Archive>
void fields(Archive& a, CompressedMatrix& m) {
  a(m.by_columns, m.shape, m.pointers, m.indices, m.values);
}
template <class Archive>
void fields(Archive& a, Hdf5Array& x) {
  a(x.shape, x.values, x.texts, x.sparse);
}

/// An array of numbers in a file that stays open.
class Hdf5Rows {
 public:
  virtual ~Hdf5Rows() = default;
  virtual const std::vector<std::int64_t>& shape() const = 0;
  /// Elements along the first axis, appended.
  virtual std::optional<Error> read(std::int64_t begin, std::int64_t end, std::vector<double>& to) const = 0;
};

struct Hdf5Codec {
  /// The parts by their paths in the file; those of none of them: all arrays outside of groups. ExitCode::data where a
  /// part is not there, or cannot be read.
  Result<std::map<std::string, Hdf5Array>> (*read)(std::string_view bytes, const std::string& path,
                                                   const std::vector<std::string>& parts);
  /// The names of the rows of a table of AnnData (`obs`, `var`); empty where there is no such table.
  Result<std::vector<std::string>> (*index)(std::string_view bytes, const std::string& path, const std::string& table);
  /// A part of a file that is not read as a whole. ExitCode::data where that is no array of numbers.
  Result<std::shared_ptr<const Hdf5Rows>> (*rows)(const std::string& path, const std::string& part);
};

}  // namespace lehr

extern "C" const lehr::Hdf5Codec lehr_plugin;
