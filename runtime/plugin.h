// Loads parts of Lehr on demand, as shared libraries (dlopen). Such parts depend on large libraries (LLVM, HDF5,
// NetCDF, MPI), whose loading would take longer than most commands run.
#pragma once
#include <stdexcept>
#include <string>

namespace lehr {

/// The exception for a plugin (a part of Lehr in a shared library) that is missing or cannot be loaded. Its text has
/// the reason for every path that was tried.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Loads a part of Lehr that only some commands need ("generator", "hdf5", "netcdf", "mpi") from its shared library
/// liblehr-NAME-VERSION.so. Returns the address of the symbol `lehr_plugin` that it exports, its table of functions.
///
/// The header of the part declares the type of that table. The library is searched for beside this code, in the library
/// folder of the installation, and on the path of the dynamic linker. It stays loaded. Throws PluginError if no library
/// is found that can be loaded and has the symbol.
const void* load_plugin(const std::string& name);

}  // namespace lehr
