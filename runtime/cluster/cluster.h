// Fits on several machines: the processes that an MPI launcher (mpirun, srun) has started form a group.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "runtime/parallel/group.h"

namespace lehr {

/// An MPI launcher that started this process among others, as its environment variables say.
struct Launch {
  std::string variable;  // the environment variable that gives the number of processes
  long processes = 1;    // how many processes the launcher started, this one included
};
/// Detects by environment variables whether a launcher (Open MPI, those that use PMI, MVAPICH2, Slurm) started this
/// process. Returns none if there is none, or if it started one process only.
std::optional<Launch> detect_launcher();

/// Loads MPI and returns the group of the launcher's processes, which fit together; keep it until the end of the
/// program. Throws std::runtime_error if this installation has no MPI, or if its MPI is not that of the launcher.
std::unique_ptr<Group> join_cluster();

/// Silences the processes of a group other than the first, since all of them would print the same. Their standard
/// output is discarded and their standard error is collected.
class OutputSilencer {
 public:
  /// Redirects the outputs of this process unless it is the first. Throws std::runtime_error if there are too many open
  /// files.
  explicit OutputSilencer(const Group& group);
  /// Prints the standard error that was collected, for a process that fails while the first one does not. Does nothing
  /// in the first process.
  void print_collected() const;

 private:
  std::size_t rank_;    // number of this process in the group
  int collected_ = -1,  // descriptor of the file that collects standard error; -1: the first process
      error_ = -1;      // descriptor of the original standard error
};

}  // namespace lehr
