// One array in NumPy's NPY format (NEP 1, versions 1 to 3), from and to bytes.
#pragma once
#include <string>
#include <string_view>

#include "runtime/files/npz.h"

namespace lehr {

/// bool, signed and unsigned integers of 1 to 8 bytes, floats of 2, 4 and 8, either byte order, C or Fortran
/// order. Text, dates, objects and records are errors that name the dtype; so is a shape that the bytes
/// cannot hold, before anything is allocated.
Result<NamedArray> parse_npy(std::string_view bytes, const std::string& path);

/// Version 1.0, "<f8" or "<i8", C order. The product of the shape is the number of values.
std::string format_npy(const NamedArray& array);

/// The members of an NPZ archive by name, without `.npy`; anything else in the archive is passed over.
Result<std::vector<NamedArray>> parse_npz(std::string_view bytes, const std::string& path);

}  // namespace lehr
