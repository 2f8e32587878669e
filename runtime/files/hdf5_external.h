// Detects references from an HDF5 file to other files (external storage, virtual datasets, external links). Such files
// are refused: their author chooses the path, so reading it could disclose any file of the reader, or block on a pipe.
#pragma once
#include <hdf5.h>

namespace lehr {

/// Returns true if a dataset of an HDF5 file stores its numbers in other files, or if that cannot be determined; such a
/// dataset is refused. Its numbers are not read.
bool is_external(hid_t dataset);

/// Returns true if any dataset or link of an HDF5 file leads to another file, so that a NetCDF-4 file can be refused
/// before its library opens it. The file is given as `count` bytes in memory; bytes that are not HDF5 give false.
bool has_external_references(const void* bytes, size_t count);

}  // namespace lehr
