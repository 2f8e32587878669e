// The interface of the shared library that needs MPI (lehr-mpi). It is loaded at run time, so that all else works
// without MPI.
#pragma once
#include <memory>

#include "runtime/parallel/group.h"

namespace lehr {

/// The functions that the shared library with MPI (lehr-mpi) exports; load_plugin("mpi") returns their address.
struct Mpi {
  /// Initialises MPI and returns the group of all processes that the launcher has started. Throws std::runtime_error if
  /// MPI does not start.
  std::unique_ptr<Group> (*join)();
};

}  // namespace lehr
