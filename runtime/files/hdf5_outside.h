// What a file of HDF5 leaves to other files. Whoever wrote it says which, so that reading them would give away any file
// of the reader's, or wait for a pipe.
#pragma once
#include <hdf5.h>

namespace lehr {

/// Whether the numbers of a dataset are in other files; it is not read, nor are its extents asked for.
bool is_outside(hid_t dataset);

/// Whether any dataset of a file, or any of its links, leads to another file. False where the bytes are no file of
/// HDF5.
bool leads_outside(const void* bytes, size_t count);

}  // namespace lehr
