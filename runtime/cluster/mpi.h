// What needs a library of MPI, as a table that a shared library of its own exports.
#pragma once
#include <memory>

#include "runtime/methods/group.h"

namespace lehr {

struct Mpi {
  /// All processes that the launcher has started. Throws std::runtime_error.
  std::unique_ptr<Group> (*join)();
};

}  // namespace lehr

extern "C" const lehr::Mpi lehr_plugin;
