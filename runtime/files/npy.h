// One array in NumPy's NPY format (NEP 1, versions 1 to 3), from and to bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/npz.h"

namespace lehr {

/// bool, signed and unsigned integers of 1 to 8 bytes, floats of 2, 4 and 8, either byte order, C or Fortran
/// order. Text, dates, objects and records are errors that name the dtype; so is a shape that the bytes
/// cannot hold, before anything is allocated.
Result<NamedArray> parse_npy(std::string_view bytes, const std::string& path);

/// Version 1.0, "<f8" or "<i8", C order. The product of the shape is the number of values.
std::string format_npy(const NamedArray& array);

/// Where the rows of a file are: its elements along the first axis.
struct NpyRows {
  std::uint64_t begin = 0, bytes = 0;  // of the first one, and of each
  std::string descr;
  std::vector<std::int64_t> shape;

  /// What stands before so many rows in a file of their own.
  std::string header(std::int64_t rows) const;
};
/// From the first bytes of a file of `size` bytes. Fortran order is an error.
Result<NpyRows> npy_rows(std::string_view begin, std::uint64_t size, const std::string& path);

/// The error of an archive with two arrays of one name: others take the first, or the last.
Error two_members(const std::string& path, const std::string& name);

/// The members of an NPZ archive by name, without `.npy`; anything else in the archive is passed over.
Result<std::vector<NamedArray>> parse_npz(std::string_view bytes, const std::string& path);

}  // namespace lehr
