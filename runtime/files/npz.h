// NPZ files as NumPy writes them: posterior.npz, --init, simulate.
#pragma once
#include <string>
#include <vector>

#include "runtime/array.h"
#include "runtime/result.h"

namespace lehr {

/// Reads every member (f4, f8, i1..i8, u1..u8, bool; C or Fortran order; stored or deflated) as double.
Result<std::vector<NamedArray>> read_npz(const std::string& path);

/// The bytes of an archive that numpy.load reads. Deflated.
Result<std::string> format_npz(const std::vector<NamedArray>& members);
/// Writes atomically (temporary file in the same directory, fsync, rename); as format_npz makes them.
Result<bool> write_npz(const std::string& path, const std::vector<NamedArray>& members);

}  // namespace lehr
