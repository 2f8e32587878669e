// NPZ archives as NumPy writes them; posteriors, start values (`--init`) and simulated data are stored so.
#pragma once
#include <string>
#include <vector>

#include "runtime/array.h"
#include "runtime/result.h"

namespace lehr {

/// Reads all arrays of an NPZ file as double, such as start values or a saved posterior. Members may be bool, integers
/// or floats, in C or Fortran order, stored or deflated; text is an error.
Result<std::vector<NamedArray>> read_npz(const std::string& path);

/// Returns the bytes of an NPZ archive of these arrays, which numpy.load reads; members that shrink are deflated. A
/// member whose number of values contradicts its shape is an error of ExitCode::internal.
Result<std::string> format_npz(const std::vector<NamedArray>& members);
/// Writes the arrays to `path` as an NPZ archive, atomically. The value is always true.
Result<bool> write_npz(const std::string& path, const std::vector<NamedArray>& members);

}  // namespace lehr
