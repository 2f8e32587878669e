// NumPy's NPY format for one array (NEP 1, versions 1 to 3), and its NPZ archives, from and to bytes. Whatever a header
// claims is checked against the size of the file before memory is allocated.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/npz.h"

namespace lehr {

/// Parses an NPY file of numbers and returns its array as double, row-major.
///
/// It reads bool, integers of 1 to 8 bytes and floats of 2, 4 and 8, in either byte order, C or Fortran layout. `path`
/// is for messages. Text is an error, and so are other dtypes (the message names them), and a shape with more elements
/// than the file or the memory can hold. The array has no name; `integer` says whether its dtype was bool or an
/// integer.
Result<NamedArray> parse_npy(std::string_view bytes, const std::string& path);

/// Formats an array as an NPY file of version 1.0 in C order: dtype "<i8" for integers, otherwise "<f8".
std::string format_npy(const NamedArray& array);

/// Where the rows of an NPY file lie, so that some of them can be read alone. A row is an element along the first axis.
struct NpyRowLayout {
  std::uint64_t begin = 0, bytes = 0;  // offset of the first row in the file; size of each row
  std::string descr;                   // dtype of the numbers, as in the header ("<f8")
  std::vector<std::int64_t> shape;     // extents of the whole array

  /// Returns the NPY header for an excerpt with `rows` rows of this array; the bytes of the rows follow it.
  std::string header(std::int64_t rows) const;
};
/// Locates the rows of an NPY file of `size` bytes, given its first bytes with the whole header. It is an error if the
/// array is a scalar, or has several axes in Fortran order, so that the bytes of a row do not lie together. `path` is
/// for messages.
Result<NpyRowLayout> npy_row_layout(std::string_view begin, std::uint64_t size, const std::string& path);

/// Makes the error that an NPZ archive has two arrays of one name. It is refused because programs differ in which of
/// them they read.
Error duplicate_member_error(const std::string& path, const std::string& name);

/// Parses an NPZ archive of arrays of numbers, such as the posterior of a fit, and returns its arrays, named without
/// `.npy`. Other members of the archive are skipped.
Result<std::vector<NamedArray>> parse_npz(std::string_view bytes, const std::string& path);

}  // namespace lehr
