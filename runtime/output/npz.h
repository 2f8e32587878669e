// NPY and NPZ files as NumPy writes them: posterior.npz, --init, simulate.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// A member of an NPZ archive: little-endian float64 ("<f8") or int64 ("<i8"), C order.
struct NpyArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool integer = false;  // write as <i8
};

/// Reads every member (f4, f8, i1..i8, u1..u8, bool; C or Fortran order; stored or deflated) as double.
Result<std::vector<NpyArray>> read_npz(const std::string& path);
Result<NpyArray> read_npy(const std::string& path);

/// The bytes of an archive that numpy.load reads. Deflated.
Result<std::string> format_npz(const std::vector<NpyArray>& members);
/// Writes atomically (temporary file in the same directory, fsync, rename); as format_npz makes them.
Result<bool> write_npz(const std::string& path, const std::vector<NpyArray>& members);

}  // namespace lehr
